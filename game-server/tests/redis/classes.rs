//! Classes that play while Redis is in trouble: they go on, are told what is not saved, and lose nothing.

use std::sync::Arc;
use std::time::Duration;

use game_server::{Config, GameLog, MemoryLog, Restoration};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::kit::{PATIENCE, log};
use crate::proxy::{Proxy, Weather};
use crate::server::{Keep, RedisServer};
use crate::stage::{CODE, Client, Stage};

/// How long Redis is away in every run of the tests.
const OUTAGE: Duration = Duration::from_secs(3);
/// How long in the long run.
#[cfg(feature = "long")]
const OUTAGE_LONG: Duration = Duration::from_secs(60);
/// Pause between two signs of life of clients that wait.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Killed,
    Emptied,
    Frozen,
    Slow,
    OutOfMemory,
    WithoutReplicas,
    AnswersLost,
}

impl Trouble {
    async fn begin(self, redis: &mut RedisServer, proxy: &Proxy) {
        match self {
            Self::Killed | Self::Emptied => redis.kill().await,
            Self::Frozen => redis.freeze(),
            Self::Slow => drop(redis.ask(&["CLIENT", "PAUSE", "100000", "WRITE"]).await),
            Self::OutOfMemory => drop(redis.ask(&["CONFIG", "SET", "maxmemory", "1"]).await),
            Self::WithoutReplicas => {
                drop(redis.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]).await);
            }
            Self::AnswersLost => proxy.set(Weather::AnswersLost),
        }
    }

    async fn end(self, redis: &mut RedisServer, proxy: &Proxy) {
        match self {
            Self::Killed | Self::Emptied => redis.restart().await,
            Self::Frozen => redis.thaw(),
            Self::Slow => drop(redis.ask(&["CLIENT", "UNPAUSE"]).await),
            Self::OutOfMemory => drop(redis.ask(&["CONFIG", "SET", "maxmemory", "0"]).await),
            Self::WithoutReplicas => {
                drop(redis.ask(&["CONFIG", "SET", "min-replicas-to-write", "0"]).await);
            }
            Self::AnswersLost => proxy.set(Weather::Fair),
        }
    }
}

#[tokio::test]
async fn a_class_outlives_a_redis_that_is_killed() {
    outlives(Trouble::Killed, OUTAGE).await;
}

#[tokio::test]
async fn a_class_outlives_a_redis_that_loses_everything() {
    outlives(Trouble::Emptied, OUTAGE).await;
}

#[tokio::test]
async fn a_class_outlives_a_redis_that_stands_still() {
    outlives(Trouble::Frozen, OUTAGE).await;
}

#[tokio::test]
async fn a_class_outlives_a_redis_that_is_slow() {
    outlives(Trouble::Slow, OUTAGE).await;
}

#[tokio::test]
async fn a_class_outlives_a_redis_without_memory() {
    outlives(Trouble::OutOfMemory, OUTAGE).await;
}

#[tokio::test]
async fn a_class_outlives_a_redis_without_its_replicas() {
    outlives(Trouble::WithoutReplicas, OUTAGE).await;
}

#[tokio::test]
async fn a_class_outlives_a_network_that_loses_answers() {
    outlives(Trouble::AnswersLost, OUTAGE).await;
}

/// Named by `./test --long redis-outage` only.
#[cfg(feature = "long")]
#[tokio::test]
async fn long_a_class_outlives_a_minute_without_redis() {
    outlives(Trouble::Killed, OUTAGE_LONG).await;
}

/// Players of the class whose figures are taken.
const CLASS: usize = 30;
/// Bytes to Redis for that class over 3 questions that a release may need at most.
const CLASS_BYTES_MAX: u64 = 25_000;

