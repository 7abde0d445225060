//! Several game servers that share a real Redis: whoever a phone comes to, its class is found, also when servers die.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Http, Socket};
use crate::processes::{Api, Cluster, Game, until};
use crate::redis_server::{Keep, RedisServer};
use crate::{Teacher, assert_played};

pub(crate) const CODE: &str = "K7Q2MX";
pub(crate) const PATH: &str = "/watch?g=K7Q2MX";
/// Calls for a game that another server has.
pub(crate) const TUNNELLED: &str = "homeroom_game_passed_on_total{how=\"tunnelled\"}";
pub(crate) const TOLD: &str = "homeroom_game_passed_on_total{how=\"told\"}";

/// A Redis, an API, some game servers on both, and a teacher.
pub(crate) struct Site {
    pub(crate) redis: RedisServer,
    pub(crate) cluster: Cluster,
    pub(crate) api: Api,
    pub(crate) games: Vec<Game>,
    pub(crate) teacher: Teacher,
}

impl Site {
    pub(crate) async fn open(servers: usize) -> Self {
        Self::open_on(Keep::AppendOnly, servers).await
    }

    async fn open_on(keep: Keep, servers: usize) -> Self {
        let (redis, cluster) = (RedisServer::start(keep).await, Cluster::new());
        let api = cluster.api(None).await;
        let teacher = Teacher::sign_up(&api.public).await;
        let mut site = Self {
            redis,
            cluster,
            api,
            games: Vec::new(),
            teacher,
        };
        for index in 0..servers {
            site.games.push(site.member(&format!("game-{index}")).await);
        }
        site
    }

    pub(crate) async fn member(&self, name: &str) -> Game {
        self.cluster
            .member(name, &self.api.internal, &self.redis.url())
            .await
    }

    pub(crate) fn at(&self, server: usize) -> &Http {
        &self.games[server].public
    }

    /// Starts the class's game at a server; says which game it is.
    pub(crate) async fn create(&self, server: usize) -> Value {
        let (status, created) = self.teacher.create(self.at(server), "", CODE).await;
        assert_eq!(status, 201, "{created}");
        created["game"].clone()
    }

    pub(crate) async fn host(&self, server: usize) -> Socket {
        host_at(self.at(server), PATH, &self.teacher).await.0
    }

    /// A player who joins or resumes, and its `welcome`.
    pub(crate) async fn player(&self, server: usize, first: Value) -> (Socket, Value) {
        player_at(self.at(server), PATH, first).await
    }

    pub(crate) async fn stop(self) {
        for process in self.games.into_iter().map(|game| game.process) {
            process.ask_to_stop();
            process.ended_well().await;
        }
    }
}

/// A host at a server or a proxy, and the state that it is told.
pub(crate) async fn host_at(at: &Http, path: &str, teacher: &Teacher) -> (Socket, Value) {
    let mut socket = Socket::open_again(at, path).await;
    socket.say(json!({ "t": "host", "token": teacher.token })).await;
    let state = socket.until("sync").await;
    (socket, state)
}

/// A player who joins or resumes at a server or a proxy, and its `welcome`.
pub(crate) async fn player_at(at: &Http, path: &str, first: Value) -> (Socket, Value) {
    let mut socket = Socket::open_again(at, path).await;
    socket.say(first).await;
    let welcome = socket.until("welcome").await;
    (socket, welcome)
}

pub(crate) fn join(name: &str) -> Value {
    json!({ "t": "join", "name": name })
}

pub(crate) fn resume(welcome: &Value) -> Value {
    json!({ "t": "resume", "token": welcome["token"], "seq": 0 })
}

pub(crate) fn answer(choice: u8) -> Value {
    json!({ "t": "answer", "q": 1, "choice": choice })
}

/// The host opens the question, one player answers rightly and the other wrongly; their acks.
pub(crate) async fn play_question(host: &mut Socket, [right, wrong]: [&mut Socket; 2]) -> [Value; 2] {
    host.say(json!({ "t": "start" })).await;
    let mut acks = [Value::Null, Value::Null];
    for ((player, choice), ack) in [(right, 0), (wrong, 1)].into_iter().zip(&mut acks) {
        player.until("question").await;
        player.say(answer(choice)).await;
        *ack = player.until("ack").await;
    }
    acks
}

/// From the results to the podium.
pub(crate) async fn finish(host: &mut Socket, players: [&mut Socket; 2]) {
    host.until("reveal").await;
    host.say(json!({ "t": "next", "q": 1 })).await;
    host.until("over").await;
    for player in players {
        player.until("over").await;
    }
}

