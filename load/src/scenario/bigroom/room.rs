//! One room from its first join to its last close.

use std::collections::BTreeMap;

use super::RoomFigures;
use super::agreement::Agreement;
use crate::client::{Class, Due, Engine, EngineError, Host, Http, Task};
use crate::measure::{Micros, Reckoning, Rule, Tally};
use crate::plan;
use crate::report::Console;
use crate::scenario::{Lobby, ScenarioError, Teacher};
use crate::sys::{clock, index, process, real, small};
use crate::wire::Report;

/// A step without waiting for people takes at most this long, in milliseconds.
const STEP_MS_MAX: u64 = 15_000;
/// How often a report is asked for until it is saved, in milliseconds.
const REPORT_EVERY_MS: u64 = 100;

/// Plays the plan's next room.
pub(super) fn play(
    engine: &mut Engine,
    http: &Http,
    console: &mut Console,
) -> Result<RoomFigures, ScenarioError> {
    let class = small(engine.world.classes.len());
    let plan = engine.world.plan.clone();
    let size = plan.size(class);
    console.progress(&format!("room of {size}: setting up"));
    let mut teacher = Teacher::register(http, class, plan.questions)?;
    let lobby = teacher.open_lobby(http, &plan, class)?;
    engine.add_class(&lobby.code);
    engine.world.tally = Tally::default();
    let cpu_before = process::own_usage().map_or(0, |u| u.cpu_us);

    let host = engine.add_host(class, teacher.token().to_owned(), clock::now());
    step(engine, |e| {
        e.host(host).is_some_and(crate::client::Host::is_ready)
    })?;
    join_all(engine, class, size, console)?;
    play_questions(engine, class, host, size, console)?;
    ask_every_head(engine, class)?;
    let cpu_us = process::own_usage()
        .map_or(0, |u| u.cpu_us)
        .saturating_sub(cpu_before);

    teacher.sign_in_again(http)?;
    let reached_podium = engine.host(host).is_some_and(|h| h.is_over() && !h.is_done());
    let report = if reached_podium {
        fetch_report(engine, http, &teacher, &lobby)?
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
    Ok(figures(engine, class, host, report.as_ref(), cpu_us))
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
            let answers = e.world.tally.ledger.rows().len();
            console.progress(&format!(
                "room of {size}: question {q} of {}, {answers} answers so far",
                plan.questions
            ));
        }
        let everybody_knows = e
            .world
            .classes
            .get(index(class))
            .is_some_and(|c| c.over + c.gone >= size);
        e.host(host)
            .is_some_and(|h| h.is_done() || (h.is_over() && everybody_knows))
    })?;
    Ok(())
}

/// The last frame of a game has no successor that would show it missing, so every phone asks for the head.
fn ask_every_head(engine: &mut Engine, class: u32) -> Result<(), EngineError> {
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
    Ok(())
}

/// Asks until the result is saved, serving the sockets in between; none when it never is.
fn fetch_report(
    engine: &mut Engine,
    http: &Http,
    teacher: &Teacher,
    lobby: &Lobby,
) -> Result<Option<Report>, ScenarioError> {
    let path = format!("/store/games/{}/report", lobby.game);
    let limit = clock::now().plus_ms(STEP_MS_MAX);
    while clock::now() < limit {
        let response = http.get(&path, Some(teacher.token()))?;
        if response.status != 404 {
            return Ok(Some(response.read("GET", &path)?));
        }
        engine.run_until(clock::now().plus_ms(REPORT_EVERY_MS), |_| false)?;
    }
    Ok(None)
}

fn figures(engine: &Engine, class: u32, host: u32, report: Option<&Report>, cpu_us: u64) -> RoomFigures {
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
    let saved = report.map_or(&[][..], Report::players);
    let rule = |q| Rule {
        correct: plan::reference_correct(q),
        time_ms: plan::TIME_MS,
    };
    let ledger: Reckoning = tally.ledger.reckon(class, saved, rule);
    let (places, reveals) = engine
        .host(host)
        .map_or((&[][..], &[][..]), |h| (h.places(), h.reveals()));
    let phones: Vec<_> = engine.players().filter(|p| p.class() == class).collect();
    let agreement = Agreement::of(&phones, places, reveals, saved, clicks);
    RoomFigures {
        players: world.plan.size(class),
        joined: played.joined,
        told_of_end: played.ended,
        traffic: played.traffic,
        join: tally.join.quantiles(),
        fan_out: tally.fan_out.quantiles(),
        last_phone: last_phone.quantiles(),
        ack: tally.ack.quantiles(),
        lateness: tally.lateness.quantiles(),
        handling: tally.handling.quantiles(),
        harness_us_per_message: real(cpu_us) / real(tally.messages.max(1)),
        ledger,
        too_late_to_send: tally.too_late_to_send,
        agreement,
        faults: tally
            .faults
            .counts()
            .map(|(kind, n)| (kind.name(), n))
            .collect::<BTreeMap<_, _>>(),
        fault_examples: tally.faults.examples().to_vec(),
    }
}
