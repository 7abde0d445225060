//! `overload`: an API whose ceiling is known is asked for up to ten times as much as it can do. Answers how much of what it could do it still
//! does, how fast it refuses the rest, whether game servers are served all the same, whether it seems dead to whoever probes it, and how
//! soon everything is as it was.
//!
//! The ceiling is set by the number of connections to the database and a scripted delay of each call, low enough that the machine, with the
//! generator on it, has time left at ten times of it.

mod judge;
mod witness;

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::demand::{Phase, PhaseTally, Pressure, Tally, drive};
use super::mixture::{self, CLASSES, Mixture};
use super::staff::{self, Size};
use super::{Place, ScenarioError};
use crate::client::calls::Calls;
use crate::measure::{Micros, Quantiles};
use crate::plan::{Pace, Plan};
use crate::report::{Console, Outcome};
use crate::sys::real;
use crate::verdict::Own;

/// Connections of the API to its database.
pub const CONNECTIONS: u32 = 10;
/// Calls that it admits at once: a fifth of the connections is to spare.
const ADMITTED: u32 = 8;
/// What every call keeps one of them busy for, in milliseconds: with what it takes beside this, the ceiling is 300 to 400 calls a
/// second.
pub const CALL_DELAY_MS: u64 = 20;
/// Callers that find the ceiling: as many as are admitted, and as many as may wait.
const CEILING_CALLERS: u32 = 2 * ADMITTED;
/// Whoever waits gives up after this time, in milliseconds.
const GIVE_UP_MS: u64 = 10_000;
/// Between two steps a part of the ceiling is asked for, which any API that is well serves.
const CALM_SHARE: f64 = 0.5;
/// Calls of the first moments of a step do not count, in milliseconds.
const UNMEASURED_MS: u64 = 1_000;

/// How long, and how much.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// Times of the ceiling.
    pub times: Vec<f64>,
    /// A step lasts so long, in milliseconds.
    pub step_ms: u64,
    /// The calm after it, in milliseconds.
    pub calm_ms: u64,
    /// Finding the ceiling takes so long, in milliseconds.
    pub ceiling_ms: u64,
    /// Teachers.
    pub teachers: u32,
    /// Whether times and rates are judged by their bars, or only reported.
    pub is_judged: bool,
}

impl Timing {
    /// The measured run: about three minutes.
    #[must_use]
    pub fn full() -> Self {
        Self {
            times: vec![1.0, 1.5, 2.0, 5.0, 10.0],
            step_ms: 21_000,
            calm_ms: 7_000,
            ceiling_ms: 11_000,
            teachers: 100,
            is_judged: true,
        }
    }

    /// Two steps in a quarter of a minute, of which only counts are judged.
    #[must_use]
    pub fn short() -> Self {
        Self {
            times: vec![1.0, 5.0],
            step_ms: 3_000,
            calm_ms: 2_000,
            ceiling_ms: 3_000,
            teachers: 8,
            is_judged: false,
        }
    }

    /// The plan of such a run: no class plays in it.
    #[must_use]
    pub fn plan(&self, seed: u64) -> Plan {
        Plan::new(seed, Pace::FAST, 0, Vec::new())
    }
}

/// A class of calls in a step.
#[derive(Debug, Clone, Serialize)]
struct ClassFigures {
    class: &'static str,
    #[serde(flatten)]
    tally: Tally,
    admitted: Quantiles,
    rejected: Quantiles,
}

/// A step.
#[derive(Debug, Clone, Serialize)]
struct StepFigures {
    name: String,
    times: f64,
    offered_per_s: f64,
    goodput_per_s: f64,
    refused_per_s: f64,
    admitted: Quantiles,
    rejected: Quantiles,
    normal_after_s: f64,
    classes: Vec<ClassFigures>,
}

/// What a run showed.
#[derive(Debug)]
struct Found {
    ceiling_per_s: f64,
    peak_per_s: f64,
    /// With the calm after each.
    steps: Vec<(f64, PhaseTally, PhaseTally)>,
    liveness: Micros,
    probes_missed: u64,
    starts: Micros,
    starts_failed: u64,
    examples: Vec<String>,
    restarts: u64,
}

