//! Many classes at once: their teachers and lobbies, their hosts, their reports against the ledger. What they do in
//! between is the scenario's.

use std::collections::BTreeMap;
use std::thread;

use super::bigroom::{Agreement, Told};
use super::{Lobby, ScenarioError, Teacher};
use crate::client::{Class, Conn, Due, Engine, EngineError, Host, Player, Targets, Task};
use crate::measure::{FaultKind, Reckoning, Rule};
use crate::plan::{self, Plan};
use crate::sys::clock::Stamp;
use crate::sys::{clock, index, signals, small};
use crate::wire::Report;

/// Lobbies opened by one teacher: below the twenty games a minute that the API allows.
const LOBBIES_PER_TEACHER: usize = 10;
/// Setting up, or fetching reports, may take this long for every teacher, in milliseconds: a password is hashed, ten games
/// are opened or ten reports of 30 players read.
const TEACHER_MS_MAX: u64 = 30_000;
/// A step without waiting for people takes at most this long, in milliseconds.
pub(super) const STEP_MS_MAX: u64 = 15_000;
/// Between two frames that everybody has to send at the same time, in microseconds: as fast as one thread can be in time.
const SEND_EVERY_US: u64 = 50;
/// Between two sockets that are dropped and opened again, in microseconds: closing one, opening one and resuming take 150 to 200 of one core.
const DROP_EVERY_US: u64 = 300;
/// A host's click shows something within this time, in milliseconds, or the server has left it undone.
const CLICK_MS_MAX: u64 = 5_000;
/// Classes that are described in words.
const EXAMPLES_MAX: usize = 5;
/// How often reports that are not saved yet are asked for again, in milliseconds.
const REPORTS_EVERY_MS: u64 = 250;

/// A class with its game.
#[derive(Debug)]
pub(super) struct Room {
    /// Number in the plan.
    pub(super) class: u32,
    /// The host's connection.
    pub(super) host: u32,
    teacher: usize,
    lobby: Lobby,
}

impl Room {
    /// The code of its game.
    pub(super) fn code(&self) -> &str {
        &self.lobby.code
    }
}

/// Classes that play at the same time.
#[derive(Debug, Default)]
pub(super) struct School {
    teachers: Vec<Teacher>,
    /// The classes.
    pub(super) rooms: Vec<Room>,
}