/// Answers come one at a time, each after the ack of the one before: so each is an append of its own, which takes the most
/// bytes, and its ack is not delayed by others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_class_of_30_over_3_questions_stays_under_its_bytes_and_its_acks_come_soon() {
    let redis = RedisServer::start(Keep::AppendOnly).await;
    let log = log(&redis.url()).await;
    // The functions come once to a Redis, not once to a class.
    crate::kit::create(&log, crate::kit::code(1)).await;
    let with = play(Arc::new(log), Some(&redis)).await;
    let without = play(Arc::new(MemoryLog::new()), None).await;
    let bytes = with.bytes;
    println!("bytes to Redis for a class of {CLASS} over 3 questions: {bytes} (at most {CLASS_BYTES_MAX})");
    println!(
        "answer to ack, with Redis: p50 {:?}, p99 {:?}",
        with.ack_p50, with.ack_p99
    );
    println!(
        "answer to ack, in memory: p50 {:?}, p99 {:?}",
        without.ack_p50, without.ack_p99
    );
    assert!((10_000..=CLASS_BYTES_MAX).contains(&bytes), "{bytes}");
    // The bars, 1 ms more at p50 and 5 ms at p99, are for a quiet machine and an optimised build.
    assert!(
        with.ack_p50 < without.ack_p50 + Duration::from_millis(10),
        "{with:?} {without:?}"
    );
}

#[derive(Debug)]
struct Figures {
    bytes: u64,
    ack_p50: Duration,
    ack_p99: Duration,
}

async fn play(log: Arc<dyn GameLog>, redis: Option<&RedisServer>) -> Figures {
    let received = async || match redis {
        Some(redis) => redis.received_bytes().await,
        None => 0,
    };
    let stage = Stage::with_log(Config::default(), log).await;
    let before = received().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let mut players = Vec::new();
    for index in 0..CLASS {
        players.push(stage.join(&format!("Player {index}")).await.0);
    }
    host.say(json!({ "t": "start" })).await;
    let mut took = Vec::new();
    for q in 1..=3 {
        for player in &mut players {
            player.until("question").await;
        }
        for player in &mut players {
            let began = Instant::now();
            player.say(answer(q)).await;
            until_saved(player, q).await;
            took.push(began.elapsed());
        }
        host.until("reveal").await;
        host.say(json!({ "t": "next", "q": q })).await;
    }
    host.until("over").await;
    if let Some(redis) = redis {
        until_snapshot(redis).await;
    }
    stage.saved_result().await;
    took.sort_unstable();
    Figures {
        bytes: received().await - before,
        ack_p50: took[took.len() / 2],
        ack_p99: took[took.len() * 99 / 100],
    }
}

/// Waits until the snapshot that the podium asks for is there.
async fn until_snapshot(redis: &RedisServer) {
    let journal = format!("j:{{{CODE}}}");
    let gone = async {
        while redis.ask(&["EXISTS", &journal]).await != "0" {
            sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone)
        .await
        .expect("no snapshot came");
}

/// Nobody does anything: the owner must notice by itself, before it dies.
#[tokio::test]
async fn games_of_which_keys_are_damaged_are_lost_at_once_and_alone() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let first = Stage::with_log(Config::default(), Arc::new(log(&redis.url()).await)).await;
    let [damaged, nobodys] = ["K7Q2MY", "K7Q2MZ"];
    for (code, key) in [(CODE, "one"), (damaged, "other")] {
        let (status, _) = first.post(code, Some(&first.token()), &first.body(key)).await;
        assert_eq!(status, 201);
    }
    redis.ask(&["DEL", &format!("s:{{{damaged}}}")]).await;
    redis.ask(&["SET", &format!("o:{{{nobodys}}}"), "garbage"]).await;
    let second = Stage::with_log(Config::default(), Arc::new(log(&redis.url()).await)).await;
    let asked = Instant::now();
    let expected = Restoration {
        restored: 1,
        unreadable: 2,
        left: 0,
    };
    assert_eq!(second.server.restore_own().await.unwrap(), expected);
    // What is damaged does not get better by being asked for again while all other classes wait.
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    for (code, told) in [(CODE, 200), (damaged, 410), (nobodys, 410)] {
        let (status, _) = second.status(&format!("?g={code}")).await;
        assert_eq!(status, told, "{code}");
    }
}

