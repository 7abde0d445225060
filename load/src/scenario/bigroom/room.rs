//! One room from its first join to its last close.

use std::collections::BTreeMap;

use super::agreement::{Agreement, Told};
use super::{Room, RoomFigures};
use crate::client::{Class, Due, Engine, EngineError, Host, Targets, Task};
use crate::measure::{Micros, Reckoning, Rule, Tally};
use crate::plan;
use crate::report::Console;
use crate::scenario::own::Spent;
use crate::scenario::{Lobby, ScenarioError, Teacher};
use crate::sys::{clock, index, small};
use crate::wire::{PlayerRow, Report};

/// A step without waiting for people takes at most this long, in milliseconds.
const STEP_MS_MAX: u64 = 15_000;
/// From the podium at the host to the podium at the last phone, in milliseconds.
const LAST_FRAME_MS_MAX: u64 = 2_000;
/// How often a report is asked for until it is saved, in milliseconds.
const REPORT_EVERY_MS: u64 = 100;

/// Plays the plan's next room.
pub(super) fn play(
    engine: &mut Engine,
    targets: &Targets,
    console: &mut Console,
) -> Result<Room, ScenarioError> {
    let class = small(engine.world.classes.len());
    let plan = engine.world.plan.clone();
    let size = plan.size(class);
    console.progress(&format!("room of {size}: setting up"));
    let mut teacher = Teacher::register(targets, class, plan.questions)?;
    let lobby = teacher.open_lobby(targets, &plan, class)?;
    engine.add_class(&lobby.code);
    engine.world.tally = Tally::default();

    let host = engine.add_host(class, teacher.token().to_owned(), clock::now());
    step(engine, |e| {
        e.host(host).is_some_and(crate::client::Host::is_ready)
    })?;
    let before = Spent::so_far(engine);
    join_all(engine, class, size, console)?;
    let joined = Spent::so_far(engine);
    play_questions(engine, class, host, size, console)?;
    let playing = Spent::so_far(engine).since(&joined);
    let unverified = ask_every_head(engine, class)?;

    teacher.sign_in_again(targets)?;
    let reached_podium = engine.host(host).is_some_and(|h| h.is_over() && !h.is_done());
    let report = if reached_podium {
        fetch_report(engine, targets, &teacher, &lobby)?
    } else {
        None
    };
    engine.schedule(Due {
        at: clock::now(),
        conn: host,
        task: Task::Finish,
    });
    step(engine, |e| {
        e.world.classes.get(index(class)).is_some_and(|c| c.gone >= size)
    })?;
    let saved = report.as_ref().map_or(&[][..], Report::players);
    let rule = |q| Rule {
        correct: plan::reference_correct(q),
        time_ms: plan::TIME_MS,
        is_skipped: false,
    };
    let ledger = engine.world.tally.ledger.reckon(class, saved, rule);
    let (figures, last_phone) = figures(engine, class, host, (saved, ledger), &playing);
    Ok(Room {
        figures: RoomFigures {
            unverified,
            ..figures
        },
        tally: std::mem::take(&mut engine.world.tally),
        last_phone,
        joining: joined.since(&before),
        playing,
    })
}

fn step(engine: &mut Engine, done: impl FnMut(&Engine) -> bool) -> Result<bool, EngineError> {
    engine.run_until(clock::now().plus_ms(STEP_MS_MAX), done)
}

fn join_all(engine: &mut Engine, class: u32, size: u32, console: &mut Console) -> Result<(), EngineError> {
    console.progress(&format!("room of {size}: joining"));
    let plan = engine.world.plan.clone();
    let opening = clock::now();
    for student in 0..size {
        let at = opening.plus_us(u64::from(plan.join_after_us(class, student)));
        engine.add_player(class, student, at);
    }
    let limit = opening.plus_ms(u64::from(plan.pace.join_over_ms) + STEP_MS_MAX);
    engine.run_until(limit, |e| {
        let class = e.world.classes.get(index(class));
        class.is_some_and(|c| c.joined + c.gone >= size)
    })?;
    Ok(())
}

