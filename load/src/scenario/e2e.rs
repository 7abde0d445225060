//! `e2e`: small classes from the first click to the history, one after the other. Answers how long a teacher waits for the game, and how long
//! after the last answer it is in the history; and whether another API than the one that saved a result shows it at once.
//!
//! Both APIs have told the teacher's history before, so that both keep what is not true any more.

use serde::Serialize;

use super::school::add_players;
use super::staff::{self, Member, Size};
use super::{Lobby, Place, ScenarioError, own, setup};
use crate::client::calls::Calls;
use crate::client::{Due, Engine, Http, HttpError, Target, Task};
use crate::measure::{Micros, Quantiles};
use crate::plan::{Pace, Plan};
use crate::report::{Console, Measured, Outcome, Table};
use crate::sys::clock::{self, Stamp};
use crate::sys::index;
use crate::wire::{Dashboard, History};

/// Players of a class.
pub const CLASS_SIZE: u32 = 5;
/// Questions of a game.
pub const QUESTIONS: u16 = 2;
/// Fast enough that what is measured is the servers, and not the class.
const PACE: Pace = Pace {
    name: "e2e",
    join_over_ms: 200,
    answer_ms: (20, 200),
    results_ms: (20, 40),
    close_after_ms: Some(400),
};
/// APIs that agree with each other: all.
pub const AGREE_FROM: u32 = 0;
/// Classes of one teacher: below the twenty games a minute that the API allows.
const ROUNDS_PER_TEACHER: u32 = 5;
/// A step of a round takes at most this long, in milliseconds.
const STEP_MS_MAX: u64 = 15_000;
/// How often it is looked whether a step is done, in milliseconds.
const LOOK_MS: u64 = 1;
/// Whoever waits gives up after this time, in milliseconds.
const GIVE_UP_MS: u64 = 10_000;
/// Faults that are described in words.
const EXAMPLES_MAX: usize = 5;
/// The one phase.
const PHASE: &str = "all rounds";

/// How often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Classes, one after the other.
    pub rounds: u32,
}

impl Timing {
    /// The measured run.
    pub const FULL: Self = Self { rounds: 40 };
    /// A few.
    pub const SHORT: Self = Self { rounds: 3 };

    /// The plan of such a run.
    #[must_use]
    pub fn plan(&self, seed: u64) -> Plan {
        Plan::new(seed, PACE, QUESTIONS, vec![CLASS_SIZE; index(self.rounds)])
    }
}

/// What a run showed.
#[derive(Debug, Default, Serialize)]
struct Figures {
    rounds: u64,
    create_to_host: Option<Quantiles>,
    last_answer_to_history: Option<Quantiles>,
    podium_to_history: Option<Quantiles>,
    /// Reads at the other API that did not show what had been saved.
    stale: u64,
    /// Rounds that did not come to their end.
    unfinished: u64,
    examples: Vec<String>,
    #[serde(skip)]
    ready: Micros,
    #[serde(skip)]
    answered: Micros,
    #[serde(skip)]
    shown: Micros,
}

/// A class at one moment after the other.
struct Round<'a> {
    place: &'a Place,
    teacher: &'a Member,
    class: u32,
    host: u32,
    lobby: Lobby,
}

/// Plays class after class at the servers of `place`, which has two APIs.
///
/// # Errors
/// The set-up failed, or the harness itself did. What the servers do wrong is in the outcome.
pub fn run(
    place: &Place,
    plan: &Plan,
    timing: Timing,
    console: &mut Console,
) -> Result<Outcome, ScenarioError> {
    let mut ways = Vec::new();
    let site = place.site(0, &mut ways)?;
    let mut calls = Calls::new(ways, GIVE_UP_MS)?;
    let size = Size {
        teachers: timing.rounds.div_ceil(ROUNDS_PER_TEACHER),
        quizzes: 1,
        questions: QUESTIONS,
        games: (1, 3),
    };
    let staff = staff::hire(&mut calls, &site, size, plan.seed, console)?;
    let mut engine = Engine::new(plan.clone(), place.targets.clone())?;
    let mut figures = Figures::default();
    for class in 0..timing.rounds {
        console.progress(&format!("class {} of {}", class + 1, timing.rounds));
        if let Some(teacher) = staff.get(index(class) % staff.len().max(1)) {
            play(&mut engine, place, teacher, class, &mut figures)?;
        }
    }
    let tally = &engine.world.tally;
    figures.create_to_host = Some(figures.ready.quantiles());
    figures.last_answer_to_history = Some(figures.answered.quantiles());
    figures.podium_to_history = Some(figures.shown.quantiles());
    figures.examples.extend(tally.faults.examples().iter().cloned());
    let mut measured = Measured::default();
    measured.times("create to host ready", PHASE, &figures.ready);
    measured.times("last answer to the history", PHASE, &figures.answered);
    measured.times("podium to the history", PHASE, &figures.shown);
    measured.count("rounds", figures.rounds);
    measured.zero("reads that did not show what was saved", figures.stale);
    measured.zero("rounds that did not come to their end", figures.unfinished);
    measured.must_be_faultless(&tally.faults, &figures.examples);
    let own = own::own(&engine);
    measured.seconds(&mut engine.world.tally);
    Ok(Outcome {
        scenario: "e2e",
        table: table(&figures),
        measured,
        own,
        figures: serde_json::to_value(&figures).unwrap_or_default(),
    })
}