#[tokio::test]
async fn a_waiting_class_is_written_again_as_soon_as_an_emptied_redis_is_back() {
    let mut redis = RedisServer::start(Keep::Nothing).await;
    let stage = Stage::with_log(Config::default(), Arc::new(log(&redis.url()).await)).await;
    stage.create().await;
    let (mut ada, _) = stage.join("Ada").await;
    redis.kill().await;
    redis.restart().await;
    let returned = Instant::now();
    until_kept(&redis).await;
    println!(
        "written again {:.1?} after Redis came back empty",
        returned.elapsed()
    );
    let second = Stage::with_log(Config::default(), Arc::new(log(&redis.url()).await)).await;
    assert_eq!(second.server.restore().await.unwrap().restored, 1);
    let (_host, state) = second.host().await;
    assert_eq!(state["roster"], json!([{ "id": 1, "name": "Ada" }]), "{state}");
    ada.settle().await;
}

/// No connection ends, and Redis is the run that it was.
#[tokio::test]
async fn a_waiting_class_is_written_again_when_redis_is_emptied_by_hand() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let store = log.store().borrow().clone();
    let stage = Stage::with_log(Config::default(), Arc::new(log.clone())).await;
    stage.create().await;
    let (mut ada, _) = stage.join("Ada").await;
    redis.ask(&["FLUSHALL"]).await;
    until_kept(&redis).await;
    assert_ne!(
        *log.store().borrow(),
        store,
        "whoever lost a game there can be told so"
    );
    ada.settle().await;
}

/// A replica that took over knew less than what was answered.
#[tokio::test]
async fn a_lost_tail_is_written_again_as_soon_as_redis_is_back() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let proxy = Proxy::to(redis.port()).await;
    let stage = Stage::with_log(Config::default(), Arc::new(log(&proxy.url()).await)).await;
    stage.create().await;
    let (_ada, _) = stage.join("Ada").await;
    let (_bob, _) = stage.join("Bob").await;
    let owner = format!("o:{{{CODE}}}");
    assert_ne!(redis.ask(&["HGET", &owner, "n"]).await, "0");
    redis.ask(&["HSET", &owner, "n", "0"]).await;
    redis.ask(&["DEL", &format!("j:{{{CODE}}}")]).await;
    proxy.cut();
    let kept = async {
        while redis.ask(&["HGET", &owner, "n"]).await == "0" {
            sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, kept)
        .await
        .expect("it was not written again");
    let second = Stage::with_log(Config::default(), Arc::new(log(&redis.url()).await)).await;
    assert_eq!(second.server.restore().await.unwrap().restored, 1);
    let (_host, state) = second.host().await;
    assert_eq!(state["roster"].as_array().map(Vec::len), Some(2), "{state}");
}

