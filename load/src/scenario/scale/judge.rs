//! The bars of `scale` and its table.

use super::Figures;
use crate::measure::{Micros, Quantiles, Tally};
use crate::report::{Figure, Measured, Table, bars};

/// What merges, and what it is judged by.
pub(super) fn measured(figures: &Figures, tally: &Tally, without_service: &Micros) -> Measured {
    let mut measured = Measured::default();
    measured.count("times that a server came and went", figures.cycles);
    measured.zero(
        "members cut off by a server that came",
        figures.cut_off_by_growing,
    );
    measured.zero(
        "games moved by a server that came",
        figures.games_moved_by_growing,
    );
    measured.count(
        "members cut off by a server that went",
        figures.cut_off_by_shrinking,
    );
    measured.zero(
        "members cut off whose game did not move",
        figures.cut_off_without_a_move,
    );
    measured.count("games moved by a server that went", figures.games_moved);
    measured.zero("games moved more than once", figures.games_moved_again);
    measured.zero("servers that went and had no game", figures.moved_nothing);
    measured.zero("members not back", figures.never_back);
    figures.ending.enter(&mut measured);
    measured.must_be_faultless(&tally.faults, &figures.fault_examples);
    measured.times("without service", "all moves", without_service);
    measured.times("back", "all moves", &tally.back);
    measured.times("join", "all classes", &tally.join);
    measured.times("ack", "all classes", &tally.ack);
    let longest = Figure::Percentile {
        name: "without service".to_owned(),
        phase: "all moves".to_owned(),
        percent: 100.0,
    };
    measured.bar(
        "longest time of a moved game without service",
        longest,
        bars::WITHOUT_SERVICE_MS_MAX,
        "ms",
    );
    measured
}

pub(super) fn table(figures: &Figures) -> Table {
    let mut table = Table::new(&[
        "cycles",
        "games",
        "cut off: coming/going/no move",
        "games moved/more than once",
        "without service p50/max ms",
        "back p50/p95/p99/max ms",
        "never back",
        "sent/acked/refused/refused but saved",
        "lost/doubled/wrong/never settled",
    ]);
    let [answers, wrong] = figures.ending.cells();
    table.row(vec![
        figures.cycles.to_string(),
        figures.ending.games.to_string(),
        format!(
            "{}/{}/{}",
            figures.cut_off_by_growing, figures.cut_off_by_shrinking, figures.cut_off_without_a_move
        ),
        format!("{}/{}", figures.games_moved, figures.games_moved_again),
        figures
            .without_service
            .as_ref()
            .map_or_else(String::new, Quantiles::middle_and_most_ms),
        figures.back.as_ref().map_or_else(String::new, Quantiles::four_ms),
        figures.never_back.to_string(),
        answers,
        wrong,
    ]);
    table
}
