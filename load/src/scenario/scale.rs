//! `scale`: one game server more and one less while classes play, as an autoscaler does it. One more must disconnect nobody, since no
//! live game moves to it; of one less only the games that were on it may notice, each once, and for a moment.
//!
//! Half of the classes play when the server comes; the others begin after that, so that it has games when it goes.

mod judge;

use serde::Serialize;

use super::ScenarioError;
use super::ending::Ending;
use super::own;
use super::school::{self, School};
use crate::client::{Due, Engine, Host, OnLoss, Targets, Task};
use crate::measure::{Micros, Quantiles};
use crate::plan::{Pace, Plan};
use crate::report::{Console, Outcome};
use crate::sys::{clock, count};

/// Players of a class.
pub const CLASS_SIZE: u32 = 30;
/// Questions of a game: enough that it lasts until the server has come and gone.
pub const QUESTIONS: u16 = 20;
/// Times that a server comes and goes at most.
pub const CYCLES_MAX: u32 = 100;
/// A class at ten times a lesson's pace.
pub const PACE: Pace = Pace {
    name: "scale",
    ..Pace::FAST
};

/// A measured run watches a new server for this long, in milliseconds: a lease's life, after which whatever its coming has set off
/// has happened.
pub const CALM_MS: u64 = 5_000;
/// Whoever is cut off is back within this time or counts as lost, in milliseconds.
const BACK_MS_MAX: u64 = 10_000;
/// A server comes, or goes with all its classes handed over, within this time, in milliseconds.
const CHANGE_MS_MAX: u64 = 180_000;
/// A game ends within this time, in milliseconds.
const GAME_MS_MAX: u64 = 120_000;

/// Servers of which one comes and goes.
pub trait Fleet: Send {
    /// Adds a server and returns when it takes new games.
    ///
    /// # Errors
    /// One sentence: it did not come up.
    fn grow(&mut self) -> Result<(), String>;

    /// Takes that server away again and returns when it is gone.
    ///
    /// # Errors
    /// One sentence: it did not go.
    fn shrink(&mut self) -> Result<(), String>;
}

/// How often, and with how many classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Times that a server comes and goes.
    pub cycles: u32,
    /// Classes that play at the same time.
    pub classes: u32,
    /// Over this time the lobbies of each half open one after the other, in milliseconds.
    pub spread_ms: u64,
    /// A new server is watched for this long before anything else happens, in milliseconds.
    pub calm_ms: u64,
}

impl Timing {
    /// The plan of such a run: each cycle has classes of its own.
    #[must_use]
    pub fn plan(&self, seed: u64, size: u32, pace: Pace, questions: u16) -> Plan {
        let classes = self.classes.saturating_mul(self.cycles.max(1));
        Plan::new(seed, pace, questions, vec![size; crate::sys::index(classes)])
    }
}

/// What it showed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figures {
    /// Times that a server came and went.
    pub cycles: u64,
    /// Members that lost their socket while a server came.
    pub cut_off_by_growing: u64,
    /// Members that lost their socket while one went.
    pub cut_off_by_shrinking: u64,
    /// Those among them whose game stayed where it was.
    pub cut_off_without_a_move: u64,
    /// Games that moved when a server went.
    pub games_moved: u64,
    /// Those that moved more than once.
    pub games_moved_again: u64,
    /// Times that a server went of which no game had to move, which proves nothing.
    pub moved_nothing: u64,
    /// Games that moved while a server came.
    pub games_moved_by_growing: u64,
    /// From the first loss of a class's sockets to the first return, of games that moved.
    pub without_service: Option<Quantiles>,
    /// From the loss of a socket to being back in play.
    pub back: Option<Quantiles>,
    /// Members that did not come back in time.
    pub never_back: u64,
    /// What became of the games.
    #[serde(flatten)]
    pub ending: Ending,
    /// What was wrong, in words.
    pub fault_examples: Vec<String>,
}

/// The run while it goes on.
struct Run<'a> {
    engine: Engine,
    fleet: &'a mut dyn Fleet,
    timing: Timing,
    without_service: Micros,
    figures: Figures,
}

/// Lets a server of `fleet`, which serves `targets`, come and go while classes of `plan` play.
///
/// # Errors
/// The set-up failed, a server did not come or go, or the harness itself failed. What is lost is in the outcome.
pub fn run(
    targets: &Targets,
    plan: &Plan,
    timing: Timing,
    fleet: &mut dyn Fleet,
    console: &mut Console,
) -> Result<Outcome, ScenarioError> {
    let mut engine = Engine::new(plan.clone(), targets.clone())?;
    engine.on_loss(OnLoss::Return);
    let mut run = Run {
        engine,
        fleet,
        timing,
        without_service: Micros::default(),
        figures: Figures::default(),
    };
    for cycle in 0..timing.cycles {
        run.cycle(cycle, console)?;
    }
    Ok(run.outcome())
}

