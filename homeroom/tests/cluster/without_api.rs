//! An API that is away: what starts all the same, and results that wait for it whatever becomes of the servers that made them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::processes::{Cluster, Game};
use crate::several::{CODE, Site, finish, join, play_question};
use crate::{Teacher, assert_played, play};

const PENDING: &str = "homeroom_game_results_pending";

/// A class of two at a server, whose API is killed before it comes to the podium. Everybody leaves then.
async fn podium_without_api(site: &Site, server: usize) -> Value {
    let game = site.create(server).await;
    let mut host = site.host(server).await;
    let (mut ada, _) = site.player(server, join("Ada")).await;
    let (mut bob, _) = site.player(server, join("Bob")).await;
    play_question(&mut host, [&mut ada, &mut bob]).await;
    site.api.process.kill();
    finish(&mut host, [&mut ada, &mut bob]).await;
    site.games[server]
        .until_metric(PENDING, |pending| pending == 1)
        .await;
    game
}

/// The result is in the library, once, and nobody refused anything.
async fn assert_saved_once(site: &Site, game: &Value) {
    assert_played(&site.teacher.report(&site.api.public, game).await, CODE);
    for server in &site.games {
        server.until_metric(PENDING, |pending| pending == 0).await;
        server
            .until_metric("homeroom_game_results_refused_total", |refused| refused == 0)
            .await;
    }
    let (_, page) = site.api.admin.get_text("/metrics").await.unwrap();
    assert!(
        page.contains("\nhomeroom_api_results_refused_total 0\n"),
        "{page}"
    );
    assert!(page.contains("\nhomeroom_api_results_saved_total 1\n"), "{page}");
    assert_eq!(site.teacher.library(&site.api.public).await.len(), 1);
}

#[tokio::test]
async fn a_class_starts_plays_and_ends_on_fresh_servers_while_the_api_is_away() {
    let mut site = Site::open(0).await;
    let signed = site.teacher.signed(&site.api.public).await;
    site.api.process.kill();
    // They know the API's public keys by their file, and the API by nothing.
    for name in ["game-0", "game-1"] {
        let server = site.member(name).await;
        site.games.push(server);
    }
    let (status, refused) = site.teacher.create(site.at(0), "", CODE).await;
    assert_eq!((status, &refused["code"]), (503, &json!("api-unavailable")));
    let (status, created) = site.teacher.create_signed(site.at(0), CODE, &signed).await;
    assert_eq!((status, &created["players_max"]), (201, &json!(500)), "{created}");

    let mut host = site.host(1).await;
    let (mut ada, _) = site.player(0, join("Ada")).await;
    let (mut bob, _) = site.player(1, join("Bob")).await;
    for ack in play_question(&mut host, [&mut ada, &mut bob]).await {
        assert_eq!(ack["saved"], true);
    }
    finish(&mut host, [&mut ada, &mut bob]).await;
    host.say(json!({ "t": "finish" })).await;
    assert_eq!(host.closed().await, Some(1000));
    site.games[0]
        .until_metric("homeroom_game_result_saves_failed_total", |tries| tries >= 2)
        .await;
    site.games[0].until_metric(PENDING, |pending| pending == 1).await;
    site.games[0]
        .until_metric("homeroom_game_starts_unchecked_total", |starts| starts == 1)
        .await;

    // What happened to it is told without the API, too, whichever server is asked.
    let (status, told) = site
        .at(1)
        .get(&format!("/timeline?g={CODE}"), Some(&site.teacher.token))
        .await
        .unwrap();
    assert_eq!((status, &told["game"]), (200, &created["game"]), "{told}");

    site.api = site.cluster.api(Some(&site.api)).await;
    assert_saved_once(&site, &created["game"]).await;
    site.stop().await;
}

#[tokio::test]
async fn a_result_outlives_the_stop_of_every_server_while_the_api_is_away() {
    let mut site = Site::open(2).await;
    let game = podium_without_api(&site, 0).await;
    // The first one gives it to the second one and does not wait for the API.
    let asked = Instant::now();
    let first = site.games.remove(0);
    first.process.ask_to_stop();
    first.process.ended_well().await;
    assert!(asked.elapsed() < Duration::from_secs(8), "{:?}", asked.elapsed());
    site.games[0].until_metric(PENDING, |pending| pending == 1).await;
    // The second one has nobody to give it to.
    let second = site.games.remove(0);
    second.process.ask_to_stop();
    second.process.ended_well().await;
    let third = site.member("game-2").await;
    third.until_metric(PENDING, |pending| pending == 1).await;
    site.games.push(third);
    site.api = site.cluster.api(Some(&site.api)).await;
    assert_saved_once(&site, &game).await;
    site.stop().await;
}