/// Overloads the first API of `place`, whose processes were started again `restarts` times so far.
///
/// # Errors
/// The set-up failed, or the harness itself did. What the API does wrong is in the outcome.
pub fn run(
    place: &Place,
    timing: &Timing,
    seed: u64,
    restarts: &dyn Fn() -> u64,
    console: &mut Console,
) -> Result<Outcome, ScenarioError> {
    let mut ways = Vec::new();
    let site = place.site(0, &mut ways)?;
    let mut calls = Calls::new(ways, GIVE_UP_MS)?;
    let size = Size {
        teachers: timing.teachers,
        quizzes: 5,
        questions: 5,
        games: (5, 20),
    };
    let staff = staff::hire(&mut calls, &site, size, seed, console)?;
    let mut mixture = Mixture::new(site, staff.clone(), seed);
    let stop = AtomicBool::new(false);
    let (mut probes, mut starts) = (witness::Probes::default(), witness::Starts::default());
    let steps = std::thread::scope(|scope| {
        scope.spawn(|| witness::probe(place.admins.first(), &stop, &mut probes));
        scope.spawn(|| witness::start_classes(&place.targets, &staff, &stop, &mut starts));
        let steps = climb(&mut calls, &mut mixture, timing, seed, console);
        stop.store(true, Ordering::Relaxed);
        steps
    });
    let (ceiling, steps) = steps?;
    let goodput = |tally: &PhaseTally| tally.per_s(tally.all().good);
    let ceiling_per_s = goodput(&ceiling);
    let peak_per_s = steps
        .iter()
        .map(|(_, step, _)| goodput(step))
        .fold(ceiling_per_s, f64::max);
    let found = Found {
        ceiling_per_s,
        peak_per_s,
        steps,
        liveness: probes.took,
        probes_missed: probes.missed,
        starts: starts.took,
        starts_failed: starts.failed,
        examples: starts.examples,
        restarts: restarts(),
    };
    let (stamped, unstamped) = calls.stamps();
    Ok(Outcome {
        scenario: "overload",
        table: judge::table(&found),
        measured: judge::measured(&found, timing.is_judged),
        figures: serde_json::to_value(figures(&found)).unwrap_or_default(),
        own: Own {
            lateness: calls.lateness.clone(),
            stamped,
            unstamped,
            ..Own::default()
        },
    })
}

type Steps = (PhaseTally, Vec<(f64, PhaseTally, PhaseTally)>);

/// Finds the ceiling, and goes beyond it step by step.
fn climb(
    calls: &mut Calls,
    mixture: &mut Mixture,
    timing: &Timing,
    seed: u64,
    console: &mut Console,
) -> Result<Steps, ScenarioError> {
    console.progress("finding the ceiling");
    let phase = Phase {
        name: "ceiling".to_owned(),
        pressure: Pressure::AtOnce(CEILING_CALLERS),
        ms: timing.ceiling_ms,
        unmeasured_ms: UNMEASURED_MS,
    };
    let found = drive(calls, mixture, &[phase], seed)?;
    let ceiling = found
        .into_iter()
        .next()
        .ok_or_else(|| ScenarioError::Place("nothing was measured".to_owned()))?;
    let per_s = ceiling.per_s(ceiling.all().good).max(1.0);
    let mut steps = Vec::new();
    for (number, &times) in (1..).zip(&timing.times) {
        console.progress(&format!("{times} times of {per_s:.0} calls a second"));
        let step = Phase {
            name: name(times),
            pressure: Pressure::PerSecond(per_s * times),
            ms: timing.step_ms,
            unmeasured_ms: UNMEASURED_MS,
        };
        let calm = Phase {
            name: format!("after {}", name(times)),
            pressure: Pressure::PerSecond(per_s * CALM_SHARE),
            ms: timing.calm_ms,
            unmeasured_ms: 0,
        };
        let mut tallies = drive(calls, mixture, &[step, calm], seed.wrapping_add(number))?.into_iter();
        if let (Some(step), Some(calm)) = (tallies.next(), tallies.next()) {
            steps.push((times, step, calm));
        }
    }
    Ok((ceiling, steps))
}

/// A step's name.
fn name(times: f64) -> String {
    format!("{times}x")
}

fn figures(found: &Found) -> serde_json::Value {
    let steps: Vec<StepFigures> = found.steps.iter().map(step_figures).collect();
    serde_json::json!({
        "ceiling_per_s": found.ceiling_per_s,
        "peak_per_s": found.peak_per_s,
        "steps": steps,
        "liveness": found.liveness.quantiles(),
        "probes_missed": found.probes_missed,
        "class_starts": found.starts.quantiles(),
        "class_starts_failed": found.starts_failed,
        "restarts": found.restarts,
    })
}

fn step_figures((times, step, calm): &(f64, PhaseTally, PhaseTally)) -> StepFigures {
    let all = step.all();
    let classes = CLASSES.iter().map(|class| {
        let tally = mixture::of_class(step, class);
        ClassFigures {
            class,
            admitted: tally.admitted.quantiles(),
            rejected: tally.rejected.quantiles(),
            tally,
        }
    });
    StepFigures {
        name: step.name.clone(),
        times: *times,
        offered_per_s: step.per_s(all.offered),
        goodput_per_s: step.per_s(all.good),
        refused_per_s: step.per_s(all.refused),
        admitted: all.admitted.quantiles(),
        rejected: all.rejected.quantiles(),
        normal_after_s: calm.unwell_ms() / 1_000.0,
        classes: classes.collect(),
    }
}

/// What a goodput lacks to the peak, in percent.
fn below_peak_percent(found: &Found, step: &PhaseTally) -> f64 {
    (1.0 - step.per_s(step.all().good) / found.peak_per_s.max(f64::MIN_POSITIVE)) * 100.0
}

/// A share in percent; 0 of nothing.
fn percent(of: u64, all: u64) -> f64 {
    real(of) / real(all.max(1)) * 100.0
}
