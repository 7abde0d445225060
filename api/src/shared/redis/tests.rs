//! Two processes and a real Redis, which also goes away.

use uuid::Uuid;

use super::*;

#[path = "../../../tests/support/redis.rs"]
mod server;

use server::RedisServer;

const QUOTA: Quota = Quota {
    max: 5,
    window: Duration::from_secs(60),
};

fn teacher(n: u128) -> TeacherId {
    TeacherId(Uuid::from_u128(n))
}

fn connect(server: &RedisServer) -> RedisShared {
    RedisShared::connect(&SharedRedis::parse(&server.url()).unwrap())
}

/// Asks again until there is an answer that will do; only a failing test takes long.
async fn until<T>(ask: impl AsyncFn() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asking)
        .await
        .expect("no answer")
}

#[tokio::test]
async fn a_change_is_seen_by_every_process_and_counts_are_one() {
    let server = RedisServer::start();
    let (here, there) = (connect(&server), connect(&server));
    let before = until(|| here.version(teacher(1))).await;
    assert_eq!(
        until(|| there.version(teacher(1))).await,
        before,
        "the same for both"
    );
    let other = until(|| there.version(teacher(2))).await;
    here.changed(teacher(1)).await;
    let after = until(|| there.version(teacher(1))).await;
    assert_ne!(after, before);
    assert_eq!(until(|| here.version(teacher(1))).await, after);
    assert_eq!(until(|| here.version(teacher(2))).await, other);

    let mut within = 0;
    for process in [&here, &there, &here, &there, &here, &there, &here] {
        match process
            .count(Whose::Teacher(teacher(1)), Counted::Games, QUOTA)
            .await
        {
            Verdict::Within => within += 1,
            Verdict::Spent(left) => {
                assert!(left <= QUOTA.window && left > QUOTA.window / 2, "{left:?}");
            }
        }
    }
    assert_eq!(within, 5, "over both processes");
    // Counted beyond the quota as well, twice: what came to nothing makes room only when it is taken back.
    for _ in 0..3 {
        there.give_back(Whose::Teacher(teacher(1)), Counted::Games).await;
    }
    for within in [true, false] {
        let verdict = here
            .count(Whose::Teacher(teacher(1)), Counted::Games, QUOTA)
            .await;
        assert_eq!(verdict == Verdict::Within, within);
    }
    there.give_back(Whose::Teacher(teacher(7)), Counted::Games).await;
    assert_eq!(
        server.ask("EXISTS", &format!("api:q:games:{}", teacher(7))),
        "0",
        "no window without an end"
    );
    assert_eq!(
        there
            .count(Whose::Teacher(teacher(1)), Counted::Requests, QUOTA)
            .await,
        Verdict::Within
    );
    // The window ends by itself.
    let ttl = server.ask("PTTL", &format!("api:q:games:{}", teacher(1)));
    assert!((1..=60_000).contains(&ttl.parse::<i64>().unwrap()), "{ttl}");
}

#[tokio::test]
async fn without_redis_nothing_waits_and_nothing_is_remembered() {
    let mut server = RedisServer::start();
    let shared = connect(&server);
    let before = until(|| shared.version(teacher(1))).await;
    server.kill();
    let started = Instant::now();
    for n in 0..200 {
        assert_eq!(shared.version(teacher(1)).await, None);
        let counted = shared
            .count(Whose::Teacher(teacher(1)), Counted::Games, QUOTA)
            .await;
        assert_eq!(counted == Verdict::Within, n < 5, "this process counts by itself");
    }
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
    server.restart();
    let after = until(|| shared.version(teacher(1))).await;
    assert_ne!(after, before, "what an empty Redis does not know is new");
}

/// A slow answer makes calls leave Redis alone for a moment; what is changed in that moment must not stay unknown elsewhere.
#[tokio::test]
async fn a_change_that_could_not_be_told_is_told_as_soon_as_redis_answers() {
    let server = RedisServer::start();
    let (here, there) = (connect(&server), connect(&server));
    let mut before = Vec::new();
    for n in 0..20 {
        before.push(until(|| there.version(teacher(n))).await);
        until(|| here.version(teacher(n))).await;
    }
    server.freeze();
    assert_eq!(here.version(teacher(0)).await, None);
    // More than may wait for an answer, and one of them twice.
    let changes = (0..20).chain([0]).map(|n| here.changed(teacher(n)));
    futures_util::future::join_all(changes).await;
    server.thaw();
    // By now it answers again, but is left alone for a while.
    here.changed(teacher(1)).await;
    for (n, before) in (0..).zip(before) {
        // What was sent to a Redis that stood still is done as well, so that there may be several versions in a row.
        until(async || {
            let (here, there) = (here.version(teacher(n)).await?, there.version(teacher(n)).await?);
            (here == there && there != before).then_some(())
        })
        .await;
    }
}

#[test]
fn urls_are_read_and_passwords_not_shown() {
    let config = SharedRedis::parse("rediss://u:hunter2@cache:7000/2").unwrap();
    assert_eq!(format!("{config} {config:?}"), "cache:7000 cache:7000");
    assert!(config.has_password());
    assert!(!SharedRedis::parse("redis://cache").unwrap().has_password());
    let sentinels = "redis-sentinel://a:1?sentinelServiceName=live&sentinelPassword=hunter2";
    assert!(SharedRedis::parse(sentinels).unwrap().has_password());
    for url in [
        "",
        "cache:6379",
        "http://a",
        "redis://",
        "redis://u:hunter2@h:99999",
    ] {
        assert!(SharedRedis::parse(url).is_err(), "{url}");
    }
}