#[tokio::test]
async fn a_result_outlives_the_kill_of_every_server_while_the_api_is_away() {
    let mut site = Site::open(2).await;
    let game = podium_without_api(&site, 0).await;
    for server in site.games.drain(..) {
        server.process.kill();
    }
    site.api = site.cluster.api(Some(&site.api)).await;
    let later = site.member("game-7").await;
    site.games.push(later);
    // Nobody comes back to the game: a sweep finds it.
    assert_saved_once(&site, &game).await;
    // Who had the game, and when its result arrived, is told to its teacher and to operators.
    let (_, told) = site
        .api
        .public
        .get("/store/timelines?code=K7Q2MX", Some(&site.teacher.token))
        .await
        .unwrap();
    let timeline = &told["items"][0];
    assert_eq!(timeline["game"], game, "{told}");
    let events: Vec<&Value> = timeline["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["what"])
        .collect();
    for (server, epoch) in [("game-0", 1), ("game-7", 2)] {
        assert!(
            events.contains(&&json!({ "t": "owner", "server": server, "epoch": epoch })),
            "{told}"
        );
    }
    for t in ["created", "opened", "closed", "over", "result_saved"] {
        assert_eq!(
            events.iter().filter(|event| event["t"] == t).count(),
            1,
            "{t}: {told}"
        );
    }
    let printed = site.cluster.prints(
        "api",
        &["timeline", "k7q-2mx", "--database=sqlite:api.db", "--log=off"],
    );
    assert_eq!(&serde_json::from_str::<Value>(&printed).unwrap(), timeline);
    let none = ["timeline", "k7q2mz", "--database=sqlite:api.db", "--log=off"];
    let said = site.cluster.refuses("api", &none);
    assert!(said.contains("no game that was played under K7Q2MZ"), "{said}");
    for command in [
        &["timeline", CODE][..],
        &[
            "reset-link",
            "ben@school.example",
            "--public-url=https://quiz.example",
        ],
    ] {
        let mistyped = ["--database=sqlite:apj.db", "--log=off"];
        let said = site.cluster.refuses("api", &[command, &mistyped].concat());
        assert!(said.contains("there is no database at apj.db"), "{said}");
        assert!(!site.cluster.folder.path().join("apj.db").exists());
    }
    site.stop().await;
}

#[tokio::test]
async fn a_result_is_saved_by_the_next_run_of_a_server_that_is_alone() {
    let redis = crate::redis_server::RedisServer::start(crate::redis_server::Keep::AppendOnly).await;
    let cluster = Cluster::new();
    let mut api = cluster.api(None).await;
    let teacher = Teacher::sign_up(&api.public).await;
    let signed = teacher.signed(&api.public).await;
    api.process.kill();
    let start = || cluster.start_game_on("game-0", &api.internal, &redis.url());
    let game = Game::of(start()).await;
    let (status, created) = teacher.create_signed(&game.public, CODE, &signed).await;
    assert_eq!(status, 201, "{created}");
    play(&teacher, &game.public, "", CODE).await;
    game.until_metric(PENDING, |pending| pending == 1).await;
    // Killed once, stopped once, while nobody takes the result.
    game.process.kill();
    let game = Game::of(start()).await;
    game.until_metric(PENDING, |pending| pending == 1).await;
    game.process.ask_to_stop();
    game.process.ended_well().await;
    let game = Game::of(start()).await;
    game.until_metric(PENDING, |pending| pending == 1).await;
    api = cluster.api(Some(&api)).await;
    assert_played(&teacher.report(&api.public, &created["game"]).await, CODE);
    game.until_metric(PENDING, |pending| pending == 0).await;
    assert_eq!(teacher.library(&api.public).await.len(), 1);
}

#[tokio::test]
async fn a_server_without_a_store_waits_for_the_api_with_its_result_in_hand() {
    let cluster = Cluster::new();
    let mut api = cluster.api(None).await;
    let game = cluster.game("game-0", &api.internal).await;
    let teacher = Teacher::sign_up(&api.public).await;
    let (_, created) = teacher.create(&game.public, "", CODE).await;
    api.process.kill();
    play(&teacher, &game.public, "", CODE).await;
    game.until_metric(PENDING, |pending| pending == 1).await;
    // Whoever has it next is nobody: it is tried as long as a stop may take.
    game.process.ask_to_stop();
    api = cluster.api(Some(&api)).await;
    assert_played(&teacher.report(&api.public, &created["game"]).await, CODE);
    game.process.ended_well().await;
}

#[tokio::test]
async fn two_servers_that_save_one_result_save_it_once() {
    let mut site = Site::open(2).await;
    let game = site.create(0).await;
    let mut host = site.host(0).await;
    let (mut ada, _) = site.player(0, join("Ada")).await;
    let (mut bob, _) = site.player(0, join("Bob")).await;
    play_question(&mut host, [&mut ada, &mut bob]).await;
    // It takes calls and answers none.
    site.api.process.freeze().await;
    finish(&mut host, [&mut ada, &mut bob]).await;
    site.games[0].until_metric(PENDING, |pending| pending == 1).await;
    let first = site.games.remove(0);
    first.process.kill();
    site.games[0].until_metric(PENDING, |pending| pending == 1).await;
    site.api.process.thaw();
    assert_saved_once(&site, &game).await;
    site.stop().await;
}