/// Does something that waits for HTTP calls while `engine` goes on serving its sockets.
pub(super) fn meanwhile<T: Send>(
    engine: &mut Engine,
    limit: Stamp,
    work: impl FnOnce() -> Result<T, ScenarioError> + Send,
) -> Result<T, ScenarioError> {
    thread::scope(|scope| {
        let worker = scope.spawn(work);
        // A call has a time limit of its own; the engine's only ends the waiting for a loop that never ends.
        engine.run_until(limit, |_| worker.is_finished())?;
        worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl School {
    /// Opens the lobbies of `classes`, whose hosts connect at once. The sockets of `engine` are served meanwhile.
    ///
    /// # Errors
    /// A call failed or was refused, or the engine failed.
    pub(super) fn open(&mut self, engine: &mut Engine, classes: &[u32]) -> Result<(), ScenarioError> {
        let (plan, targets) = (engine.world.plan.clone(), engine.targets().clone());
        let groups: Vec<&[u32]> = classes.chunks(LOBBIES_PER_TEACHER).collect();
        let first = self.teachers.len();
        let limit = clock::now().plus_ms(TEACHER_MS_MAX * (crate::sys::count(groups.len()) + 1));
        let opened = meanwhile(engine, limit, || open_all(&targets, &plan, &groups, first))?;
        for (group, (teacher, lobbies)) in groups.iter().zip(opened) {
            for (&class, lobby) in group.iter().zip(lobbies) {
                engine.add_class_as(class, &lobby.code);
                let host = engine.add_host(class, teacher.token().to_owned(), clock::now());
                self.rooms.push(Room {
                    class,
                    host,
                    teacher: self.teachers.len(),
                    lobby,
                });
            }
            self.teachers.push(teacher);
        }
        Ok(())
    }

    /// Waits until all hosts have their state, at most for a step; whether they have.
    ///
    /// # Errors
    /// The engine failed.
    pub(super) fn wait_for_hosts(&self, engine: &mut Engine) -> Result<bool, EngineError> {
        engine.run_until(clock::now().plus_ms(STEP_MS_MAX), |e| {
            self.hosts(e).all(Host::is_ready)
        })
    }

    /// The hosts.
    pub(super) fn hosts<'a>(&'a self, engine: &'a Engine) -> impl Iterator<Item = &'a Host> + 'a {
        self.rooms.iter().filter_map(|room| engine.host(room.host))
    }

    /// The classes.
    pub(super) fn classes<'a>(&'a self, engine: &'a Engine) -> impl Iterator<Item = &'a Class> + 'a {
        self.rooms
            .iter()
            .filter_map(|room| engine.world.class(room.class))
    }

    /// Lets every host do `task` now, one after the other.
    pub(super) fn tell_hosts(&self, engine: &mut Engine, task: Task) {
        let now = clock::now();
        for (position, room) in (0..).zip(&self.rooms) {
            let (at, conn) = (now.plus_us(position * SEND_EVERY_US), room.host);
            engine.schedule(Due { at, conn, task });
        }
    }

    /// Players that were welcomed.
    pub(super) fn joined(&self, engine: &Engine) -> u64 {
        self.classes(engine).map(|class| u64::from(class.joined)).sum()
    }

    /// Members that were cut off and are not back.
    pub(super) fn away(&self, engine: &Engine) -> u64 {
        self.classes(engine).map(|class| u64::from(class.away)).sum()
    }

    /// Members that will not come back, though their game is not over.
    pub(super) fn lost(&self, engine: &Engine) -> u64 {
        let lost = |(host, class): (&Host, &Class)| {
            let host_is_lost = host.is_done() && class.ended == 0;
            u64::from(class.gone.saturating_sub(class.ended)) + u64::from(host_is_lost)
        };
        let both = |room: &Room| Some((engine.host(room.host)?, engine.world.class(room.class)?));
        self.rooms.iter().filter_map(both).map(lost).sum()
    }

    /// Ends the playing and waits until everybody has seen the podium; the number of classes where that did not happen.
    ///
    /// # Errors
    /// The engine failed.
    pub(super) fn end(&self, engine: &mut Engine) -> Result<u64, EngineError> {
        self.note_stalled(engine);
        self.tell_hosts(engine, Task::End);
        self.wait_for_podium(engine, STEP_MS_MAX)
    }

    /// Waits for the podium in all classes, at most `limit_ms`; the number of classes where not everybody saw it.
    ///
    /// # Errors
    /// The engine failed.
    pub(super) fn wait_for_podium(&self, engine: &mut Engine, limit_ms: u64) -> Result<u64, EngineError> {
        engine.run_until(clock::now().plus_ms(limit_ms), |e| self.without_podium(e) == 0)?;
        Ok(self.without_podium(engine))
    }

    fn without_podium(&self, engine: &Engine) -> u64 {
        crate::sys::count(self.stuck(engine).count())
    }

    fn stuck<'a>(&'a self, engine: &'a Engine) -> impl Iterator<Item = (&'a Host, &'a Class)> + 'a {
        let both = |room: &Room| Some((engine.host(room.host)?, engine.world.class(room.class)?));
        let all = self.rooms.iter().filter_map(both);
        all.filter(|(host, class)| !host.is_over() || class.over + class.gone < class.joined)
    }

    /// Where the classes stand in which not everybody saw the podium, in words.
    pub(super) fn explain_stuck(&self, engine: &Engine) -> Vec<String> {
        let words = |(host, class): (&Host, &Class)| {
            let here = if host.is_here() { "" } else { ", cut off" };
            format!(
                "no podium: class {}: the host is in {} of question {}{here}; {} of {} players saw it, {} are away",
                class.number,
                host.phase(),
                host.question(),
                class.over,
                class.joined,
                class.away
            )
        };
        self.stuck(engine).take(EXAMPLES_MAX).map(words).collect()
    }

    /// Everybody who is here asks for a sign of life from `at` on; the moment after which it counts.
    pub(super) fn ask_for_signs_of_life(&self, engine: &mut Engine, at: Stamp) -> Stamp {
        let here = |conn: &u32| engine.conns().get(index(*conn)).is_some_and(|c| c.is_here());
        let asking: Vec<u32> = (0..small(engine.conns().len())).filter(here).collect();
        for (position, conn) in (0..).zip(asking) {
            engine.schedule(Due {
                at: at.plus_us(position * SEND_EVERY_US),
                conn,
                task: Task::Ping,
            });
        }
        at
    }

    /// Members who are here and were told nothing since `moment`.
    pub(super) fn without_sign_of_life(&self, engine: &Engine, moment: Stamp) -> u64 {
        let silent = |conn: &u32| !engine.has_heard_since(*conn, moment);
        crate::sys::count((0..small(engine.conns().len())).filter(silent).count())
    }

    /// Every phone asks for the head of the sequence, since a lost last frame has no successor that would show it missing;
    /// the number of phones that were not answered.
    ///
    /// # Errors
    /// The engine failed.
    pub(super) fn ask_every_head(&self, engine: &mut Engine) -> Result<u64, EngineError> {
        let before = engine.world.tally.pongs;
        let at = clock::now();
        let mut asked = 0;
        for conn in 0..small(engine.conns().len()) {
            if engine.conns().get(index(conn)).is_some_and(Conn::is_here) {
                engine.schedule(Due {
                    at: at.plus_us(asked * SEND_EVERY_US),
                    conn,
                    task: Task::Ping,
                });
                asked += 1;
            }
        }
        let sent_at = at.plus_us(asked * SEND_EVERY_US);
        engine.run_until(sent_at.plus_ms(STEP_MS_MAX), |e| {
            e.world.tally.pongs >= before + asked
        })?;
        Ok((before + asked).saturating_sub(engine.world.tally.pongs))
    }

    /// Fetches the reports and compares them with the ledger. A game without a report counts every acked answer as lost.
    ///
    /// # Errors
    /// A call failed or was refused, or the engine failed.
    /// Reports that are not saved yet are waited for, `wait_ms` for those of one teacher.
    pub(super) fn reckon(&mut self, engine: &mut Engine, wait_ms: u64) -> Result<Verdict, ScenarioError> {
        let targets = engine.targets().clone();
        let limit = clock::now().plus_ms(TEACHER_MS_MAX * (crate::sys::count(self.teachers.len()) + 1));
        let (teachers, rooms) = (&mut self.teachers, &self.rooms);
        let saved = meanwhile(engine, limit, || fetch_all(&targets, teachers, rooms, wait_ms))?;
        let mut verdict = Verdict::default();
        let disagreements = self.disagreements(engine, &saved);
        let faults = &mut engine.world.tally.faults;
        for (class, what, n) in disagreements {
            (0..n).for_each(|_| faults.add(FaultKind::Disagreement, || format!("class {class}: {what}")));
        }
        for room in &self.rooms {
            let report = saved.get(&room.class);
            verdict.without_report += u64::from(report.is_none());
            let rows = report.map_or(&[][..], Report::players);
            let skipped = report.map(Report::skipped).unwrap_or_default();
            let rule = |q| Rule {
                correct: plan::reference_correct(q),
                time_ms: plan::TIME_MS,
                is_skipped: skipped.contains(&q),
            };
            verdict
                .reckoning
                .add(&engine.world.tally.ledger.reckon(room.class, rows, rule));
        }
        Ok(verdict)
    }
}

impl School {
    /// What report, podium and phones of the classes with a report say differently: class, what, how often.
    fn disagreements(&self, engine: &Engine, saved: &BTreeMap<u32, Report>) -> Vec<(u32, &'static str, u64)> {
        let mut phones: BTreeMap<u32, Vec<&Player>> = BTreeMap::new();
        for player in engine.players() {
            phones.entry(player.class()).or_default().push(player);
        }
        let tally = &engine.world.tally;
        // Who was cut off before the `welcome` may have joined twice.
        let may_be_twice = tally.failed_attempts + tally.cut_off > 0;
        let mut found = Vec::new();
        for room in &self.rooms {
            let (Some(report), Some(host)) = (saved.get(&room.class), engine.host(room.host)) else {
                continue;
            };
            // A class without a podium is reported as such.
            if !host.is_over() {
                continue;
            }
            let told = Told {
                phones: phones.get(&room.class).map_or(&[][..], Vec::as_slice),
                podium: host.places(),
                roster: host.roster(),
                // What a host was shown before its server fell may have been taken back.
                reveals: if tally.new_epochs == 0 {
                    host.reveals()
                } else {
                    &[]
                },
            };
            let skipped = report.skipped();
            let mut agreement = Agreement::of(&told, report.players(), |q| skipped.contains(&q));
            if may_be_twice {
                agreement.strangers = 0;
            }
            let faults = agreement.faults().into_iter().filter(|&(_, n)| n > 0);
            found.extend(faults.map(|(what, n)| (room.class, what, n)));
        }
        found
    }

    /// Reports the hosts whose last click has shown nothing for a step's time or longer.
    fn note_stalled(&self, engine: &mut Engine) {
        let long_ago = Stamp(clock::now().0.saturating_sub(CLICK_MS_MAX * 1_000));
        let stalled = self.rooms.iter().filter(|room| {
            engine
                .host(room.host)
                .is_some_and(|host| host.is_here() && host.waits_since(long_ago))
        });
        let classes: Vec<u32> = stalled.map(|room| room.class).collect();
        for class in classes {
            engine.world.tally.faults.add(FaultKind::NoEffect, || {
                format!("class {class}, host: a click showed nothing for {CLICK_MS_MAX} ms")
            });
        }
    }
}

/// The ledger of all classes against their reports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Verdict {
    /// Sums over all classes.
    pub(super) reckoning: Reckoning,
    /// Games whose result was not saved.
    pub(super) without_report: u64,
}

