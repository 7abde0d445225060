//! The bars of `kill` and `rolling`, and their table.

use super::{Blow, Figures, Timing};
use crate::measure::{Micros, Quantiles, Tally};
use crate::report::{Figure, Measured, Table, bars};

/// From so many blows on it is judged how many met answers in flight; fewer say too little.
const MANY_KILLS: u32 = 50;
/// Share of them that may meet none: a run whose blows meet nothing proves nothing.
const SHARE_WITHOUT_MAX: f64 = 0.4;

/// What merges, and what it is judged by.
pub(super) fn measured(figures: &Figures, timing: &Timing, tally: &Tally, down: &Micros) -> Measured {
    let mut measured = Measured::default();
    let (asked, blow, plural) = (timing.kills, timing.blow, timing.blow.plural());
    let not_done = u64::from(asked).saturating_sub(figures.kills);
    // Who stops hands its games over when nothing is on its way.
    if asked >= MANY_KILLS && blow != Blow::Stop {
        let name = &format!("{plural} that met no answer in flight");
        measured.count(name, figures.kills - figures.kills_with_answers_in_flight);
        let limit = f64::from(asked) * SHARE_WITHOUT_MAX;
        measured.bar(name, Figure::Count { name: name.clone() }, limit, "");
    }
    measured.count(plural, figures.kills);
    let in_flight = format!("{plural} with answers in flight");
    measured.count(&in_flight, figures.kills_with_answers_in_flight);
    measured.count("answers in flight at a kill", figures.in_flight);
    measured.count("sockets lost", figures.cut_off);
    measured.count("sockets given up for silence", figures.silent);
    measured.count("sockets closed as moved", figures.closed_as_moved);
    for (name, &n) in &figures.servers {
        measured.count(name, n);
    }
    let fenced = figures.servers.get("games fenced").copied();
    if blow == Blow::Freeze
        && let Some(fenced) = fenced
    {
        measured.zero("freezes after which no game was fenced", u64::from(fenced == 0));
    }
    measured.count("answers sent again", figures.sent_again);
    measured.count("attempts to connect that failed", tally.failed_attempts);
    measured.count("joinings taken back", figures.joins_taken_back);
    for (phase, &kills) in &figures.kills_by_phase {
        measured.count(&format!("{plural} in phase {phase}"), kills);
    }
    measured.zero(&format!("{plural} not carried out"), not_done);
    measured.zero("members not back", figures.never_back);
    figures.ending.enter(&mut measured);
    measured.must_be_faultless(&tally.faults, &figures.fault_examples);
    measured.times("down", "all kills", down);
    measured.times("back", "all kills", &tally.back);
    measured.times("without service", "all kills", &tally.without_service);
    measured.times("join", "all kills", &tally.join);
    measured.times("ack", "all kills", &tally.ack);
    judge_back(&mut measured, blow);
    measured
}

/// How soon everybody has to be back.
fn judge_back(measured: &mut Measured, blow: Blow) {
    let back = |percent: f64| Figure::Percentile {
        name: "back".to_owned(),
        phase: "all kills".to_owned(),
        percent,
    };
    let name = "back in play, p99";
    match blow {
        // It takes as long as a supervisor likes.
        Blow::Kill => measured.target(name, back(99.0), bars::BACK_MS_MAX, "ms"),
        Blow::KillForGood => {
            measured.bar(name, back(99.0), bars::BACK_MS_MAX, "ms");
            measured.target(name, back(99.0), bars::BACK_MS_TARGET, "ms");
        }
        Blow::Cut => {
            measured.bar(name, back(99.0), bars::BACK_AFTER_CUT_MS_MAX, "ms");
            measured.target(name, back(99.0), bars::BACK_AFTER_CUT_MS_TARGET, "ms");
        }
        // At the latest the zombie itself says that the game has moved.
        Blow::Freeze => {}
        Blow::Stop => measured.bar(
            "back in play, the last",
            back(100.0),
            bars::BACK_AFTER_STOP_MS_MAX,
            "ms",
        ),
    }
}

pub(super) fn table(figures: &Figures, blow: Blow) -> Table {
    let mut table = Table::new(&[
        blow.plural(),
        "with answers in flight",
        "answers in flight",
        "games",
        "sockets lost",
        "down p50/max ms",
        "back p50/p95/p99/max ms",
        "without service p50/max ms",
        "never back",
        "sent again",
        "sent/acked/refused/refused but saved",
        "lost/doubled/wrong/never settled",
    ]);
    let back = figures.back.as_ref().map_or_else(String::new, Quantiles::four_ms);
    let middle_and_most = |q: Option<&Quantiles>| q.map_or_else(String::new, Quantiles::middle_and_most_ms);
    let down = middle_and_most(figures.down.as_ref());
    let without_service = middle_and_most(figures.without_service.as_ref());
    let [answers, wrong] = figures.ending.cells();
    table.row(vec![
        figures.kills.to_string(),
        figures.kills_with_answers_in_flight.to_string(),
        figures.in_flight.to_string(),
        figures.ending.games.to_string(),
        figures.cut_off.to_string(),
        down,
        back,
        without_service,
        figures.never_back.to_string(),
        figures.sent_again.to_string(),
        answers,
        wrong,
    ]);
    table
}
