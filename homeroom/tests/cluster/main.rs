//! The separate processes together: two game servers and an API as an operator runs them, over their public protocol.

#![expect(
    clippy::unwrap_used,
    reason = "a test's helpers fail by panicking, like the test"
)]

mod client;
mod failover;
mod letters;
mod operators;
mod processes;
mod proxied;
mod redis;
#[expect(dead_code, reason = "the tests of the log do more to a Redis than these")]
#[path = "../../../game-server/tests/redis/server.rs"]
mod redis_server;
mod several;
mod switch;
mod without_api;

use serde_json::{Value, json};

use client::{Http, Socket};
use processes::Cluster;

/// A quiz of one question with two choices, the first of them correct.
fn quiz() -> Value {
    json!({
        "title": "Rivers",
        "questions": [{
            "kind": "single",
            "text": "Which river flows through Cologne?",
            "choices": [{ "text": "Rhine", "correct": true }, { "text": "Seine", "correct": false }],
            "time_ms": 20_000,
        }],
    })
}

/// A signed-in teacher with a stored quiz.
struct Teacher {
    token: String,
    quiz: Value,
}

impl Teacher {
    async fn sign_up(api: &Http) -> Self {
        let account = json!({ "email": "anna@school.org", "password": "correct horse", "name": "Anna" });
        let (status, session) = api.post("/store/auth/register", None, &account).await;
        assert_eq!(status, 201, "{session}");
        let token = session["access_token"].as_str().unwrap().to_owned();
        let (status, stored) = api.post("/store/quizzes", Some(&token), &quiz()).await;
        assert_eq!(status, 201, "{stored}");
        Self {
            token,
            quiz: stored["id"].clone(),
        }
    }

    /// Starts a game; `prefix` is what stands before the game server's own paths.
    async fn create(&self, at: &Http, prefix: &str, code: &str) -> (u16, Value) {
        let body = json!({ "quiz": { "id": self.quiz }, "key": format!("key-{code}") });
        at.post(&format!("{prefix}/games?g={code}"), Some(&self.token), &body)
            .await
    }

    /// The quiz as the API signs it, for when it is away.
    async fn signed(&self, api: &Http) -> Value {
        let path = format!("/store/quizzes/{}/signed", self.quiz.as_str().unwrap());
        let (_, signed) = api.get(&path, Some(&self.token)).await.unwrap();
        signed["signed"].clone()
    }

    /// Starts a game with that.
    async fn create_signed(&self, at: &Http, code: &str, signed: &Value) -> (u16, Value) {
        let body = json!({ "quiz": { "signed": signed }, "key": format!("key-{code}") });
        at.post(&format!("/games?g={code}"), Some(&self.token), &body)
            .await
    }

    /// The games that the API has.
    async fn library(&self, api: &Http) -> Vec<Value> {
        let (_, library) = api.get("/store/games", Some(&self.token)).await.unwrap();
        library["items"].as_array().unwrap().clone()
    }

    /// The report of a game, once the API has it.
    async fn report(&self, api: &Http, game: &Value) -> Value {
        let path = format!("/store/games/{}/report", game.as_str().unwrap());
        processes::until("the report", async || {
            let (status, report) = api.get(&path, Some(&self.token)).await?;
            (status == 200).then_some(report)
        })
        .await
    }
}

/// Plays the one question with two players, one right and one wrong, up to the podium. The sockets stay open.
async fn play(teacher: &Teacher, at: &Http, prefix: &str, code: &str) -> [Socket; 3] {
    let path = format!("{prefix}/watch?g={code}");
    let mut host = Socket::open(at, &path).await;
    host.say(json!({ "t": "host", "token": teacher.token })).await;
    host.until("sync").await;
    let mut right = Socket::open(at, &path).await;
    right.say(json!({ "t": "join", "name": "Ada" })).await;
    right.until("welcome").await;
    let mut wrong = Socket::open(at, &path).await;
    wrong.say(json!({ "t": "join", "name": "Bob" })).await;
    wrong.until("welcome").await;

    several::play_question(&mut host, [&mut right, &mut wrong]).await;
    several::finish(&mut host, [&mut right, &mut wrong]).await;
    [host, right, wrong]
}