fn open_all(
    targets: &Targets,
    plan: &Plan,
    groups: &[&[u32]],
    first: usize,
) -> Result<Vec<(Teacher, Vec<Lobby>)>, ScenarioError> {
    let open = |(number, group): (usize, &&[u32])| {
        if signals::stop_requested() {
            return Err(EngineError::Stopped.into());
        }
        // Segments run in processes of their own, whose number is part of a teacher's name.
        let teacher = Teacher::register(targets, small(first + number), plan.questions)?;
        let lobbies = group
            .iter()
            .map(|&class| teacher.open_lobby(targets, plan, class))
            .collect::<Result<Vec<_>, _>>()?;
        Ok((teacher, lobbies))
    };
    groups.iter().enumerate().map(open).collect()
}

/// The saved results by class; those that are not saved in time are missing.
fn fetch_all(
    targets: &Targets,
    teachers: &mut [Teacher],
    rooms: &[Room],
    wait_ms: u64,
) -> Result<BTreeMap<u32, Report>, ScenarioError> {
    let mut saved = BTreeMap::new();
    for (number, teacher) in teachers.iter_mut().enumerate() {
        // A long run outlives an access token.
        teacher.sign_in_again(targets)?;
        let limit = clock::now().plus_ms(wait_ms);
        let mut open: Vec<&Room> = rooms.iter().filter(|room| room.teacher == number).collect();
        while !open.is_empty() {
            if signals::stop_requested() {
                return Err(EngineError::Stopped.into());
            }
            let mut missing = Vec::new();
            for room in open {
                match teacher.report(targets, &room.lobby)? {
                    Some(report) => {
                        saved.insert(room.class, report);
                    }
                    None => missing.push(room),
                }
            }
            open = missing;
            if clock::now() >= limit {
                break;
            }
            if !open.is_empty() {
                clock::pause_ms(REPORTS_EVERY_MS);
            }
        }
    }
    Ok(saved)
}

