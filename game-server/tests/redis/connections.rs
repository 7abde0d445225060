//! TLS, passwords, Sentinel, and servers that are not there.

use std::time::Duration;

use game_server::{GameLog, LogError, RedisConfig, RedisLog};
use rcgen::{CertifiedKey, generate_simple_self_signed};

use crate::kit::{append_surely, assert_journal, batch, code, connected, create, log, wait_connected};
use crate::server::{Keep, RedisServer};

#[tokio::test]
async fn a_redis_that_is_away_at_first_is_found_when_it_comes() {
    let mut redis = RedisServer::start(Keep::Nothing).await;
    redis.kill().await;
    let log = RedisLog::new(RedisConfig::parse(&redis.url()).unwrap());
    let refused = log.tail(code(0)).await;
    assert!(matches!(refused, Err(LogError::NotDone(_))), "{refused:?}");
    redis.restart().await;
    wait_connected(&log).await;
    create(&log, code(0)).await;
}

#[tokio::test]
async fn passwords_are_given() {
    let redis =
        RedisServer::start_with(Keep::Nothing, |_| vec!["--requirepass".into(), "secret".into()]).await;
    let url = format!("redis://:secret@127.0.0.1:{}/3", redis.port());
    let log = log(&url).await;
    create(&log, code(0)).await;
    assert_eq!(log.games().await.unwrap().len(), 1);
}

#[tokio::test]
async fn tls_trusts_the_certificate_given_and_no_other() {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (cert.pem(), signing_key.serialize_pem());
    let redis = RedisServer::start_with(Keep::Nothing, |folder| {
        let [cert_path, key_path] = [folder.join("cert.pem"), folder.join("key.pem")];
        std::fs::write(&cert_path, &cert).unwrap();
        std::fs::write(&key_path, key).unwrap();
        let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
        vec![
            "--tls-cert-file".into(),
            path(&cert_path),
            "--tls-key-file".into(),
            path(&key_path),
            "--tls-ca-cert-file".into(),
            path(&cert_path),
            "--tls-auth-clients".into(),
            "no".into(),
        ]
    })
    .await;
    // The plain port stays for the test; the other one is opened now, where a free one can be asked for.
    let port = crate::server::free_port().await.to_string();
    assert_eq!(redis.ask(&["CONFIG", "SET", "tls-port", &port]).await, "OK");
    let config = RedisConfig::parse(&format!("rediss://localhost:{port}")).unwrap();
    let trusting = config.clone().trusting(cert.as_bytes()).unwrap();
    let log = connected(trusting).await;
    let claim = create(&log, code(0)).await;
    append_surely(&log, code(0), claim, batch(1, 3)).await;
    assert_journal(&log, code(0), 1, 3).await;

    let doubtful = RedisLog::new(config);
    let mut store = doubtful.store();
    let connected = tokio::time::timeout(Duration::from_millis(500), store.changed()).await;
    assert!(
        connected.is_err(),
        "a certificate that nobody vouches for was taken"
    );
}

#[tokio::test]
async fn after_a_failover_the_new_primary_is_asked() {
    let mut old = RedisServer::start(Keep::Nothing).await;
    let new = RedisServer::start(Keep::Nothing).await;
    new.ask(&["REPLICAOF", "127.0.0.1", &old.port().to_string()])
        .await;
    // A sentinel that finds the replica at its first look need not wait 10 s for the next.
    while !new
        .ask(&["INFO", "replication"])
        .await
        .contains("master_link_status:up")
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let old_port = old.port().to_string();
    let sentinel = RedisServer::start_sentinel(&old_port).await;
    let url = format!(
        "redis-sentinel://127.0.0.1:{}?sentinelServiceName=live",
        sentinel.port()
    );
    let log = log(&url).await;
    let before = log.store().borrow().clone();
    let claim = create(&log, code(0)).await;
    append_surely(&log, code(0), claim, batch(1, 3)).await;
    // What the replica does not have yet would be lost; that is another test's.
    let owner = format!("o:{{{}}}", code(0));
    while new.ask(&["HGET", &owner, "n"]).await != "3" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    while sentinel.ask(&["SENTINEL", "REPLICAS", "live"]).await != "*1" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    old.kill().await;
    let mut store = log.store();
    let changed = store.wait_for(|store| store.is_some() && *store != before);
    let changed = tokio::time::timeout(Duration::from_secs(30), changed).await;
    drop(changed.expect("nobody took over").unwrap());
    append_surely(&log, code(0), claim, batch(1, 5)).await;
    assert_journal(&log, code(0), 1, 5).await;
    assert_eq!(new.ask(&["EXISTS", &format!("j:{{{}}}", code(0))]).await, "1");
}
