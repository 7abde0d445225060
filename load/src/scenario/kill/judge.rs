//! The bars of `kill` and its table.

use super::Figures;
use crate::measure::{Micros, Tally};
use crate::report::{Figure, Measured, Table, bars};

/// From so many kills on it is judged how many met answers in flight; fewer say too little.
const MANY_KILLS: u32 = 50;
/// Share of them that may meet none: a run whose kills meet nothing proves nothing.
const SHARE_WITHOUT_MAX: f64 = 0.4;

/// What merges, and what it is judged by.
pub(super) fn measured(figures: &Figures, asked: u32, tally: &Tally, down: &Micros) -> Measured {
    let mut measured = Measured::default();
    let not_killed = u64::from(asked).saturating_sub(figures.kills);
    if asked >= MANY_KILLS {
        let name = "kills that met no answer in flight";
        measured.count(name, figures.kills - figures.kills_with_answers_in_flight);
        let limit = f64::from(asked) * SHARE_WITHOUT_MAX;
        measured.bar(
            name,
            Figure::Count {
                name: name.to_owned(),
            },
            limit,
            "",
        );
    }
    measured.count("kills", figures.kills);
    measured.count(
        "kills with answers in flight",
        figures.kills_with_answers_in_flight,
    );
    measured.count("answers in flight at a kill", figures.in_flight);
    measured.count("games", figures.games);
    measured.count("sockets lost", figures.cut_off);
    measured.count("answers sent again", figures.sent_again);
    measured.count("attempts to connect that failed", tally.failed_attempts);
    measured.count("joinings taken back", figures.joins_taken_back);
    for (phase, &kills) in &figures.kills_by_phase {
        measured.count(&format!("kills in phase {phase}"), kills);
    }
    measured.zero("kills not carried out", not_killed);
    measured.zero("members not back", figures.never_back);
    measured.zero(
        "players not joined",
        figures.players.saturating_sub(figures.joined),
    );
    measured.zero("classes without a podium for everybody", figures.without_podium);
    measured.zero("games without a report", figures.without_report);
    measured.zero(
        "phones whose head of the sequence is unverified",
        figures.unverified,
    );
    measured.ledger(&figures.ledger);
    for (name, _) in figures.ledger.faults() {
        let name = name.replace(' ', "_");
        measured.must_be_zero(&format!("answers {name}"), Figure::Ledger { name });
    }
    measured.faults(&tally.faults);
    measured.must_be_zero("faults seen by clients", Figure::Faults);
    measured
        .fault_examples
        .extend(figures.fault_examples.iter().cloned());
    measured.times("down", "all kills", down);
    measured.times("back", "all kills", &tally.back);
    measured.times("join", "all kills", &tally.join);
    measured.times("ack", "all kills", &tally.ack);
    let percentile = Figure::Percentile {
        name: "back".to_owned(),
        phase: "all kills".to_owned(),
        percent: 99.0,
    };
    measured.target("back in play, p99", percentile, bars::BACK_MS_MAX, "ms");
    measured
}

pub(super) fn table(figures: &Figures) -> Table {
    let mut table = Table::new(&[
        "kills",
        "with answers in flight",
        "answers in flight",
        "games",
        "sockets lost",
        "down p50/max ms",
        "back p50/p95/p99 ms",
        "never back",
        "sent again",
        "sent/acked/refused/refused but saved",
        "lost/doubled/wrong/never settled",
    ]);
    let ledger = &figures.ledger;
    let back = figures.back.as_ref().map_or_else(String::new, |q| {
        format!("{:.0}/{:.0}/{:.0}", q.p50_ms, q.p95_ms, q.p99_ms)
    });
    let down = figures
        .down
        .as_ref()
        .map_or_else(String::new, |q| format!("{:.0}/{:.0}", q.p50_ms, q.max_ms));
    let wrong = ledger.wrong_choice + ledger.wrong_time + ledger.wrong_score + ledger.phantom;
    table.row(vec![
        figures.kills.to_string(),
        figures.kills_with_answers_in_flight.to_string(),
        figures.in_flight.to_string(),
        figures.games.to_string(),
        figures.cut_off.to_string(),
        down,
        back,
        figures.never_back.to_string(),
        figures.sent_again.to_string(),
        format!(
            "{}/{}/{}/{}",
            ledger.sent, ledger.acked, ledger.refused, ledger.refused_but_saved
        ),
        format!("{}/{}/{wrong}/{}", ledger.lost, ledger.doubled, ledger.unsettled),
    ]);
    table
}
