//! `dashboard`: teachers with quizzes and games of months look at their pages. Answers how long each of the five routes takes at which rate, and
//! how many calls a second one API can answer at most: each from the database, and from what it keeps in memory.
//!
//! Two APIs share the database. The first has no Redis, so that nothing it has read may be kept; the second has one, and keeps everything
//! until it changes.

mod judge;
mod pages;

use serde::Serialize;

use self::pages::{Pages, ROUTES};
use super::demand::{Phase, PhaseTally, Pressure, drive};
use super::staff::{self, Member, Site, Size};
use super::{Place, ScenarioError};
use crate::client::calls::Calls;
use crate::measure::Quantiles;
use crate::plan::{Pace, Plan};
use crate::report::{Console, Outcome};
use crate::verdict::Own;

/// The API of them that keeps answers.
pub const KEEPS: u32 = 1;
/// Callers that find what one API can answer at most.
const CALLERS: u32 = 32;
/// Whoever waits gives up after this time, in milliseconds.
const GIVE_UP_MS: u64 = 10_000;
/// Calls of the first moments of a stage do not count, in milliseconds.
const UNMEASURED_MS: u64 = 1_000;
/// Shares of the most that it can answer at which times are judged: below the ceiling.
const SHARES: [f64; 2] = [0.5, 0.8];
/// What it should be well with, too, though it is not judged, in calls a second.
const RATES: [f64; 5] = [25.0, 100.0, 200.0, 400.0, 600.0];

/// How long, and with how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// A stage lasts so long, in milliseconds.
    pub stage_ms: u64,
    /// Teachers.
    pub teachers: u32,
    /// Quizzes of each.
    pub quizzes: u32,
    /// Games of each, at least and at most.
    pub games: (u32, u32),
    /// Whether times and rates are judged by their bars, or only reported.
    pub is_judged: bool,
}

impl Timing {
    /// The measured run: about four minutes, most of them to make what is looked at.
    pub const FULL: Self = Self {
        stage_ms: 10_000,
        teachers: 200,
        quizzes: 25,
        games: (70, 190),
        is_judged: true,
    };

    /// The same for a few teachers, in a quarter of a minute; only counts are judged.
    pub const SHORT: Self = Self {
        stage_ms: 1_500,
        teachers: 4,
        quizzes: 5,
        games: (7, 19),
        is_judged: false,
    };

    /// The plan of such a run: no class plays in it.
    #[must_use]
    pub fn plan(&self, seed: u64) -> Plan {
        Plan::new(seed, Pace::FAST, 0, Vec::new())
    }
}

/// What a stage was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// As many calls as there can be.
    Most,
    /// At a rate that is judged.
    Judged,
    /// At a rate that is only reported.
    Shown,
}

/// What a run showed.
#[derive(Debug)]
struct Found {
    stages: Vec<(What, PhaseTally)>,
    uncached_per_s: f64,
    cached_per_s: f64,
    games: u64,
    quizzes: u64,
}

#[derive(Serialize)]
struct RouteFigures {
    route: &'static str,
    calls: u64,
    took: Quantiles,
}

#[derive(Serialize)]
struct StageFigures {
    name: String,
    served_per_s: f64,
    routes: Vec<RouteFigures>,
}

/// Lets teachers look at their pages at the two APIs of `place`.
///
/// # Errors
/// The set-up failed, or the harness itself did. What the API does wrong is in the outcome.
pub fn run(
    place: &Place,
    timing: Timing,
    seed: u64,
    console: &mut Console,
) -> Result<Outcome, ScenarioError> {
    let mut ways = Vec::new();
    let site = place.site(0, &mut ways)?;
    let keeps = place.site(crate::sys::index(KEEPS), &mut ways)?;
    let mut calls = Calls::new(ways, GIVE_UP_MS)?;
    let size = Size {
        teachers: timing.teachers,
        quizzes: timing.quizzes,
        questions: 5,
        games: timing.games,
    };
    let mut staff = staff::hire(&mut calls, &site, size, seed, console)?;
    staff::sign_in_again(&mut calls, &site, &mut staff)?;
    let found = climb(&mut calls, (&site, &keeps), &staff, timing, seed, console)?;
    let (stamped, unstamped) = calls.stamps();
    Ok(Outcome {
        scenario: "dashboard",
        table: judge::table(&found),
        measured: judge::measured(&found, timing.is_judged),
        figures: figures(&found),
        own: Own {
            lateness: calls.lateness.clone(),
            stamped,
            unstamped,
            ..Own::default()
        },
    })
}

fn climb(
    calls: &mut Calls,
    (site, keeps): (&Site, &Site),
    staff: &[Member],
    timing: Timing,
    seed: u64,
    console: &mut Console,
) -> Result<Found, ScenarioError> {
    let mut stages = Vec::new();
    let mut stage = |site: &Site, what: What, name: &str, pressure: Pressure, console: &mut Console| {
        console.progress(name);
        let phase = Phase {
            name: name.to_owned(),
            pressure,
            ms: timing.stage_ms,
            unmeasured_ms: UNMEASURED_MS,
        };
        let mut pages = Pages::new(site, staff, timing.quizzes);
        let number = seed.wrapping_add(crate::sys::count(stages.len()));
        let tally = drive(calls, &mut pages, &[phase], number)?;
        let tally = tally.into_iter().next();
        let tally = tally.ok_or_else(|| ScenarioError::Place("nothing was measured".to_owned()))?;
        let per_s = tally.per_s(tally.all().served);
        stages.push((what, tally));
        Ok::<f64, ScenarioError>(per_s)
    };
    for rate in RATES {
        let pressure = Pressure::PerSecond(rate);
        stage(site, What::Shown, &format!("{rate}/s"), pressure, console)?;
    }
    let most = Pressure::AtOnce(CALLERS);
    let uncached_per_s = stage(site, What::Most, "uncached, most", most, console)?;
    for share in SHARES {
        let name = format!("uncached, {:.0} % of it", share * 100.0);
        let pressure = Pressure::PerSecond(uncached_per_s * share);
        stage(site, What::Judged, &name, pressure, console)?;
    }
    // The first stage fills the memory, too.
    let cached_per_s = stage(keeps, What::Most, "cached, most", most, console)?;
    for share in SHARES {
        let name = format!("cached, {:.0} % of it", share * 100.0);
        let pressure = Pressure::PerSecond(cached_per_s * share);
        stage(keeps, What::Judged, &name, pressure, console)?;
    }
    Ok(Found {
        stages,
        uncached_per_s,
        cached_per_s,
        games: staff.iter().map(|member| u64::from(member.games)).sum(),
        quizzes: staff
            .iter()
            .map(|member| crate::sys::count(member.quizzes.len()))
            .sum(),
    })
}

fn figures(found: &Found) -> serde_json::Value {
    let stages = found.stages.iter().map(|(_, tally)| StageFigures {
        name: tally.name.clone(),
        served_per_s: tally.per_s(tally.all().served),
        routes: ROUTES
            .iter()
            .zip(&tally.kinds)
            .map(|(route, kind)| RouteFigures {
                route: route.path,
                calls: kind.served,
                took: kind.admitted.quantiles(),
            })
            .collect(),
    });
    serde_json::json!({
        "uncached_per_s": found.uncached_per_s,
        "cached_per_s": found.cached_per_s,
        "games": found.games,
        "quizzes": found.quizzes,
        "stages": stages.collect::<Vec<_>>(),
    })
}
