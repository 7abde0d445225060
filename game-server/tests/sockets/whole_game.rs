//! A class plays.

use serde_json::{Value, json};

use crate::kit::{CODE, Stage};

#[tokio::test]
async fn a_class_plays_a_whole_game() {
    let stage = Stage::open().await;
    let created = stage.create().await;
    let (mut host, state) = stage.host().await;
    assert_eq!(state["phase"], "lobby");
    assert_eq!(state["code"], CODE);
    assert_eq!(state["game"], created["game"]);
    assert_eq!(state["of"], 3);
    let (mut ada, welcome) = stage.join(" Ada ").await;
    assert_eq!(welcome["state"]["name"], "Ada");
    assert_eq!(welcome["v"], 1);
    let roster = host.frame("roster").await;
    assert_eq!(roster["joined"], json!([{ "id": 1, "name": "Ada" }]));
    let (mut bob, _) = stage.join("Bob").await;
    let (mut cyd, _) = stage.join("Cyd").await;

    // One: Ada and Bob right, Cyd wrong. The question closes when all have answered.
    host.say(json!({ "t": "start" })).await;
    let question = ada.frame("question").await;
    assert_eq!(question["q"], 1);
    assert_eq!(question["ms"], 20_000);
    assert_eq!(question["choices"], json!(["Nile", "Rhine", "Thames"]));
    assert!(question.get("kind").is_none() && question.get("correct").is_none());
    for (player, choice) in [(&mut ada, 0), (&mut bob, 0), (&mut cyd, 1)] {
        player
            .say(json!({ "t": "answer", "q": 1, "choice": choice }))
            .await;
        let ack = player.until("ack").await;
        assert_eq!(ack, json!({ "t": "ack", "q": 1, "saved": true }));
    }
    let result = ada.frame("result").await;
    assert_eq!(result["ok"], true);
    assert_eq!(result["of"], 3);
    let result = cyd.frame("result").await;
    assert_eq!(
        (&result["ok"], &result["points"], &result["rank"]),
        (&json!(false), &json!(0), &json!(3))
    );
    let reveal = host.until("reveal").await;
    assert_eq!(reveal["histogram"], json!([2, 1, 0]));
    assert_eq!((&reveal["answered"], &reveal["right"]), (&json!(3), &json!(2)));
    assert_eq!(reveal["correct"], json!([0]));

    // Two: several choices. The host closes before Cyd answers.
    host.say(json!({ "t": "next", "q": 1 })).await;
    assert_eq!(ada.frame("question").await["kind"], "multiple");
    bob.until("question").await;
    ada.say(json!({ "t": "answer", "q": 2, "choices": [2, 0] })).await;
    ada.frame("ack").await;
    bob.say(json!({ "t": "answer", "q": 2, "choices": [0] })).await;
    bob.frame("ack").await;
    host.say(json!({ "t": "close", "q": 2 })).await;
    assert_eq!(ada.frame("result").await["ok"], true);
    assert_eq!(bob.frame("result").await["ok"], false);
    let result = cyd
        .until_frame(|frame| frame["t"] == "result" && frame["q"] == 2)
        .await;
    assert!(result.get("ok").is_none());

    // Three: skipped. Then the podium.
    host.say(json!({ "t": "next", "q": 2 })).await;
    ada.frame("question").await;
    ada.say(json!({ "t": "answer", "q": 3, "choice": 1 })).await;
    ada.frame("ack").await;
    host.say(json!({ "t": "skip", "q": 3 })).await;
    assert_eq!(
        host.until_frame(|frame| frame["q"] == 3 && frame["t"] == "reveal")
            .await["skipped"],
        true
    );
    host.say(json!({ "t": "next", "q": 3 })).await;
    let over = host.frame("over").await;
    assert_eq!(over["of"], 3);
    let saved = stage.saved_result().await;
    assert_eq!(
        saved.questions.iter().map(|q| q.skipped).collect::<Vec<_>>(),
        [false, false, true]
    );

    // Board, phone, podium and result tell the same totals.
    let own = ada.until("over").await;
    assert_eq!((&own["rank"], &own["of"]), (&json!(1), &json!(3)));
    for (place, result) in over["places"].as_array().unwrap().iter().zip(&saved.players) {
        assert_eq!(place["name"], result.name);
        assert_eq!(place["total"], result.total);
        assert_eq!(place["rank"], result.rank);
        assert_eq!(result.total, result.answers.iter().map(|a| a.points).sum::<u32>());
    }
    assert_eq!(own["total"], saved.players[0].total);
    assert_eq!(ada.frames_of_seq, 7);

    // A doubled click on the way to the podium sends nobody home.
    host.say(json!({ "t": "end" })).await;
    assert_eq!(host.error().await, "wrong_phase");
    host.say(json!({ "t": "finish" })).await;
    for client in [&mut host, &mut ada] {
        let (frames, code) = client.closed().await;
        assert_eq!(frames.last(), Some(&json!({ "t": "bye", "reason": "ended" })));
        assert_eq!(code, Some(1000));
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_closes_a_question() {
    let stage = Stage::open().await.paused();
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    let opened = tokio::time::Instant::now();
    ada.frame("result").await;
    let open_ms = opened.elapsed().as_millis();
    assert!((20_000..20_050).contains(&open_ms), "{open_ms} ms");
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    assert_eq!(ada.error().await, "not_open");
}

#[tokio::test]
async fn ending_in_a_question_shows_its_results_and_the_podium() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    host.say(json!({ "t": "end" })).await;
    // The kit checks that the sequence has no gap.
    ada.frame("result").await;
    ada.frame("over").await;
    assert_eq!(host.until("reveal").await["skipped"], true);
    host.frame("over").await;
    assert!(stage.saved_result().await.questions[0].skipped);
}

#[tokio::test]
async fn all_hosts_and_screens_stay_in_step() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut laptop, _) = stage.host().await;
    let (mut phone, _) = stage.host().await;
    laptop.say(json!({ "t": "ticket" })).await;
    let ticket = laptop.frame("ticket").await["ticket"].clone();
    let mut screen = stage.connect().await;
    screen.say(json!({ "t": "screen", "ticket": ticket })).await;
    assert_eq!(screen.frame("sync").await["state"]["phase"], "lobby");
    screen.say(json!({ "t": "start" })).await;
    assert_eq!(screen.error().await, "not_allowed");
    phone.say(json!({ "t": "lock", "on": true })).await;
    phone.say(json!({ "t": "start" })).await;
    for client in [&mut laptop, &mut phone, &mut screen] {
        assert_eq!(client.frame("lock").await["on"], true);
        assert_eq!(client.frame("question").await["q"], 1);
    }
    // A doubled click does nothing.
    laptop.say(json!({ "t": "close", "q": 1 })).await;
    phone.say(json!({ "t": "close", "q": 1 })).await;
    phone.frame("reveal").await;
    assert_eq!(phone.error().await, "not_open");
    laptop.frame("reveal").await;
    laptop.say(json!({ "t": "host", "token": "" })).await;
    assert_eq!(laptop.frame("sync").await["state"]["phase"], "results");
    screen.frame("reveal").await;
    screen.is_well().await;
}

#[tokio::test]
async fn the_host_sees_progress_and_roster_without_a_flood() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let mut players = Vec::new();
    for n in 0..30 {
        players.push(stage.join(&format!("Player {n}")).await.0);
    }
    host.say(json!({ "t": "start" })).await;
    for player in &mut players {
        player.frame("question").await;
    }
    for player in &mut players[..29] {
        player.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
        player.frame("ack").await;
    }
    host.until_frame(|frame| {
        frame["t"] == "progress" && frame["answered"] == 29 && frame["of"] == 30 && frame["q"] == 1
    })
    .await;
    players[29]
        .say(json!({ "t": "answer", "q": 1, "choice": 0 }))
        .await;
    assert_eq!(host.until("reveal").await["answered"], 30);
    let names: Vec<Value> = {
        host.say(json!({ "t": "host", "token": "" })).await;
        let sync = host.until("sync").await;
        sync["state"]["roster"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["name"].clone())
            .collect()
    };
    assert_eq!(names.len(), 30);
    assert_eq!(names[7], "Player 7");
}
