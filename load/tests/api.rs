//! Short runs of the scenarios that ask the API, against the real servers and a PostgreSQL of the run's own: what must be 0 is 0, and what
//! must be counted is. Times are for `./test --long overload`, `dashboard`, `nine`, `e2e` and `storage`.

#[path = "support/short_run.rs"]
mod short_run;

use short_run::Run;

const SERVERS: [&str; 2] = ["game-server", "api"];

#[test]
fn an_overloaded_api_refuses_what_it_cannot_do_and_nothing_else_goes_wrong() {
    let run = Run::of(&SERVERS, &["overload"]).expect_right();
    assert!(run.number("counts", "calls refused, 5x") > 100, "{}", run.said);
    // How much it does is a matter of the machine's speed; who goes first is not.
    let share = |class: &str| {
        let of = |what: &str| run.number("counts", &format!("calls {what}, {class} at 5x"));
        of("served") * 100 / of("offered").max(1)
    };
    assert!(
        share("P0") > 50 && share("P0") > 2 * share("P3"),
        "P0 {} %, P3 {} %\n{}",
        share("P0"),
        share("P3"),
        run.said
    );
    assert!(run.number("counts", "classes started") > 5, "{}", run.said);
}

/// The check can fail: without admission nobody is told to come back, and everybody waits.
#[test]
fn an_api_without_admission_serves_game_servers_no_better_than_others() {
    let run = Run::of(&SERVERS, &["overload", "--no-admission"]);
    let (offered, good) = (
        run.number("counts", "calls offered, P0 at 5x"),
        run.number("counts", "calls served in time, P0 at 5x"),
    );
    assert!(good * 2 < offered, "{good} of {offered} in time\n{}", run.said);
}

#[test]
fn dashboards_count_what_was_saved_and_nobody_is_refused() {
    let run = Run::of(&SERVERS, &["dashboard"]).expect_right();
    assert_eq!(run.number("counts", "quizzes"), 4 * 5, "{}", run.said);
    assert!(
        run.number("counts", "calls served, cached, most") > 100,
        "{}",
        run.said
    );
}

#[test]
fn at_nine_o_clock_everybody_is_let_in_and_one_who_asks_too_much_is_told_when_to_come_back() {
    let run = Run::of(&SERVERS, &["nine"]).expect_right();
    assert_eq!(run.number("counts", "joined"), 12 * 30, "{}", run.said);
    assert_eq!(
        run.number("counts", "refusals of one teacher's thirty games"),
        10,
        "{}",
        run.said
    );
}

#[test]
fn another_api_shows_a_result_as_soon_as_it_is_saved() {
    let run = Run::of(&SERVERS, &["e2e"]).expect_right();
    assert_eq!(run.number("counts", "rounds"), 3, "{}", run.said);
}

#[test]
fn a_database_that_is_killed_or_stands_still_loses_no_result_and_makes_nobody_wrong() {
    let run = Run::of(&SERVERS, &["storage"]).expect_right();
    assert_eq!(
        (run.number("counts", "kills"), run.number("counts", "freezes")),
        (1, 1),
        "{}",
        run.said
    );
    assert!(
        run.number("counts", "calls refused") > 0,
        "it was felt\n{}",
        run.said
    );
    assert!(run.number("counts", "results sent") > 5, "{}", run.said);
}
