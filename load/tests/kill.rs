//! Short runs against the real servers: kills in both places where games are kept, a kill after which another server takes over,
//! and connections that nothing keeps together. `./test --long kill`, `takeover`, `round-robin` and others do more, with optimised
//! binaries.

#[path = "support/short_run.rs"]
mod short_run;

use short_run::Run;

const SERVERS: [&str; 4] = ["homeroom", "game-server", "api", "ingress-proxy"];

/// Kills, and tells what they met.
#[allow(clippy::print_stdout, reason = "the test shows its ledger")]
fn kill(what: &str, kills: u64, arguments: &[&str]) -> Run {
    let run = Run::of(&SERVERS, &[&["kill"], arguments].concat()).expect_right();
    let of = |kind: &str, name: &str| run.number(kind, name);
    assert_eq!(of("counts", "kills"), kills, "{}", run.said);
    let acked = of("ledger", "acked");
    assert!(acked > 500, "a class of 30 alone answers 200 times: {}", run.said);
    println!(
        "{what}: {kills} kills, {} of them met {} answers in flight; {acked} acked, {} lost, {} doubled, {} wrong, {} never settled",
        of("counts", "kills with answers in flight"),
        of("counts", "answers in flight at a kill"),
        of("ledger", "lost"),
        of("ledger", "doubled"),
        of("ledger", "wrong_choice")
            + of("ledger", "wrong_time")
            + of("ledger", "wrong_score")
            + of("ledger", "phantom"),
        of("ledger", "unsettled"),
    );
    run
}

#[test]
fn five_kills_of_the_one_process_lose_nothing() {
    kill("embedded", 5, &[]);
}

#[test]
fn five_kills_of_a_game_server_with_redis_lose_nothing() {
    kill("redis", 5, &["--games", "1", "--apis", "1", "--store", "redis"]);
}

const CLUSTER: [&str; 6] = ["--games", "2", "--apis", "1", "--store", "redis"];

#[test]
fn games_of_a_killed_server_go_on_at_another_one() {
    let more = ["--proxies", "2", "--no-restart", "--kills", "2", "--classes", "6"];
    let run = kill("another server", 2, &[&CLUSTER[..], &more].concat());
    assert!(run.number("counts", "games taken up") > 0, "{}", run.said);
}

#[test]
fn classes_that_nothing_keeps_together_play_to_the_end_and_the_alarm_metric_tells() {
    let more = [
        "--round-robin",
        "--classes",
        "4",
        "--stages",
        "1",
        "--climb",
        "5",
        "--hold",
        "5",
    ];
    let run = Run::of(&SERVERS, &[&["ramp"], &CLUSTER[..], &more].concat()).expect_right();
    assert!(
        run.number("counts", "calls passed on by game servers") >= 31,
        "{}",
        run.said
    );
}