/// Ada was right and Bob was not.
fn assert_played(report: &Value, code: &str) {
    let result = &report["result"];
    assert_eq!(result["code"], code);
    assert_eq!(result["quiz"], quiz());
    let players: Vec<_> = result["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|player| {
            (
                &player["name"],
                &player["rank"],
                player["total"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(players.len(), 2, "{report}");
    assert_eq!((players[0].0, players[0].1), (&json!("Ada"), &json!(1)));
    assert!((500..=1_000).contains(&players[0].2), "{report}");
    assert_eq!(players[1], (&json!("Bob"), &json!(2), 0));
    assert_eq!(report["questions"][0]["histogram"], json!([1, 1]));
}

#[tokio::test]
async fn games_on_two_servers_end_up_in_one_library_and_everything_stops_cleanly() {
    let cluster = Cluster::new();
    let api = cluster.api(None).await;
    let (one, two) = (
        cluster.game("game-0", &api.internal).await,
        cluster.game("game-1", &api.internal).await,
    );
    let teacher = Teacher::sign_up(&api.public).await;
    let mut games = Vec::new();
    // One gateway strips the prefix, the other does not.
    for (server, prefix, code) in [(&one, "", "K7Q2MX"), (&two, "/game", "M7Q2KX")] {
        let (status, created) = teacher.create(&server.public, prefix, code).await;
        assert_eq!((status, &created["players_max"]), (201, &json!(500)), "{created}");
        games.push((created["game"].clone(), code));
    }
    // Each server has its own game and no other.
    let (status, _) = two.public.get("/status?g=K7Q2MX", None).await.unwrap();
    assert_eq!(status, 404);

    let [_host, mut player, _] = play(&teacher, &one.public, "", "K7Q2MX").await;
    play(&teacher, &two.public, "/game", "M7Q2KX").await;
    for (game, code) in &games {
        assert_played(&teacher.report(&api.public, game).await, code);
    }
    let (_, library) = api
        .public
        .get("/store/games", Some(&teacher.token))
        .await
        .unwrap();
    assert_eq!(library["items"].as_array().unwrap().len(), 2);

    // A player who looks at the podium is told to come back to the next server.
    one.process.ask_to_stop();
    assert_eq!(player.closed().await, Some(1012));
    for process in [one.process, two.process, api.process] {
        process.ask_to_stop();
        process.ended_well().await;
    }
}

#[tokio::test]
async fn a_server_with_another_service_token_starts_no_game() {
    let cluster = Cluster::new();
    let api = cluster.api(None).await;
    let stranger = cluster
        .game_with_secret("game-9", &api.internal, "other-service")
        .await;
    let teacher = Teacher::sign_up(&api.public).await;
    let (status, refused) = teacher.create(&stranger.public, "", "K7Q2MX").await;
    assert_eq!((status, &refused["code"]), (503, &json!("api-unavailable")));
    let (status, _) = stranger.public.get("/status?g=K7Q2MX", None).await.unwrap();
    assert_eq!(status, 404);
    // Both sides tell their operator.
    api.process
        .said("an internal call without a valid service token was refused")
        .await;
    let why = stranger.process.said("plan check failed").await;
    assert!(why.to_string().contains("service-token-invalid"), "{why}");
}

#[tokio::test]
async fn probes_tell_life_and_readiness_on_the_admin_listener_only() {
    let cluster = Cluster::new();
    let api = cluster.api(None).await;
    let game = cluster.game("game-0", &api.internal).await;
    for (admin, public) in [(&api.admin, &api.public), (&game.admin, &game.public)] {
        for path in ["/live", "/ready"] {
            assert_eq!(admin.get_text(path).await.unwrap().0, 200, "{path}");
            assert_eq!(public.get_text(path).await.unwrap().0, 404, "{path}");
        }
    }
    // The API's death is no reason to restart a game server, nor to send nobody there.
    api.process.kill();
    for path in ["/live", "/ready"] {
        assert_eq!(game.admin.get_text(path).await.unwrap().0, 200, "{path}");
    }
}
