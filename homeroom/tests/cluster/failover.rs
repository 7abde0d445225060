//! A Redis that goes back in time: a replica takes over that missed the last writes, or it restarts empty. As long as a game's server
//! lives nothing that was acked is lost; when it is gone as well, the class is told.

use serde_json::{Value, json};

use crate::client::{Http, Socket};
use crate::processes::{Api, Cluster, Game, until};
use crate::redis_server::{Keep, RedisServer};
use crate::several::{CODE, PATH, host_at, join, player_at, resume};
use crate::switch::Switch;
use crate::{Teacher, assert_played};

const OWNER: &str = "o:{K7Q2MX}";
const REWRITTEN: &str = "homeroom_game_games_rewritten_total";
const REWOUND: &str = "homeroom_game_games_rewound_total";
const LOST: &str = "homeroom_game_games_lost_total";
const FENCED: &str = "homeroom_game_games_fenced_total";

/// A Redis with a replica, and the address under which the servers know whoever leads.
struct Pair {
    primary: RedisServer,
    replica: RedisServer,
    replication: Switch,
    front: Switch,
}

impl Pair {
    async fn start() -> Self {
        let primary = RedisServer::start(Keep::Nothing).await;
        let replication = Switch::to(primary.port()).await;
        let from = replication.port().to_string();
        let replica = RedisServer::start_with(Keep::Nothing, |_| {
            vec!["--replicaof".to_owned(), "127.0.0.1".to_owned(), from]
        })
        .await;
        let pair = Self {
            front: Switch::to(primary.port()).await,
            primary,
            replica,
            replication,
        };
        pair.follow().await;
        pair
    }

    /// Waits until the replica has all that the primary has.
    async fn follow(&self) {
        until("a replica that is in step", async || {
            let own = self.primary.info("master_repl_offset").await;
            let there = self.replica.info("slave_repl_offset").await;
            let linked = self.replica.ask(&["INFO", "replication"]).await;
            (own == there && linked.contains("master_link_status:up")).then_some(())
        })
        .await;
    }

    /// From now on the replica misses what is written.
    async fn cut(&self) {
        self.follow().await;
        self.replication.lead(None);
    }

    /// The primary dies; nobody leads.
    async fn lose_primary(&mut self) {
        self.front.lead(None);
        self.primary.kill().await;
    }

    async fn promote(&self) {
        assert_eq!(self.replica.ask(&["REPLICAOF", "NO", "ONE"]).await, "OK");
        self.front.lead(Some(self.replica.port()));
    }

    async fn fail_over(&mut self) {
        self.lose_primary().await;
        self.promote().await;
    }

    /// A field of the owner record at the one that leads now.
    async fn owner(&self, field: &str) -> String {
        self.replica.ask(&["HGET", OWNER, field]).await
    }
}

/// An API, some game servers, and a teacher.
struct Site {
    api: Api,
    /// Holds the processes' files.
    _cluster: Cluster,
    games: Vec<Game>,
    teacher: Teacher,
    game: Value,
}

impl Site {
    /// With a game at the first server.
    async fn open(servers: usize, redis: u16) -> Self {
        let cluster = Cluster::new();
        let api = cluster.api(None).await;
        let teacher = Teacher::sign_up(&api.public).await;
        let url = format!("redis://127.0.0.1:{redis}");
        let mut games = Vec::new();
        for index in 0..servers {
            games.push(
                cluster
                    .member(&format!("game-{index}"), &api.internal, &url)
                    .await,
            );
        }
        let (status, created) = teacher.create(&games[0].public, "", CODE).await;
        assert_eq!(status, 201, "{created}");
        Self {
            api,
            _cluster: cluster,
            games,
            teacher,
            game: created["game"].clone(),
        }
    }

    fn at(&self, server: usize) -> &Http {
        &self.games[server].public
    }

    async fn host(&self, server: usize) -> (Socket, Value) {
        host_at(self.at(server), PATH, &self.teacher).await
    }

    async fn player(&self, server: usize, first: Value) -> (Socket, Value) {
        player_at(self.at(server), PATH, first).await
    }

    /// A host, Ada and Bob with the question open.
    async fn begin(&self) -> (Socket, [Socket; 2], [Value; 2]) {
        let (mut host, _) = self.host(0).await;
        let (mut ada, of_ada) = self.player(0, join("Ada")).await;
        let (mut bob, of_bob) = self.player(0, join("Bob")).await;
        host.say(json!({ "t": "start" })).await;
        ada.until("question").await;
        bob.until("question").await;
        (host, [ada, bob], [of_ada, of_bob])
    }

    async fn assert_played(&self) {
        assert_played(&self.teacher.report(&self.api.public, &self.game).await, CODE);
    }
}

async fn answer(player: &mut Socket, choice: u8) {
    player
        .say(json!({ "t": "answer", "q": 1, "choice": choice }))
        .await;
    while player.until("ack").await["saved"] != true {}
}

/// From the results to the podium.
async fn finish(host: &mut Socket) {
    host.say(json!({ "t": "next", "q": 1 })).await;
    host.until("over").await;
}

