//! Game servers whose games are kept in a real Redis.

use serde_json::{Value, json};

use crate::client::{Http, Socket};
use crate::processes::{Cluster, Game, until};
use crate::redis_server::{Keep, RedisServer};
use crate::{Teacher, assert_played, play};

/// A player's socket, joined or resumed, and what was said to it.
async fn player(at: &Http, code: &str, first: Value) -> (Socket, Value) {
    let mut socket = Socket::open(at, &format!("/watch?g={code}")).await;
    socket.say(first).await;
    let welcome = socket.until("welcome").await;
    (socket, welcome)
}

async fn host(at: &Http, code: &str, teacher: &Teacher) -> Socket {
    let mut socket = Socket::open(at, &format!("/watch?g={code}")).await;
    socket.say(json!({ "t": "host", "token": teacher.token })).await;
    socket.until("sync").await;
    socket
}

async fn status(at: &Http, path: &str) -> Option<u16> {
    at.get_text(path).await.map(|(status, _)| status)
}

#[tokio::test]
async fn a_class_outlives_the_kill_of_its_game_server() {
    let redis = RedisServer::start(Keep::AppendOnly).await;
    let cluster = Cluster::new();
    let api = cluster.api(None).await;
    let start = |name: &str| cluster.start_game_on(name, &api.internal, &redis.url());
    let (game, neighbour) = (Game::of(start("game-0")).await, Game::of(start("game-1")).await);
    let teacher = Teacher::sign_up(&api.public).await;
    let (status, created) = teacher.create(&game.public, "", "K7Q2MX").await;
    assert_eq!(status, 201, "{created}");
    let (status, of_neighbour) = teacher.create(&neighbour.public, "", "M7Q2KX").await;
    assert_eq!(status, 201, "{of_neighbour}");

    let mut first_host = host(&game.public, "K7Q2MX", &teacher).await;
    let (mut ada, of_ada) = player(&game.public, "K7Q2MX", json!({ "t": "join", "name": "Ada" })).await;
    let (mut bob, of_bob) = player(&game.public, "K7Q2MX", json!({ "t": "join", "name": "Bob" })).await;
    first_host.say(json!({ "t": "start" })).await;
    ada.until("question").await;
    bob.until("question").await;
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    assert_eq!(ada.until("ack").await["saved"], true);
    game.process.kill();

    // It takes up its own game and leaves its neighbour's alone.
    let again = Game::of(start("game-0")).await;
    let back = again.process.said("games of the last run").await;
    assert_eq!(
        (&back["fields"]["restored"], &back["fields"]["left"]),
        (&json!(1), &json!(0)),
        "{back}"
    );
    let resume = |welcome: &Value| json!({ "t": "resume", "token": welcome["token"], "seq": 0 });
    let (mut ada, state) = player(&again.public, "K7Q2MX", resume(&of_ada)).await;
    assert_eq!(
        (&state["state"]["phase"], &state["state"]["answered"]),
        (&json!("question"), &json!([0])),
        "{state}"
    );
    let (mut bob, state) = player(&again.public, "K7Q2MX", resume(&of_bob)).await;
    assert_eq!(state["state"].get("answered"), None, "{state}");
    let mut host = host(&again.public, "K7Q2MX", &teacher).await;
    bob.say(json!({ "t": "answer", "q": 1, "choice": 1 })).await;
    assert_eq!(bob.until("ack").await["saved"], true);
    host.until("reveal").await;
    host.say(json!({ "t": "next", "q": 1 })).await;
    for socket in [&mut host, &mut ada, &mut bob] {
        socket.until("over").await;
    }
    assert_played(&teacher.report(&api.public, &created["game"]).await, "K7Q2MX");

    play(&teacher, &neighbour.public, "", "M7Q2KX").await;
    assert_played(
        &teacher.report(&api.public, &of_neighbour["game"]).await,
        "M7Q2KX",
    );
    for process in [again.process, neighbour.process, api.process] {
        process.ask_to_stop();
        process.ended_well().await;
    }
}

#[tokio::test]
async fn a_server_takes_clients_once_it_knows_its_games_and_keeps_them_without_redis() {
    let mut redis = RedisServer::start(Keep::AppendOnly).await;
    let cluster = Cluster::new();
    let api = cluster.api(None).await;
    redis.kill().await;
    let waiting = cluster.start_game_on("game-0", &api.internal, &redis.url());
    waiting.said("no connection to Redis, trying again").await;
    let admin = waiting.bound("admin listener").await;
    assert_eq!(status(&admin, "/ready").await, Some(503));
    assert_eq!(status(&admin, "/live").await, Some(200));
    // One that is stopped while it waits stops.
    let stopped = cluster.start_game_on("game-1", &api.internal, &redis.url());
    stopped.said("no connection to Redis, trying again").await;
    stopped.ask_to_stop();
    stopped.ended_well().await;

    redis.restart().await;
    let game = Game::of(waiting).await;
    game.until_metric("homeroom_game_redis_connected", |connected| connected == 1)
        .await;
    until("readiness", async || {
        (status(&admin, "/ready").await == Some(200)).then_some(())
    })
    .await;
    let teacher = Teacher::sign_up(&api.public).await;
    let (created, game_of) = teacher.create(&game.public, "", "K7Q2MX").await;
    assert_eq!(created, 201, "{game_of}");

    redis.kill().await;
    game.until_metric("homeroom_game_redis_connected", |connected| connected == 0)
        .await;
    assert_eq!(status(&admin, "/ready").await, Some(200));
    // The class plays on; no new one starts.
    let (refused, why) = teacher.create(&game.public, "", "M7Q2KX").await;
    assert_eq!(refused, 503, "{why}");
    play(&teacher, &game.public, "", "K7Q2MX").await;

    redis.restart().await;
    assert_played(&teacher.report(&api.public, &game_of["game"]).await, "K7Q2MX");
    game.process.ask_to_stop();
    game.process.ended_well().await;
}
