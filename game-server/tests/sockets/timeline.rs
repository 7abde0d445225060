//! What happened to a game, as its teacher is told.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use game_server::{Config, GameLog, MemoryLog, Trouble};
use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::kit::{self, CODE, Stage};

async fn stage(log: &MemoryLog) -> Stage {
    let config = Config {
        server_name: "game-0".to_owned(),
        ..Config::default()
    };
    Stage::with_log(config, Arc::new(log.clone()) as Arc<dyn GameLog>).await
}

async fn ask(stage: &Stage, code: &str, token: Option<&str>) -> (StatusCode, Value) {
    let mut request = Request::get(format!("/timeline?g={code}"));
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    stage.call(request.body(Body::empty()).unwrap()).await
}

/// What happened, without the times, which must not run backwards.
async fn told(stage: &Stage) -> Vec<Value> {
    let (status, timeline) = ask(stage, CODE, Some(&stage.token())).await;
    assert_eq!(status, StatusCode::OK, "{timeline}");
    assert_eq!(timeline["code"], CODE);
    let events = timeline["events"].as_array().unwrap();
    let times: Vec<u64> = events
        .iter()
        .map(|event| event["at_ms"].as_u64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{timeline}");
    events
        .iter()
        .map(|event| without_time(event["what"].clone()))
        .collect()
}

/// How long it took is not the same in every run.
fn without_time(mut what: Value) -> Value {
    if let Some(after_ms) = what.as_object_mut().unwrap().remove("after_ms") {
        assert!((1..60_000).contains(&after_ms.as_u64().unwrap()), "{after_ms} ms");
    }
    what
}

fn drops(players_lost: u32, players_back: u32, hosts_lost: u32, hosts_back: u32) -> Value {
    json!({
        "t": "drops", "players_lost": players_lost, "players_back": players_back,
        "hosts_lost": hosts_lost, "hosts_back": hosts_back,
    })
}

#[tokio::test(start_paused = true)]
async fn a_game_tells_what_happened_to_it_through_two_servers_and_at_last_to_the_api() {
    let log = MemoryLog::new();
    let first = stage(&log).await.paused();
    first.create().await;
    let (mut host, _) = first.host().await;
    let (mut ada, of_ada) = first.join("Ada").await;
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    host.until("question").await;
    ada.vanish();
    first.until_sockets(1).await;
    let (mut ada, _) = first.resume(&of_ada["token"]).await;
    let owner = |epoch| json!({ "t": "owner", "server": "game-0", "epoch": epoch });
    let mut expected = vec![
        json!({ "t": "created" }),
        owner(1),
        json!({ "t": "opened", "q": 1 }),
        drops(1, 1, 0, 0),
    ];
    assert_eq!(told(&first).await, expected);

    log.set_trouble(Trouble::Away);
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    host.until("reveal").await;
    log.set_trouble(Trouble::None);
    host.until_frame(|frame| *frame == json!({ "t": "saving", "behind": false }))
        .await;
    expected.push(json!({ "t": "closed", "q": 1 }));
    expected.push(json!({ "t": "behind" }));
    expected.push(json!({ "t": "caught_up" }));
    assert_eq!(told(&first).await, expected);

    // The drops and the delay were known to this server alone; its snapshot tells them to the next one.
    let second = stage(&log).await.paused();
    second.server.restore().await.unwrap();
    expected.push(owner(2));
    assert_eq!(told(&second).await, expected);
    let (mut host, _) = second.host().await;
    let (mut ada, _) = second.resume(&of_ada["token"]).await;
    expected.push(drops(0, 1, 0, 1));
    assert_eq!(told(&second).await, expected);
    host.say(json!({ "t": "end" })).await;
    ada.until("over").await;
    second.saved_result().await;
    expected.push(json!({ "t": "over" }));
    expected.push(json!({ "t": "result_saved" }));
    let mut saved = second.api.timelines.subscribe();
    let saved = saved.wait_for(|timelines| !timelines.is_empty()).await.unwrap()[0].clone();
    let kept: Vec<Value> = saved
        .events
        .iter()
        .map(|event| without_time(json!(event.what)))
        .collect();
    assert_eq!(kept, expected);
    host.say(json!({ "t": "finish" })).await;
    assert_eq!(host.closed().await.1, Some(1000));
    expected.push(json!({ "t": "ended" }));
    assert_eq!(told(&second).await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_opened_just_before_a_crash_is_told_by_the_journal() {
    let log = MemoryLog::new();
    let first = stage(&log).await.paused();
    first.create().await;
    let (mut host, _) = first.host().await;
    let (_ada, _) = first.join("Ada").await;
    host.say(json!({ "t": "start" })).await;
    host.until("question").await;
    // Well before the next snapshot.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let second = stage(&log).await.paused();
    second.server.restore().await.unwrap();
    let told = told(&second).await;
    assert!(told.contains(&json!({ "t": "opened", "q": 1 })), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_owner_in_whose_time_nothing_happened_is_told_of_all_the_same() {
    let log = MemoryLog::new();
    stage(&log).await.create().await;
    let mut servers = Vec::new();
    for _ in 2..=3 {
        let next = stage(&log).await.paused();
        next.server.restore().await.unwrap();
        // Longer than two snapshots are apart, shorter than it takes until an idle game would get one.
        tokio::time::sleep(Duration::from_secs(3)).await;
        servers.push(next);
    }
    let owner = |epoch| json!({ "t": "owner", "server": "game-0", "epoch": epoch });
    assert_eq!(
        told(&servers[1]).await,
        [json!({ "t": "created" }), owner(1), owner(2), owner(3)]
    );
}

#[tokio::test]
async fn nobody_else_is_told_even_that_there_is_such_a_game() {
    let stage = Stage::open().await;
    stage.create().await;
    let stranger = kit::teacher_token(kit::teacher_id(2));
    let (status, unknown) = ask(&stage, "ZZZZZZ", Some(&stranger)).await;
    assert_eq!(
        (status, unknown["code"].as_str()),
        (StatusCode::NOT_FOUND, Some("no-such-game"))
    );
    assert_eq!(ask(&stage, CODE, Some(&stranger)).await, (status, unknown));
    for token in [
        None,
        Some("nonsense"),
        Some(kit::signed_quiz(stage.teacher).as_str()),
    ] {
        assert_eq!(ask(&stage, CODE, token).await.0, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(
        ask(&stage, "k7q2mx", Some(&stage.token())).await.0,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(ask(&stage, CODE, Some(&stage.token())).await.0, StatusCode::OK);
}