#[tokio::test]
async fn a_tail_that_a_failover_lost_is_written_again_by_its_living_owner() {
    let mut redis = Pair::start().await;
    let mut site = Site::open(2, redis.front.port()).await;
    let (mut host, [mut ada, mut bob], _) = site.begin().await;
    redis.cut().await;
    answer(&mut ada, 0).await;
    answer(&mut bob, 1).await;
    host.until("reveal").await;
    redis.fail_over().await;
    site.games[0].until_metric(REWRITTEN, |times| times >= 1).await;
    assert_eq!(redis.owner("e").await, "2", "a higher epoch");
    // Everything is in the new one: the owner can go.
    site.games.remove(0).process.kill();
    let (mut host, state) = site.host(0).await;
    assert_eq!(state["state"].get("rewound"), None, "{state}");
    finish(&mut host).await;
    site.assert_played().await;
}

#[tokio::test]
async fn an_owner_whose_claim_a_failover_lost_goes_on() {
    let mut redis = Pair::start().await;
    let mut site = Site::open(2, redis.front.port()).await;
    let (first_host, [mut ada, bob], [of_ada, of_bob]) = site.begin().await;
    answer(&mut ada, 0).await;
    redis.cut().await;
    site.games.remove(0).process.kill();
    drop((first_host, ada, bob));
    let (mut host, state) = site.host(0).await;
    assert_eq!(state["state"]["epoch"], 2);
    let (mut ada, _) = site.player(0, resume(&of_ada)).await;
    let (mut bob, _) = site.player(0, resume(&of_bob)).await;
    // The record says game-0 again.
    redis.fail_over().await;
    until("the living owner in the record", async || {
        (redis.owner("p").await == "game-1").then_some(())
    })
    .await;
    assert!(redis.owner("e").await.parse::<u32>().unwrap() > 2);
    // On the same sockets.
    answer(&mut bob, 1).await;
    host.until("reveal").await;
    finish(&mut host).await;
    ada.until("over").await;
    site.assert_played().await;
    site.games[0].until_metric(FENCED, |games| games == 0).await;
}

#[tokio::test]
async fn of_two_holders_after_a_failover_the_one_with_the_higher_epoch_goes_on() {
    let mut redis = Pair::start().await;
    let site = Site::open(2, redis.front.port()).await;
    let (mut zombies_host, [mut zombies_ada, bob], [of_ada, of_bob]) = site.begin().await;
    redis.cut().await;
    site.games[0].process.freeze().await;
    drop(bob);
    let (mut host, _) = site.host(1).await;
    let (mut ada, _) = site.player(1, resume(&of_ada)).await;
    let (mut bob, _) = site.player(1, resume(&of_bob)).await;
    answer(&mut ada, 0).await;
    // It goes on without a store, as the owner that the replica knows.
    redis.lose_primary().await;
    site.games[0].process.thaw();
    site.games[0]
        .until_metric("homeroom_game_standstills_total", |times| times >= 1)
        .await;
    redis.promote().await;
    for socket in [&mut zombies_ada, &mut zombies_host] {
        let (told, code) = socket.last_words().await;
        assert_eq!(code, Some(1012), "{told:?}");
        assert!(told.iter().all(|frame| frame["t"] != "reveal"), "{told:?}");
    }
    site.games[0].until_metric(FENCED, |games| games == 1).await;
    until("the higher one in the record", async || {
        (redis.owner("p").await == "game-1").then_some(())
    })
    .await;
    answer(&mut bob, 1).await;
    host.until("reveal").await;
    finish(&mut host).await;
    site.assert_played().await;
    site.games[1].until_metric(FENCED, |games| games == 0).await;
}

#[tokio::test]
async fn a_tail_that_is_lost_with_its_owner_is_counted_and_told_and_the_class_goes_on() {
    let mut redis = Pair::start().await;
    let mut site = Site::open(2, redis.front.port()).await;
    let (first_host, [mut ada, mut bob], [of_ada, of_bob]) = site.begin().await;
    answer(&mut ada, 0).await;
    redis.cut().await;
    answer(&mut bob, 1).await;
    redis.lose_primary().await;
    site.games.remove(0).process.kill();
    redis.promote().await;
    drop((first_host, ada, bob));
    let (mut bob, state) = site.player(0, resume(&of_bob)).await;
    let state = &state["state"];
    assert_eq!(
        (&state["rewound"], state.get("answered")),
        (&json!(true), None),
        "{state}"
    );
    assert!(
        state["epoch"].as_u64().unwrap() > 1_000,
        "reserved at the API: {state}"
    );
    let (mut host, state) = site.host(0).await;
    assert_eq!(state["state"]["rewound"], true, "{state}");
    site.games[0].until_metric(REWOUND, |games| games == 1).await;
    let (_, page) = site.api.admin.get_text("/metrics").await.unwrap();
    assert!(page.contains("homeroom_api_epochs_reserved_total 1"), "{page}");
    // What is left is right, and the phone sends its answer again.
    let (_ada, state) = site.player(0, resume(&of_ada)).await;
    assert_eq!(state["state"]["answered"], json!([0]), "{state}");
    answer(&mut bob, 1).await;
    host.until("reveal").await;
    finish(&mut host).await;
    site.assert_played().await;
}