#[tokio::test]
async fn a_class_scattered_over_all_servers_plays_to_its_end() {
    let site = Site::open(3).await;
    let game = site.create(0).await;
    // A create whose answer was lost comes to another server, and so does one with the same code by accident.
    let (status, again) = site.teacher.create(site.at(1), "", CODE).await;
    assert_eq!((status, &again["game"]), (200, &game));
    let other = json!({ "quiz": { "id": site.teacher.quiz }, "key": "another" });
    let (status, taken) = site
        .at(2)
        .post(&format!("/games?g={CODE}"), Some(&site.teacher.token), &other)
        .await;
    assert_eq!(status, 409, "{taken}");
    for server in 0..3 {
        let (status, shown) = site
            .at(server)
            .get(&format!("/status?g={CODE}"), None)
            .await
            .unwrap();
        assert_eq!((status, &shown["phase"]), (200, &json!("lobby")));
        // One that has just started does not know yet that nobody has it.
        let known = until("a word about a code without a game", async || {
            let (status, _) = site.at(server).get("/status?g=M7Q2KX", None).await?;
            (status != 503).then_some(status)
        });
        assert_eq!(known.await, 404, "a code without a game is one everywhere");
    }

    let mut host = site.host(1).await;
    let (mut ada, _) = site.player(2, join("Ada")).await;
    let (mut bob, _) = site.player(0, join("Bob")).await;
    for ack in play_question(&mut host, [&mut ada, &mut bob]).await {
        assert_eq!(ack["saved"], true);
    }
    finish(&mut host, [&mut ada, &mut bob]).await;
    assert_played(&site.teacher.report(&site.api.public, &game).await, CODE);
    site.games[1].until_metric(TUNNELLED, |calls| calls >= 3).await;
    site.games[0].until_metric(TUNNELLED, |calls| calls == 0).await;
    site.stop().await;
}

#[tokio::test]
async fn a_proxy_that_follows_is_told_the_owner_and_nobody_else_may_speak_to_the_peer_listener() {
    let site = Site::open(2).await;
    site.create(0).await;
    for path in [PATH, "/status?g=K7Q2MX"] {
        let (status, head) = site.at(1).head(path, "homeroom-follows-owner: 1").await;
        assert_eq!(status, 421, "{head}");
        assert!(head.contains("homeroom-owner: game-0\r\n"), "{head}");
        // The owner itself answers, whoever asks.
        let (status, head) = site
            .at(0)
            .head("/status?g=K7Q2MX", "homeroom-follows-owner: 1")
            .await;
        assert_eq!(status, 200, "{head}");
    }
    site.games[1].until_metric(TOLD, |calls| calls == 2).await;
    // A proxy that cannot reach the owner is helped to it.
    let header = "homeroom-follows-owner: 1\r\nhomeroom-unreachable: game-7, game-0";
    let (status, head) = site.at(1).head("/status?g=K7Q2MX", header).await;
    assert_eq!(status, 200, "{head}");
    let peers = site.games[0]
        .process
        .bound("listening for other game servers")
        .await;
    for path in ["/peer/game?g=K7Q2MX", "/status?g=K7Q2MX", PATH] {
        for header in ["accept: */*", "homeroom-peer: nonsense"] {
            let (status, head) = peers.head(path, header).await;
            assert_eq!(status, 401, "{head}");
        }
    }
    let (status, _) = site.at(0).get("/peer/game?g=K7Q2MX", None).await.unwrap();
    assert_eq!(status, 404, "clients reach no internal call");
    site.stop().await;
}

#[tokio::test]
async fn a_class_goes_on_at_another_server_when_its_own_is_killed_for_good() {
    let mut site = Site::open(2).await;
    let game = site.create(0).await;
    let mut first_host = site.host(0).await;
    let (mut ada, of_ada) = site.player(0, join("Ada")).await;
    // One of them came by way of the other server.
    let (mut bob, of_bob) = site.player(1, join("Bob")).await;
    first_host.say(json!({ "t": "start" })).await;
    ada.until("question").await;
    bob.until("question").await;
    ada.say(answer(0)).await;
    assert_eq!(ada.until("ack").await["saved"], true);
    let dead = site.games.remove(0);
    dead.process.kill();
    let killed = Instant::now();

    let (mut ada, state) = site.player(0, resume(&of_ada)).await;
    let back = killed.elapsed();
    assert!(back < Duration::from_secs(2), "back in play after {back:?}");
    let state = &state["state"];
    assert_eq!(
        (&state["phase"], &state["answered"]),
        (&json!("question"), &json!([0])),
        "{state}"
    );
    assert_eq!(state["epoch"], 2, "{state}");
    let (mut bob, state) = site.player(0, resume(&of_bob)).await;
    assert_eq!(state["state"].get("answered"), None, "{state}");
    let mut host = site.host(0).await;
    bob.say(answer(1)).await;
    assert_eq!(bob.until("ack").await["saved"], true);
    finish(&mut host, [&mut ada, &mut bob]).await;
    assert_played(&site.teacher.report(&site.api.public, &game).await, CODE);
    site.stop().await;
}