/// Adds the players of `class`, whose joins are due as planned from `opening` on.
pub(super) fn add_players(engine: &mut Engine, class: u32, opening: Stamp) {
    for student in 0..engine.world.plan.size(class) {
        let after_us = engine.world.plan.join_after_us(class, student);
        engine.add_player(class, student, opening.plus_us(u64::from(after_us)));
    }
}

/// Status of the last attempt to come back of a class with members away or gone, and how many classes had it.
pub(super) fn refusals(engine: &Engine) -> BTreeMap<u16, u64> {
    let mut found = BTreeMap::new();
    let classes = engine.world.classes.iter();
    for class in classes.filter(|class| class.away > 0 || class.gone > class.ended) {
        *found.entry(class.last_refusal).or_insert(0) += 1;
    }
    found
}

/// What tells a person why members are away.
pub(super) fn explain(refusals: &BTreeMap<u16, u64>) -> String {
    let words = |(status, classes): (&u16, &u64)| {
        let why = match status {
            0 => "connections fail".to_owned(),
            404 | 4_404 => format!("{status}: the server does not know the game any more"),
            _ => format!("refused with {status}"),
        };
        format!("{classes} classes: {why}")
    };
    let all: Vec<String> = refusals.iter().map(words).collect();
    all.join("; ")
}

/// Every connection drops its socket from `at` on and connects again at once, as fast as one thread can open sockets and
/// not be late itself; how many there are.
pub(super) fn drop_all(engine: &mut Engine, at: Stamp) -> u64 {
    let mut dropped = 0;
    for conn in 0..small(engine.conns().len()) {
        if engine.conns().get(index(conn)).is_some_and(|c| c.is_here()) {
            engine.schedule(Due {
                at: at.plus_us(dropped * DROP_EVERY_US),
                conn,
                task: Task::Drop { for_ms: 0 },
            });
            dropped += 1;
        }
    }
    dropped
}