async fn until_kept(redis: &RedisServer) {
    let kept = async {
        while redis.ask(&["EXISTS", &format!("o:{{{CODE}}}")]).await != "1" {
            sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, kept)
        .await
        .expect("it was not written again");
}

/// Two questions are asked and answered without Redis, one with it again. Another server then takes the game up from Redis
/// alone and ends it: its result must have every answer that was given, with the points that were shown.
async fn outlives(trouble: Trouble, outage: Duration) {
    let keep = if trouble == Trouble::Emptied {
        Keep::Nothing
    } else {
        Keep::AppendOnly
    };
    let mut redis = RedisServer::start(keep).await;
    let proxy = Proxy::to(redis.port()).await;
    let stage = Stage::with_log(Config::default(), Arc::new(log(&proxy.url()).await)).await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    let (mut bob, _) = stage.join("Bob").await;
    host.say(json!({ "t": "start" })).await;
    for client in [&mut host, &mut ada, &mut bob] {
        client.until("question").await;
    }

    trouble.begin(&mut redis, &proxy).await;
    let began = Instant::now();
    let mut points = [Vec::new(), Vec::new()];
    ada.say(answer(1)).await;
    assert_eq!(ada.until("ack").await["saved"], false);
    host.until_frame(|frame| *frame == json!({ "t": "saving", "behind": true }))
        .await;
    bob.say(answer(1)).await;
    assert_eq!(bob.until("ack").await["saved"], false);
    results(&mut [&mut ada, &mut bob], &mut points).await;
    host.until("reveal").await;
    host.say(json!({ "t": "next", "q": 1 })).await;
    for player in [&mut ada, &mut bob] {
        player.until("question").await;
        player.say(answer(2)).await;
        assert_eq!(player.until("ack").await["saved"], false);
    }
    results(&mut [&mut ada, &mut bob], &mut points).await;
    host.until("reveal").await;
    while began.elapsed() < outage {
        sleep(SIGN_OF_LIFE.min(outage - began.elapsed())).await;
        for client in [&mut host, &mut ada, &mut bob] {
            client.is_well().await;
        }
    }

    trouble.end(&mut redis, &proxy).await;
    let returned = Instant::now();
    for player in [&mut ada, &mut bob] {
        for q in [1, 2] {
            until_saved(player, q).await;
        }
    }
    host.until_frame(|frame| *frame == json!({ "t": "saving", "behind": false }))
        .await;
    println!(
        "{trouble:?} for {:.1?}: all saved {:.1?} after its end",
        returned - began,
        returned.elapsed()
    );

    host.say(json!({ "t": "next", "q": 2 })).await;
    for player in [&mut ada, &mut bob] {
        player.until("question").await;
        player.say(answer(3)).await;
    }
    for (player, points) in [&mut ada, &mut bob].into_iter().zip(&mut points) {
        points.push(until_saved_and_told(player, 3).await);
    }
    host.until("reveal").await;
    assert_kept(&redis, &points).await;
}

/// What Redis holds, without the first server's memory.
async fn assert_kept(redis: &RedisServer, points: &[Vec<Value>]) {
    let log: Arc<dyn GameLog> = Arc::new(log(&redis.url()).await);
    let second = Stage::with_log(Config::default(), log).await;
    let restoration = second.server.restore().await.unwrap();
    assert_eq!(restoration.restored, 1, "{restoration:?}");
    let (mut host, _) = second.host().await;
    host.say(json!({ "t": "next", "q": 3 })).await;
    host.until("over").await;
    let result = second.saved_result().await;
    let mut players = result.players;
    players.sort_by_key(|player| player.id);
    for (player, points) in players.iter().zip(points) {
        let kept: Vec<Value> = player.answers.iter().map(|answer| json!(answer.points)).collect();
        assert_eq!(kept, *points, "{}", player.name);
        assert_eq!(
            player.answers.iter().map(|answer| answer.q).collect::<Vec<_>>(),
            [1, 2, 3]
        );
    }
}

/// Waits until an answer is saved; on a busy machine an ack that says `saved:false` can come first.
async fn until_saved(player: &mut Client, q: u16) {
    let saved = json!({ "t": "ack", "q": q, "saved": true });
    player.until_frame(|frame| *frame == saved).await;
}

/// Waits for the ack that says `saved:true` and for the result, which come in either order, and says the points.
async fn until_saved_and_told(player: &mut Client, q: u16) -> Value {
    let saved = json!({ "t": "ack", "q": q, "saved": true });
    let (mut is_saved, mut points) = (false, None);
    player
        .until_frame(|frame| {
            is_saved |= *frame == saved;
            if frame["t"] == "result" {
                points = Some(frame["points"].clone());
            }
            is_saved && points.is_some()
        })
        .await;
    points.unwrap()
}

/// Takes everybody's `result` and notes the points it shows.
async fn results(players: &mut [&mut Client], points: &mut [Vec<Value>]) {
    for (player, points) in players.iter_mut().zip(points) {
        points.push(player.until("result").await["points"].clone());
    }
}

/// A right answer to a question of the stage's quiz.
fn answer(q: u16) -> Value {
    if q == 2 {
        json!({ "t": "answer", "q": q, "choices": [0, 2] })
    } else {
        json!({ "t": "answer", "q": q, "choice": 0 })
    }
}