#[tokio::test]
async fn two_servers_that_take_a_game_up_at_once_agree_on_one() {
    let mut site = Site::open(3).await;
    site.create(0).await;
    let (ada, of_ada) = site.player(1, join("Ada")).await;
    let (bob, of_bob) = site.player(2, join("Bob")).await;
    drop((ada, bob));
    let dead = site.games.remove(0);
    dead.process.kill();
    let ((mut ada, one), (mut bob, two)) =
        tokio::join!(site.player(0, resume(&of_ada)), site.player(1, resume(&of_bob)));
    assert_eq!(
        (&one["state"]["epoch"], &two["state"]["epoch"]),
        (&json!(2), &json!(2))
    );
    let mut host = site.host(0).await;
    host.say(json!({ "t": "start" })).await;
    ada.until("question").await;
    bob.until("question").await;
    let restored = async |server: usize| {
        let (_, page) = site.games[server].admin.get_text("/metrics").await.unwrap();
        let line = page
            .lines()
            .find(|line| line.starts_with("homeroom_game_games_restored_total "));
        line.unwrap().rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(restored(0).await + restored(1).await, 1);
    site.stop().await;
}

#[tokio::test]
async fn a_result_is_saved_by_another_server_though_nobody_comes_back() {
    let mut site = Site::open(2).await;
    let game = site.create(0).await;
    let mut host = site.host(0).await;
    let (mut ada, _) = site.player(0, join("Ada")).await;
    let (mut bob, _) = site.player(0, join("Bob")).await;
    play_question(&mut host, [&mut ada, &mut bob]).await;
    site.api.process.kill();
    finish(&mut host, [&mut ada, &mut bob]).await;
    site.games[0]
        .until_metric("homeroom_game_result_saves_failed_total", |tries| tries >= 1)
        .await;
    let dead = site.games.remove(0);
    dead.process.kill();
    drop((host, ada, bob));
    site.api = site.cluster.api(Some(&site.api)).await;
    assert_played(&site.teacher.report(&site.api.public, &game).await, CODE);
    until("the lease's end", async || {
        let servers = site.redis.ask(&["HLEN", "pods"]).await;
        (servers == "1").then_some(())
    })
    .await;
    site.stop().await;
}

#[tokio::test]
async fn a_server_that_stood_still_until_it_lost_its_game_says_nothing_more_about_it() {
    let site = Site::open(2).await;
    let game = site.create(0).await;
    let mut first_host = site.host(0).await;
    let (mut zombies_ada, of_ada) = site.player(0, join("Ada")).await;
    let (bob, of_bob) = site.player(0, join("Bob")).await;
    first_host.say(json!({ "t": "start" })).await;
    zombies_ada.until("question").await;
    site.games[0].process.freeze().await;
    // It will read this when it goes on.
    zombies_ada.say(answer(1)).await;
    drop(bob);
    let (mut ada, _) = site.player(1, resume(&of_ada)).await;
    let (mut bob, _) = site.player(1, resume(&of_bob)).await;
    let mut host = site.host(1).await;
    ada.say(answer(0)).await;
    assert_eq!(ada.until("ack").await["saved"], true);
    site.games[0].process.thaw();
    for socket in [&mut zombies_ada, &mut first_host] {
        let (told, code) = socket.last_words().await;
        assert_eq!(code, Some(1012), "{told:?}");
        let is_marked =
            |frame: &Value| frame["saved"] == false || frame["t"] == "bye" || frame["t"] == "saving";
        let after = told
            .iter()
            .filter(|frame| frame["t"] != "question" && frame["t"] != "progress" && frame["t"] != "roster");
        assert!(after.clone().all(is_marked), "{told:?}");
    }
    site.games[0]
        .until_metric("homeroom_game_games_fenced_total", |fenced| fenced == 1)
        .await;
    // From now on it passes on what comes to it.
    let (mut again, state) = site.player(0, resume(&of_ada)).await;
    assert_eq!(
        (&state["state"]["epoch"], &state["state"]["answered"]),
        (&json!(2), &json!([0]))
    );
    bob.say(answer(1)).await;
    assert_eq!(bob.until("ack").await["saved"], true);
    finish(&mut host, [&mut again, &mut bob]).await;
    assert_played(&site.teacher.report(&site.api.public, &game).await, CODE);
    site.stop().await;
}

/// A class of two at the first server, with an open question that Ada has answered.
async fn class_in_a_question(site: &Site) -> (Socket, [Socket; 2], [Value; 2]) {
    let mut host = site.host(0).await;
    let (mut ada, of_ada) = site.player(0, join("Ada")).await;
    let (mut bob, of_bob) = site.player(0, join("Bob")).await;
    host.say(json!({ "t": "start" })).await;
    ada.until("question").await;
    bob.until("question").await;
    ada.say(answer(0)).await;
    assert_eq!(ada.until("ack").await["saved"], true);
    (host, [ada, bob], [of_ada, of_bob])
}

#[tokio::test]
async fn a_server_that_is_asked_to_stop_hands_its_class_over_at_the_results() {
    let mut site = Site::open(2).await;
    let game = site.create(0).await;
    let (mut first_host, [mut ada, mut bob], [of_ada, of_bob]) = class_in_a_question(&site).await;
    site.games[0].process.ask_to_stop();
    site.games[0].process.said("draining").await;
    until("unreadiness", async || {
        let (status, _) = site.games[0].admin.get_text("/ready").await?;
        (status == 503).then_some(())
    })
    .await;
    // The class goes on; a new one starts elsewhere, whoever asks.
    let (status, created) = site.teacher.create(site.at(0), "", "M7Q2KX").await;
    assert_eq!(status, 201, "{created}");
    let (status, _) = site.at(1).get("/status?g=M7Q2KX", None).await.unwrap();
    assert_eq!(status, 200);
    site.games[1]
        .until_metric("homeroom_game_games", |games| games == 1)
        .await;
    bob.say(answer(1)).await;
    assert_eq!(bob.until("ack").await["saved"], true);

    let asked = Instant::now();
    for (socket, last) in [
        (&mut first_host, "reveal"),
        (&mut ada, "result"),
        (&mut bob, "result"),
    ] {
        let (told, code) = socket.last_words().await;
        assert_eq!(code, Some(1012), "{told:?}");
        assert!(
            told.iter()
                .any(|frame| frame["t"] == last && frame.get("saved").is_none()),
            "{told:?}"
        );
        assert!(
            told.last().unwrap()["retry_ms"].as_u64().unwrap() <= 300,
            "{told:?}"
        );
    }
    let gone = site.games.remove(0);
    let (mut ada, state) = site.player(0, resume(&of_ada)).await;
    let away = asked.elapsed();
    assert!(away < Duration::from_secs(1), "without service for {away:?}");
    assert_eq!(
        (&state["state"]["phase"], &state["state"]["epoch"]),
        (&json!("results"), &json!(2))
    );
    let (mut bob, _) = site.player(0, resume(&of_bob)).await;
    let mut host = site.host(0).await;
    host.say(json!({ "t": "next", "q": 1 })).await;
    for socket in [&mut host, &mut ada, &mut bob] {
        socket.until("over").await;
    }
    assert_played(&site.teacher.report(&site.api.public, &game).await, CODE);
    gone.process.ended_well().await;
    site.stop().await;
}

#[tokio::test]
async fn a_server_that_is_asked_twice_to_stop_saves_an_open_question_and_gives_it_back() {
    let mut site = Site::open(2).await;
    let game = site.create(0).await;
    let (first_host, [mut ada, bob], [of_ada, of_bob]) = class_in_a_question(&site).await;
    let leaving = site.games.remove(0);
    leaving.process.ask_to_stop();
    leaving.process.said("draining").await;
    leaving.process.ask_to_stop();
    assert_eq!(ada.closed().await, Some(1012));
    leaving.process.ended_well().await;
    drop((first_host, bob));
    let (mut ada, state) = site.player(0, resume(&of_ada)).await;
    let state = &state["state"];
    assert_eq!(
        (&state["phase"], &state["answered"]),
        (&json!("question"), &json!([0])),
        "{state}"
    );
    let (mut bob, _) = site.player(0, resume(&of_bob)).await;
    let mut host = site.host(0).await;
    bob.say(answer(1)).await;
    finish(&mut host, [&mut ada, &mut bob]).await;
    assert_played(&site.teacher.report(&site.api.public, &game).await, CODE);
    site.stop().await;
}

#[tokio::test]
async fn a_question_that_lasts_longer_than_a_stop_waits_goes_over_open() {
    let mut site = Site::open(1).await;
    let hasty = site
        .cluster
        .member_with(
            "game-1",
            &site.api.internal,
            &site.redis.url(),
            &["--drain-max-s=1"],
        )
        .await;
    site.games.insert(0, hasty);
    site.create(0).await;
    let (_host, [mut ada, _bob], [of_ada, _]) = class_in_a_question(&site).await;
    let leaving = site.games.remove(0);
    leaving.process.ask_to_stop();
    assert_eq!(ada.closed().await, Some(1012));
    leaving
        .until_metric("homeroom_game_games_handed_over_total", |games| games == 1)
        .await;
    // It is there before the first phone is.
    site.games[0]
        .until_metric("homeroom_game_games", |games| games == 1)
        .await;
    let (_ada, state) = site.player(0, resume(&of_ada)).await;
    assert_eq!(
        (&state["state"]["phase"], &state["state"]["answered"]),
        (&json!("question"), &json!([0]))
    );
    leaving.process.ended_well().await;
    site.stop().await;
}

#[tokio::test]
async fn when_redis_restarts_empty_living_servers_write_their_games_again_and_nobody_is_turned_away() {
    let mut site = Site::open_on(Keep::Nothing, 2).await;
    let game = site.create(0).await;
    let (mut host, [mut ada, bob], [_, of_bob]) = class_in_a_question(&site).await;
    site.redis.kill().await;
    drop(bob);
    // Without Redis nobody can say whose game it is but the one who has it.
    let (status, shown) = site.at(1).get("/status?g=K7Q2MX", None).await.unwrap();
    assert_eq!((status, &shown["phase"]), (200, &json!("question")), "{shown}");
    site.redis.restart().await;
    // The game is known all the time, and its code is not free.
    let other = json!({ "quiz": { "id": site.teacher.quiz }, "key": "another" });
    let rewritten = async || {
        let (status, shown) = site.at(1).get("/status?g=K7Q2MX", None).await.unwrap();
        assert!(status == 200 || status == 503, "{status} {shown}");
        let path = format!("/games?g={CODE}");
        let (status, taken) = site.at(1).post(&path, Some(&site.teacher.token), &other).await;
        assert!(status == 409 || status == 503, "{status} {taken}");
        (site.redis.ask(&["EXISTS", "o:{K7Q2MX}"]).await == "1").then_some(())
    };
    until("the game in Redis", rewritten).await;
    let (mut bob, _) = site.player(1, resume(&of_bob)).await;
    bob.say(answer(1)).await;
    while bob.until("ack").await["saved"] != true {}
    finish(&mut host, [&mut ada, &mut bob]).await;
    assert_played(&site.teacher.report(&site.api.public, &game).await, CODE);
    site.games[0]
        .until_metric("homeroom_game_servers_leased", |servers| servers == 2)
        .await;
    site.stop().await;
}

/// In the middle of an upgrade, or of the way back.
#[tokio::test]
async fn a_game_of_a_newer_release_is_left_to_a_server_that_reads_it() {
    let mut site = Site::open(2).await;
    site.create(0).await;
    site.games.remove(0).process.kill();
    let newer = "\u{9}what this release cannot read";
    site.redis.ask(&["HSET", "s:{K7Q2MX}", "b", newer]).await;
    let server = "game-9:00000000-0000-0000-0000-000000000009";
    site.redis.ask(&["HSET", "pods", server, "9:127.0.0.1:1"]).await;
    site.redis.ask(&["SET", &format!("pod:{server}"), "1"]).await;
    until("the server that reads it", async || {
        let (status, head) = site
            .at(0)
            .head("/status?g=K7Q2MX", "homeroom-follows-owner: 1")
            .await;
        assert!(status == 421 || status == 503, "{head}");
        head.contains("homeroom-owner: game-9\r\n").then_some(())
    })
    .await;
    assert_eq!(
        site.redis.ask(&["HGET", "o:{K7Q2MX}", "e"]).await,
        "1",
        "nobody claimed it"
    );
    // Without such a server it is told as lost.
    site.redis.ask(&["DEL", &format!("pod:{server}")]).await;
    until("the truth", async || {
        let (status, _) = site.at(0).get("/status?g=K7Q2MX", None).await?;
        (status == 410).then_some(())
    })
    .await;
    assert_eq!(
        site.redis.ask(&["HGET", "s:{K7Q2MX}", "b"]).await,
        newer,
        "it is left as it is"
    );
}