fn play_questions(
    engine: &mut Engine,
    class: u32,
    host: u32,
    size: u32,
    console: &mut Console,
) -> Result<(), EngineError> {
    let plan = engine.world.plan.clone();
    let question_ms = u64::from(plan::TIME_MS) + u64::from(plan.pace.results_ms.1) + STEP_MS_MAX / 5;
    let limit = clock::now().plus_ms(question_ms * u64::from(plan.questions) + STEP_MS_MAX);
    engine.schedule(Due {
        at: clock::now(),
        conn: host,
        task: Task::Start,
    });
    let mut shown = 0;
    engine.run_until(limit, |e| {
        let q = e.host(host).map_or(0, Host::question);
        if q != shown {
            shown = q;
            let answers = e.world.tally.ledger.entered();
            console.progress(&format!(
                "room of {size}: question {q} of {}, {answers} answers so far",
                plan.questions
            ));
        }
        e.host(host).is_some_and(Host::is_over)
    })?;
    // Whoever misses the end is found when it asks for the head.
    engine.run_until(clock::now().plus_ms(LAST_FRAME_MS_MAX), |e| {
        let everybody_knows = |class: &Class| class.over + class.gone >= size;
        e.host(host).is_some_and(Host::is_done) || e.world.class(class).is_some_and(everybody_knows)
    })?;
    Ok(())
}

/// The last frame of a game has no successor that would show it missing, so every phone asks for the head; how many were not
/// answered.
fn ask_every_head(engine: &mut Engine, class: u32) -> Result<u64, EngineError> {
    let now = clock::now();
    let phones: Vec<u32> = (0..)
        .zip(engine.conns())
        .filter(|(_, conn)| conn.is_open_player_of(class))
        .map(|(number, _)| number)
        .collect();
    let asked = crate::sys::count(phones.len());
    for conn in phones {
        engine.schedule(Due {
            at: now,
            conn,
            task: Task::Ping,
        });
    }
    step(engine, |e| e.world.tally.pongs >= asked)?;
    Ok(asked.saturating_sub(engine.world.tally.pongs))
}

/// Asks until the result is saved, serving the sockets in between; none when it never is.
fn fetch_report(
    engine: &mut Engine,
    targets: &Targets,
    teacher: &Teacher,
    lobby: &Lobby,
) -> Result<Option<Report>, ScenarioError> {
    let limit = clock::now().plus_ms(STEP_MS_MAX);
    while clock::now() < limit {
        if let Some(report) = teacher.report(targets, lobby)? {
            return Ok(Some(report));
        }
        engine.run_until(clock::now().plus_ms(REPORT_EVERY_MS), |_| false)?;
    }
    Ok(None)
}

fn figures(
    engine: &Engine,
    class: u32,
    host: u32,
    (saved, ledger): (&[PlayerRow], Reckoning),
    playing: &Spent,
) -> (RoomFigures, Micros) {
    let world = &engine.world;
    let tally = &world.tally;
    // A class without sockets stands in for one that was never added, which cannot be.
    let unplayed = Class::new(class, 0, Vec::new());
    let played = world.classes.get(index(class)).unwrap_or(&unplayed);
    let clicks = &played.clicks[..];
    let mut last_phone = Micros::default();
    clicks
        .iter()
        .filter(|c| c.phones > 0)
        .for_each(|c| last_phone.record(c.last_us));
    let (places, reveals) = engine
        .host(host)
        .map_or((&[][..], &[][..]), |h| (h.places(), h.reveals()));
    let phones: Vec<_> = engine.players().filter(|p| p.class() == class).collect();
    let told = Told {
        phones: &phones,
        podium: places,
        roster: engine.host(host).map_or(0, Host::roster),
        reveals,
    };
    let mut agreement = Agreement::of(&told, saved, |_| false);
    agreement.judge_room(&told, clicks);
    let figures = RoomFigures {
        players: world.plan.size(class),
        joined: played.joined,
        told_of_end: played.ended,
        unverified: 0,
        new_epochs: tally.new_epochs,
        traffic: played.traffic,
        join: tally.join.quantiles(),
        fan_out: tally.fan_out.quantiles(),
        last_phone: last_phone.quantiles(),
        ack: tally.ack.quantiles(),
        lateness: tally.lateness.quantiles(),
        handling: tally.handling.quantiles(),
        harness_us_per_message: playing.us_per_message(),
        ledger,
        too_late_to_send: tally.too_late_to_send,
        agreement,
        faults: tally
            .faults
            .counts()
            .map(|(kind, n)| (kind.name(), n))
            .collect::<BTreeMap<_, _>>(),
        fault_examples: tally.faults.examples().to_vec(),
    };
    (figures, last_phone)
}