impl Run<'_> {
    fn cycle(&mut self, cycle: u32, console: &mut Console) -> Result<(), ScenarioError> {
        let first_conn = crate::sys::small(self.engine.conns().len());
        let (from, half) = (cycle * self.timing.classes, self.timing.classes / 2);
        let mut school = School::default();
        console.progress(&format!("cycle {}: half of the classes begin", cycle + 1));
        self.begin(&mut school, from..from + half)?;
        console.progress("a game server comes");
        self.grow(&school)?;
        console.progress("the other classes begin");
        self.begin(&mut school, from + half..from + self.timing.classes)?;
        console.progress("it goes");
        self.shrink(&school)?;
        self.figures.cycles += 1;
        let limit_ms = if self.figures.never_back > 0 {
            0
        } else {
            GAME_MS_MAX
        };
        let ending = &mut self.figures.ending;
        let examples = ending.add(&mut self.engine, &mut school, limit_ms, console)?;
        self.figures.fault_examples.extend(examples);
        self.engine.forget_from(first_conn);
        Ok(())
    }

    /// Opens classes, and runs until all of them play.
    fn begin(&mut self, school: &mut School, classes: std::ops::Range<u32>) -> Result<(), ScenarioError> {
        let classes: Vec<u32> = classes.collect();
        let engine = &mut self.engine;
        let known = school.rooms.len();
        school.open(engine, &classes)?;
        school.wait_for_hosts(engine)?;
        let join_ms = u64::from(engine.world.plan.pace.join_over_ms);
        let (first, apart_us) = (
            clock::now(),
            self.timing.spread_ms * 1_000 / count(classes.len()).max(1),
        );
        for (position, room) in (0..).zip(&school.rooms[known..]) {
            let opening = first.plus_us(position * apart_us);
            school::add_players(engine, room.class, opening);
            engine.schedule(Due {
                at: opening.plus_ms(join_ms),
                conn: room.host,
                task: Task::Start,
            });
        }
        let limit = first.plus_ms(self.timing.spread_ms + join_ms + BACK_MS_MAX);
        let begun = |host: &Host| host.is_playing() || host.is_over();
        engine.run_until(limit, |e| school.hosts(e).all(begun))?;
        Ok(())
    }

    /// A server comes.
    fn grow(&mut self, school: &School) -> Result<(), ScenarioError> {
        let (losses, moves) = self.so_far(school);
        let Self { engine, fleet, .. } = self;
        let limit = clock::now().plus_ms(CHANGE_MS_MAX);
        school::meanwhile(engine, limit, || fleet.grow().map_err(ScenarioError::Victim))?;
        engine.run_until(clock::now().plus_ms(self.timing.calm_ms), |_| false)?;
        let (losses_after, moves_after) = self.so_far(school);
        self.figures.cut_off_by_growing += losses_after.iter().sum::<u64>() - losses.iter().sum::<u64>();
        let moved = moves
            .iter()
            .zip(&moves_after)
            .filter(|(before, after)| after > before);
        self.figures.games_moved_by_growing += count(moved.count());
        Ok(())
    }

    /// The server goes.
    fn shrink(&mut self, school: &School) -> Result<(), ScenarioError> {
        let (losses, moves) = self.so_far(school);
        self.engine.world.tally.without_service = Micros::default();
        let Self { engine, fleet, .. } = self;
        let limit = clock::now().plus_ms(CHANGE_MS_MAX);
        school::meanwhile(engine, limit, || fleet.shrink().map_err(ScenarioError::Victim))?;
        engine.run_until(clock::now().plus_ms(BACK_MS_MAX), |e| school.away(e) == 0)?;
        let away = school.away(engine) + school.lost(engine);
        if away > 0 {
            self.figures.never_back += away;
            let why = school::explain(&school::refusals(&self.engine));
            self.figures.fault_examples.push(format!("not back: {why}"));
        }
        let (losses_after, moves_after) = self.so_far(school);
        let mut moved = 0;
        for (class, before) in moves.iter().enumerate() {
            let moves = moves_after.get(class).unwrap_or(before) - before;
            let lost = losses_after.get(class).zip(losses.get(class));
            let lost = lost.map_or(0, |(after, before)| after - before);
            moved += u64::from(moves > 0);
            self.figures.games_moved_again += u64::from(moves > 1);
            self.figures.cut_off_by_shrinking += lost;
            self.figures.cut_off_without_a_move += if moves > 0 { 0 } else { lost };
        }
        self.figures.games_moved += moved;
        self.figures.moved_nothing += u64::from(moved == 0);
        self.without_service
            .merge(&self.engine.world.tally.without_service);
        Ok(())
    }

    /// Losses of sockets and moves of all classes so far.
    fn so_far(&self, school: &School) -> (Vec<u64>, Vec<u64>) {
        let classes = school.classes(&self.engine);
        classes
            .map(|class| (class.losses, u64::from(class.moves)))
            .unzip()
    }

    fn outcome(self) -> Outcome {
        let Self {
            mut engine,
            without_service,
            mut figures,
            ..
        } = self;
        let tally = &engine.world.tally;
        figures.without_service = Some(without_service.quantiles());
        figures.back = Some(tally.back.quantiles());
        let examples = tally.faults.examples();
        figures.fault_examples.extend(examples.iter().cloned());
        let mut measured = judge::measured(&figures, tally, &without_service);
        let own = own::own(&engine);
        measured.seconds(&mut engine.world.tally);
        Outcome {
            scenario: "scale",
            table: judge::table(&figures),
            measured,
            own,
            figures: serde_json::to_value(&figures).unwrap_or_default(),
        }
    }
}

/// Sockets of the classes that play at the same time, hosts included.
#[must_use]
pub fn sockets(timing: Timing) -> u64 {
    u64::from(timing.classes) * u64::from(CLASS_SIZE + 1)
}