#[tokio::test]
async fn a_game_that_is_over_is_not_played_again_when_a_failover_brings_it_back() {
    let mut redis = Pair::start().await;
    let mut site = Site::open(2, redis.front.port()).await;
    let (mut host, [mut ada, mut bob], [of_ada, _]) = site.begin().await;
    redis.cut().await;
    answer(&mut ada, 0).await;
    answer(&mut bob, 1).await;
    host.until("reveal").await;
    finish(&mut host).await;
    site.assert_played().await;
    redis.lose_primary().await;
    site.games.remove(0).process.kill();
    redis.promote().await;
    // Whoever comes back to it is told so, and so is the store.
    let (told, code) = come_back(site.at(0), &resume(&of_ada)).await;
    assert_eq!(code, Some(1000), "{told:?}");
    assert_eq!(told.last().unwrap()["reason"], "ended", "{told:?}");
    assert_eq!(redis.replica.ask(&["EXISTS", OWNER]).await, "0");
    site.assert_played().await;
}

/// The one that lost its game while it stood still must not write it again when nobody else is to be seen in the store.
#[tokio::test]
async fn of_two_holders_in_an_emptied_redis_the_one_with_the_higher_epoch_goes_on() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let site = Site::open(2, redis.port()).await;
    let (zombies_host, _) = site.host(0).await;
    let (_zombies_ada, _) = site.player(0, join("Ada")).await;
    site.games[0].process.freeze().await;
    // In the lobby nothing is written while nobody does anything.
    let (mut cy, of_cy) = site.player(1, join("Cy")).await;
    assert_eq!(of_cy["state"]["epoch"], 2);
    assert_eq!(redis.ask(&["FLUSHALL"]).await, "OK");
    site.games[0].process.thaw();
    site.games[0].until_metric(FENCED, |games| games == 1).await;
    until("the living owner in the record", async || {
        (redis.ask(&["HGET", OWNER, "p"]).await == "game-1").then_some(())
    })
    .await;
    cy.say(json!({ "t": "ping" })).await;
    cy.until("pong").await;
    let (_host, state) = site.host(1).await;
    assert_eq!(state["state"]["roster"].as_array().unwrap().len(), 2, "{state}");
    site.games[1].until_metric(FENCED, |games| games == 0).await;
    drop(zombies_host);
}

#[tokio::test]
async fn a_game_that_redis_lost_with_its_owner_is_told_to_everyone_as_lost() {
    told_as_lost(async |redis| {
        redis.kill().await;
        redis.restart().await;
    })
    .await;
}

/// Redis is the run that it was, and ends no connection.
#[tokio::test]
async fn a_game_that_was_flushed_with_its_owner_is_told_to_everyone_as_lost() {
    told_as_lost(async |redis| assert_eq!(redis.ask(&["FLUSHALL"]).await, "OK")).await;
}

async fn told_as_lost(lose: impl AsyncFnOnce(&mut RedisServer)) {
    let mut redis = RedisServer::start(Keep::Nothing).await;
    let mut site = Site::open(2, redis.port()).await;
    let (mut host, [ada, bob], [of_ada, of_bob]) = site.begin().await;
    host.say(json!({ "t": "ticket" })).await;
    let ticket = host.until("ticket").await["ticket"].clone();
    site.games.remove(0).process.kill();
    drop((host, ada, bob));
    lose(&mut redis).await;
    let host = json!({ "t": "host", "token": site.teacher.token, "ticket": ticket });
    let screen = json!({ "t": "screen", "ticket": ticket });
    for first in [resume(&of_ada), resume(&of_bob), host, screen] {
        let (told, code) = come_back(site.at(0), &first).await;
        assert_eq!(code, Some(4404), "{told:?}");
        assert_eq!(told, [json!({ "t": "error", "code": "game_lost" })]);
    }
    site.games[0].until_metric(LOST, |games| games == 1).await;
    // Who cannot show that there was one has a wrong code.
    let stranger = json!({ "t": "host", "token": site.teacher.token });
    for first in [join("Eve"), stranger] {
        let (told, code) = come_back(site.at(0), &first).await;
        assert_eq!(
            (told, code),
            (vec![json!({ "t": "error", "code": "no_such_game" })], Some(4404))
        );
    }
    // The code is free again.
    let (status, created) = site.teacher.create(site.at(0), "", CODE).await;
    assert_eq!(status, 201, "{created}");
}

/// Reconnects as a page does, until something final is said.
async fn come_back(at: &Http, first: &Value) -> (Vec<Value>, Option<u16>) {
    until("a last word", async || {
        let mut socket = Socket::open_again(at, PATH).await;
        socket.say(first.clone()).await;
        let (told, code) = socket.last_words().await;
        (code != Some(1012)).then_some((told, code))
    })
    .await
}
