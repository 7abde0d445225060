//! `storage`: the APIs' database server is killed and started again, and stopped for a while and continued, while calls of all kinds come in.
//! Answers whether anybody is told something wrong, how long a call may hang, how soon all is well again, and whether a result is lost or
//! counted twice.

mod judge;

use serde::Serialize;

use super::demand::{Phase, PhaseTally, Pressure, drive};
use super::mixture::Mixture;
use super::staff::{self, DAY_MS, Size};
use super::{Place, ScenarioError};
use crate::client::calls::Calls;
use crate::client::{Http, HttpError, STORE_PREFIX};
use crate::plan::{Pace, Plan};
use crate::report::{Console, Outcome};
use crate::sys::clock;
use crate::verdict::Own;
use crate::wire::Dashboard;

/// Calls a second: a third of what an API with a database on the same two cores answers, with hashing among them.
const RATE: f64 = 150.0;
/// Before a blow everything is well for so long, in milliseconds.
const CALM_MS: u64 = 2_000;
/// Whoever waits gives up after this time, in milliseconds: a hang is to be seen as what it is.
const GIVE_UP_MS: u64 = 10_000;

/// A database server that can be struck.
pub trait Database: Sync {
    /// Ends it as a crash does; somebody else starts it again.
    ///
    /// # Errors
    /// One sentence: it could not be done.
    fn kill(&self) -> Result<(), String>;

    /// Stops all of its processes, or lets them go on.
    ///
    /// # Errors
    /// One sentence: it could not be done.
    fn freeze(&self, is_frozen: bool) -> Result<(), String>;
}

/// How often, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Times that it is killed.
    pub kills: u32,
    /// Times that it is stopped and continued.
    pub freezes: u32,
    /// It stands still for so long, in milliseconds.
    pub frozen_ms: u64,
    /// After a blow it is watched for so long, in milliseconds.
    pub after_ms: u64,
    /// Teachers.
    pub teachers: u32,
    /// Whether times are judged by their bars, or only reported.
    pub is_judged: bool,
}

impl Timing {
    /// The measured run: about two minutes.
    pub const FULL: Self = Self {
        kills: 5,
        freezes: 3,
        frozen_ms: 5_000,
        after_ms: 8_000,
        teachers: 40,
        is_judged: true,
    };

    /// One of each, of which only counts are judged.
    pub const SHORT: Self = Self {
        kills: 1,
        freezes: 1,
        frozen_ms: 2_500,
        after_ms: 6_000,
        teachers: 6,
        is_judged: false,
    };

    /// The plan of such a run: no class plays in it.
    #[must_use]
    pub fn plan(&self, seed: u64) -> Plan {
        Plan::new(seed, Pace::FAST, 0, Vec::new())
    }
}

/// What is done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Blow {
    Kill,
    Freeze,
}

/// What a blow showed.
#[derive(Debug)]
struct Struck {
    blow: Blow,
    name: String,
    /// From the blow on; while it stood still.
    during: PhaseTally,
    /// After it went on.
    after: Option<PhaseTally>,
}

/// What a run showed.
#[derive(Debug)]
struct Found {
    blows: Vec<Struck>,
    calm: Vec<PhaseTally>,
    results: u64,
    sent_again: u64,
    /// Teachers whose dashboard counts another number of games than were saved, in words.
    miscounted: Vec<String>,
}

impl Struck {
    /// The phase that tells how soon all is well: from the kill on, or from the moment at which it went on.
    fn recovery(&self) -> &PhaseTally {
        self.after.as_ref().unwrap_or(&self.during)
    }

    /// The longest that anybody waited for an answer, whatever it was, in milliseconds.
    fn longest_ms(&self) -> f64 {
        let phases = [Some(&self.during), self.after.as_ref()].into_iter().flatten();
        phases.map(longest_ms).fold(0.0, f64::max)
    }
}

/// The longest that anybody waited for an answer in a phase, in milliseconds.
fn longest_ms(phase: &PhaseTally) -> f64 {
    let all = phase.all();
    all.admitted
        .percentile_ms(100.0)
        .max(all.rejected.percentile_ms(100.0))
}

