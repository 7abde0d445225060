//! TLS, passwords, Sentinel, and servers that are not there.

use std::time::Duration;

use game_server::{GameLog, LogError, RedisConfig, RedisLog, Written};
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
    let old = RedisServer::start(Keep::Nothing).await;
    let new = RedisServer::start(Keep::Nothing).await;
    new.ask(&["REPLICAOF", "127.0.0.1", &old.port().to_string()])
        .await;
    let old_port = old.port().to_string();
    let sentinel = RedisServer::start_sentinel(&old_port).await;
    while new.info("master_link_up_since_seconds").await == 0 && new.info("master_repl_offset").await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let url = format!(
        "redis-sentinel://127.0.0.1:{}?sentinelServiceName=live",
        sentinel.port()
    );
    let log = log(&url).await;
    let before = log.store().borrow().clone();
    let claim = create(&log, code(0)).await;
    append_surely(&log, code(0), claim, batch(1, 3)).await;
    let failing_over = async {
        while sentinel.ask(&["SENTINEL", "FAILOVER", "live"]).await != "OK" {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let mut store = log.store();
        let changed = store.wait_for(|store| store.is_some() && *store != before);
        let pushing = async {
            loop {
                // Writes find out that the old one is a replica now.
                match log.append(code(0), claim, batch(1, 4)).await {
                    Ok(Written::Saved) | Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                    Ok(other) => panic!("{other:?}"),
                }
            }
        };
        tokio::select! {
            changed = changed => drop(changed.unwrap()),
            () = pushing => {}
        }
    };
    tokio::time::timeout(Duration::from_secs(30), failing_over)
        .await
        .unwrap();
    append_surely(&log, code(0), claim, batch(1, 5)).await;
    assert_journal(&log, code(0), 1, 5).await;
    assert_eq!(new.ask(&["EXISTS", &format!("j:{{{}}}", code(0))]).await, "1");
}
