//! The bars of `ramp` and its table.

use super::{Figures, StageFigures, StageTimes, spread_allowed};
use crate::measure::{Faults, Quantiles};
use crate::plan::Plan;
use crate::report::{Figure, Measured, Table, bars};
use crate::scenario::own;
use crate::sys::count;

const SPREAD: &str = "games by server";
/// As the alarm metric of the game servers has it.
const PASSED_ON: &str = "calls passed on by game servers";

/// What merges, and what it is judged by.
pub(super) fn measured(plan: &Plan, figures: &Figures, times: &[StageTimes], faults: &Faults) -> Measured {
    let mut measured = Measured::default();
    for (stage, times) in figures.stages.iter().zip(times) {
        add_stage(&mut measured, stage, times);
        own::enter_messages(&mut measured, &times.spent);
    }
    if let Some(last) = times.last() {
        own::enter_memory(&mut measured, last.spent.joined, last.spent.rss_bytes);
    }
    for (server, &games) in (0..).zip(&figures.spread.games) {
        measured.point(SPREAD, server, games);
    }
    if figures.spread.counted_by == "servers" && figures.spread.games.len() > 1 {
        // From the whole plan, so that every segment judges alike.
        let limit = spread_allowed(count(plan.sizes.len()), count(figures.spread.games.len()));
        let series = SPREAD.to_owned();
        measured.bar(
            "games on the fullest server over the mean",
            Figure::Spread { series },
            limit,
            "",
        );
    }
    if let Some(passed_on) = figures.passed_on {
        measured.count(PASSED_ON, passed_on);
        if figures.in_turn {
            // One in two goes to the wrong one of two servers, and more of more.
            let least = (plan.my_students() + count(plan.my_classes().count())) / 4;
            let missing = least.saturating_sub(passed_on);
            measured.zero(
                "connections that should have been passed on and were not",
                missing,
            );
        }
    }
    measured.count("players", plan.my_students());
    measured.count("games", count(plan.my_classes().count()));
    measured.zero("players not joined", figures.not_joined);
    measured.zero("classes without a podium for everybody", figures.without_podium);
    measured.zero(
        "phones whose head of the sequence is unverified",
        figures.unverified,
    );
    measured.zero("games without a report", figures.without_report);
    measured.zero("players not told of the end", figures.not_told_of_end);
    measured.zero("members away at the end", figures.away_at_end);
    measured.zero("sockets lost that nobody dropped", figures.cut_off);
    measured.zero("attempts to connect that failed", figures.failed_attempts);
    measured.zero("states of games taken over", figures.new_epochs);
    measured.count("sockets dropped as planned", figures.dropped);
    measured.count("answers sent again", figures.sent_again);
    measured.count("answers too late to send", figures.too_late_to_send);
    measured.ledger_must_hold(&figures.ledger);
    measured.must_be_faultless(faults, &figures.fault_examples);
    measured
}

fn add_stage(measured: &mut Measured, stage: &StageFigures, times: &StageTimes) {
    let name = &times.name;
    measured.times("join", name, &times.join);
    measured.times("join service", name, &times.join_service);
    measured.times("fan-out", name, &times.phase.fan_out);
    measured.times("ack", name, &times.phase.ack);
    measured.times("back", name, &times.phase.back);
    measured.times("own lateness", name, &times.phase.lateness);
    measured.times("own handling", name, &times.phase.handling);
    measured.windows.insert(name.clone(), times.window);
    measured.count(&format!("{name}: messages"), stage.messages);
    measured.peak(&format!("{name}: hold_ms"), crate::sys::real(stage.hold_ms));
    let p95 = || Figure::Percentile {
        name: "fan-out".to_owned(),
        phase: name.clone(),
        percent: 95.0,
    };
    let what = format!("{name}: fan-out p95");
    measured.bar(&what, p95(), bars::FAN_OUT_MS_MAX, "ms");
    measured.target(&what, p95(), bars::FAN_OUT_MS_TARGET, "ms");
}

/// A line for every stage.
pub(super) fn table(figures: &Figures) -> Table {
    let mut table = Table::new(&[
        "classes",
        "players",
        "joined",
        "join p50/p95 ms",
        "without own delay",
        "fan-out p50/p95/p99 ms",
        "ack p50/p95 ms",
        "messages/s",
        "games by server",
        "passed on",
        "own late/handling p99 ms",
        "own µs/message",
        "own B/player",
    ]);
    let pair = |q: &Quantiles| format!("{:.2}/{:.2}", q.p50_ms, q.p95_ms);
    for (number, stage) in figures.stages.iter().enumerate() {
        // They are counted once, at the end.
        let is_last = number + 1 == figures.stages.len();
        let games: Vec<String> = match is_last {
            true => figures.spread.games.iter().map(u64::to_string).collect(),
            false => Vec::new(),
        };
        table.row(vec![
            stage.classes.to_string(),
            stage.players.to_string(),
            stage.joined.to_string(),
            pair(&stage.join),
            pair(&stage.join_service),
            format!("{}/{:.2}", pair(&stage.fan_out), stage.fan_out.p99_ms),
            pair(&stage.ack),
            format!("{:.0}", stage.messages_per_s),
            games.join("/"),
            figures.passed_on.map_or_else(String::new, |n| n.to_string()),
            format!("{:.2}/{:.2}", stage.lateness.p99_ms, stage.handling.p99_ms),
            format!("{:.1}", stage.harness_us_per_message),
            format!("{:.0}", stage.harness_bytes_per_player),
        ]);
    }
    table
}