/// Strikes `database`, which the first API of `place` uses.
///
/// # Errors
/// The set-up failed, it could not be struck, or the harness itself failed. What the API does wrong is in the outcome.
pub fn run(
    place: &Place,
    timing: Timing,
    database: &dyn Database,
    seed: u64,
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
    let mut mixture = Mixture::new(site, staff, seed);
    let mut found = Found {
        blows: Vec::new(),
        calm: Vec::new(),
        results: 0,
        sent_again: 0,
        miscounted: Vec::new(),
    };
    let kills = (1..=timing.kills).map(|n| (Blow::Kill, n));
    let freezes = (1..=timing.freezes).map(|n| (Blow::Freeze, n));
    for (blow, number) in kills.chain(freezes) {
        strike(
            (&mut calls, &mut mixture),
            database,
            (blow, number),
            timing,
            &mut found,
            console,
        )?;
    }
    found.results = mixture.results();
    found.sent_again = u64::from(mixture.save_the_rest(&mut calls)?);
    found.miscounted = miscounted(place, &mixture)?;
    let (stamped, unstamped) = calls.stamps();
    Ok(Outcome {
        scenario: "storage",
        table: judge::table(&found),
        measured: judge::measured(&found, timing.is_judged),
        figures: judge::figures(&found),
        own: Own {
            lateness: calls.lateness.clone(),
            stamped,
            unstamped,
            ..Own::default()
        },
    })
}

/// One blow, while calls come in before, during and after it.
fn strike(
    (calls, mixture): (&mut Calls, &mut Mixture),
    database: &dyn Database,
    (blow, number): (Blow, u32),
    timing: Timing,
    found: &mut Found,
    console: &mut Console,
) -> Result<(), ScenarioError> {
    let name = match blow {
        Blow::Kill => format!("kill {number}"),
        Blow::Freeze => format!("freeze {number}"),
    };
    console.progress(&name);
    let phase = |what: &str, ms| Phase {
        name: format!("{name}, {what}"),
        pressure: Pressure::PerSecond(RATE),
        ms,
        unmeasured_ms: 0,
    };
    let mut phases = vec![phase("before", CALM_MS)];
    match blow {
        Blow::Kill => phases.push(phase("after", timing.after_ms)),
        Blow::Freeze => {
            phases.push(phase("while it stands", timing.frozen_ms));
            phases.push(phase("after", timing.after_ms));
        }
    }
    let begin = clock::now();
    let (tallies, struck) = std::thread::scope(|scope| {
        let striking = scope.spawn(|| {
            clock::pause_until(begin.plus_ms(CALM_MS));
            match blow {
                Blow::Kill => database.kill(),
                Blow::Freeze => {
                    database.freeze(true)?;
                    clock::pause_until(begin.plus_ms(CALM_MS + timing.frozen_ms));
                    database.freeze(false)
                }
            }
        });
        let seed = u64::from(number) + u64::from(blow == Blow::Freeze) * 1_000;
        let tallies = drive(calls, mixture, &phases, seed);
        let struck = striking
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (tallies, struck)
    });
    struck.map_err(ScenarioError::Victim)?;
    let mut tallies = tallies?.into_iter();
    found.calm.extend(tallies.next());
    if let Some(during) = tallies.next() {
        let after = tallies.next();
        found.blows.push(Struck {
            blow,
            name,
            during,
            after,
        });
    }
    Ok(())
}

/// Teachers whose dashboard counts another number of games than were saved.
fn miscounted(place: &Place, mixture: &Mixture) -> Result<Vec<String>, ScenarioError> {
    let api = place.apis.first().cloned();
    let api = api.ok_or_else(|| ScenarioError::Place("there is no API".to_owned()))?;
    let http = Http::new(api);
    let path = format!("{STORE_PREFIX}/quiz-usage/dashboard?days=30");
    let (_, staff) = mixture.staff();
    let mut wrong = Vec::new();
    for (member, games) in staff.iter().zip(mixture.games()) {
        let read: Result<Dashboard, HttpError> = http.get_json(&path, Some(&member.token));
        let told = read?.games();
        // What was recent yesterday need not be so today.
        if told != games && clock::unix_ms() / DAY_MS == member.day {
            wrong.push(format!(
                "{}: {games} games were saved, {told} are counted",
                member.id
            ));
        }
    }
    Ok(wrong)
}