fn play(
    engine: &mut Engine,
    place: &Place,
    teacher: &Member,
    class: u32,
    figures: &mut Figures,
) -> Result<(), ScenarioError> {
    let before = History::games(&history(place, 1, teacher)?);
    let _kept_at_both = history(place, 0, teacher)?;
    let began = clock::now();
    let quiz = teacher.quizzes.first().map_or("", String::as_str);
    let lobby = setup::create_game(&place.targets, &teacher.token, quiz, class)?;
    engine.add_class_as(class, &lobby.code);
    let host = engine.add_host(class, teacher.token.clone(), clock::now());
    let round = Round {
        place,
        teacher,
        class,
        host,
        lobby,
    };
    figures.rounds += 1;
    if !until(engine, |e| e.host(host).is_some_and(|host| host.is_ready()))? {
        figures.give_up(class, "its host was never ready");
        return Ok(());
    }
    figures.ready.record(clock::now().since(began));
    let Some((answered_at, podium_at)) = round.to_the_podium(engine)? else {
        figures.give_up(class, "it never came to its podium");
        return Ok(());
    };
    match round.shown(before + 1, figures)? {
        Some(shown_at) => {
            figures.answered.record(shown_at.since(answered_at));
            figures.shown.record(shown_at.since(podium_at));
        }
        None => figures.give_up(class, "its result was never saved, or never shown"),
    }
    engine.schedule(Due {
        at: clock::now(),
        conn: host,
        task: Task::Finish,
    });
    until(engine, |e| e.open_sockets() == 0)?;
    Ok(())
}

impl Round<'_> {
    /// Lets everybody join and play; when the last answer was sent, and when the podium was there.
    fn to_the_podium(&self, engine: &mut Engine) -> Result<Option<(Stamp, Stamp)>, ScenarioError> {
        add_players(engine, self.class, clock::now());
        let (class, host) = (self.class, self.host);
        let joined = |e: &Engine| {
            e.world
                .class(class)
                .is_some_and(|class| class.joined >= CLASS_SIZE)
        };
        if !until(engine, joined)? {
            return Ok(None);
        }
        engine.schedule(Due {
            at: clock::now(),
            conn: host,
            task: Task::Start,
        });
        let (mut answers, mut answered_at) = (engine.world.tally.ledger.entered(), clock::now());
        let is_over = until(engine, |e| {
            let entered = e.world.tally.ledger.entered();
            if entered != answers {
                (answers, answered_at) = (entered, clock::now());
            }
            e.host(host).is_some_and(|host| host.is_over())
        })?;
        Ok(is_over.then(|| (answered_at, clock::now())))
    }

    /// Waits until the result is saved, and asks the other API at once. When it showed `games`.
    fn shown(&self, games: u64, figures: &mut Figures) -> Result<Option<Stamp>, ScenarioError> {
        let limit = clock::now().plus_ms(STEP_MS_MAX);
        let path = self
            .place
            .targets
            .store_path(&format!("/games/{}/report", self.lobby.game));
        let first = at(self.place, 0)?;
        while first.get(&path, Some(&self.teacher.token))?.status != 200 {
            if clock::now() >= limit {
                return Ok(None);
            }
            clock::pause_ms(LOOK_MS);
        }
        let told = History::games(&history(self.place, 1, self.teacher)?);
        let shown_at = clock::now();
        let counted = dashboard(self.place, 1, self.teacher)?.games();
        if (told, counted) == (games, games) {
            return Ok(Some(shown_at));
        }
        figures.stale += 1;
        figures.example(format!(
            "class {}: {games} games are saved, the history of the other API tells {told}, its dashboard {counted}",
            self.class
        ));
        Ok(None)
    }
}

impl Figures {
    fn give_up(&mut self, class: u32, why: &str) {
        self.unfinished += 1;
        self.example(format!("class {class}: {why}"));
    }

    fn example(&mut self, text: String) {
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(text);
        }
    }
}

/// Runs until `done` says so, looked at every millisecond; whether it did in time.
fn until(engine: &mut Engine, mut done: impl FnMut(&Engine) -> bool) -> Result<bool, ScenarioError> {
    let limit = clock::now().plus_ms(STEP_MS_MAX);
    while clock::now() < limit {
        if done(engine) {
            return Ok(true);
        }
        engine.run_until(clock::now().plus_ms(LOOK_MS), |_| false)?;
    }
    Ok(false)
}

fn at(place: &Place, number: usize) -> Result<Http, ScenarioError> {
    let api: Option<&Target> = place.apis.get(number);
    let api = api.ok_or_else(|| ScenarioError::Place(format!("there is no API {number} in this run")))?;
    Ok(Http::new(api.clone()))
}

fn history(place: &Place, api: usize, teacher: &Member) -> Result<History, ScenarioError> {
    let path = place.targets.store_path("/quiz-usage/history?days=30");
    let read: Result<History, HttpError> = at(place, api)?.get_json(&path, Some(&teacher.token));
    Ok(read?)
}

fn dashboard(place: &Place, api: usize, teacher: &Member) -> Result<Dashboard, ScenarioError> {
    let path = place.targets.store_path("/quiz-usage/dashboard?days=30");
    let read: Result<Dashboard, HttpError> = at(place, api)?.get_json(&path, Some(&teacher.token));
    Ok(read?)
}

fn table(figures: &Figures) -> Table {
    let mut table = Table::new(&[
        "rounds",
        "create to host p50/95/99/max ms",
        "last answer to history",
        "podium to history",
        "not shown",
    ]);
    table.row(vec![
        figures.rounds.to_string(),
        figures.ready.quantiles().four_ms(),
        figures.answered.quantiles().four_ms(),
        figures.shown.quantiles().four_ms(),
        figures.stale.to_string(),
    ]);
    table
}
