//! What others see of an API while it is overloaded: whoever probes it, and teachers who start a class.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::client::{Target, Targets};
use crate::measure::Micros;
use crate::scenario::setup;
use crate::scenario::staff::Member;
use crate::sys::clock::{self, Stamp};

/// Between two probes, in milliseconds: more often than a cluster asks, so that there is a percentile to go by.
const PROBE_EVERY_MS: u64 = 50;
/// A probe without an answer after this time is missed.
const PROBE_MAX: Duration = Duration::from_secs(1);
/// Between two starts of a class, in milliseconds.
const START_EVERY_MS: u64 = 500;
/// Times that a teacher presses the button.
const PRESSES_MAX: u32 = 3;
/// Between two presses, in milliseconds.
const PRESS_AGAIN_MS: u64 = 1_000;
/// Failed starts that are described in words.
const EXAMPLES_MAX: usize = 5;

/// What probes saw.
#[derive(Debug, Default)]
pub(super) struct Probes {
    /// From the moment one was due to its answer; those without one count as long as they were waited for.
    pub(super) took: Micros,
    /// Those without a good answer.
    pub(super) missed: u64,
}

/// What teachers saw.
#[derive(Debug, Default)]
pub(super) struct Starts {
    /// From the first press of the button to the game.
    pub(super) took: Micros,
    /// Those that never came to a game.
    pub(super) failed: u64,
    /// Some of them in words.
    pub(super) examples: Vec<String>,
}

/// Asks whether the API lives until `stop`.
pub(super) fn probe(admin: Option<&Target>, stop: &AtomicBool, probes: &mut Probes) {
    let Some(admin) = admin else { return };
    let mut due = clock::now();
    while !stop.load(Ordering::Relaxed) {
        clock::pause_until(due);
        let is_live = ask(admin).unwrap_or(false);
        let now = clock::now();
        probes.took.record(now.since(due));
        probes.missed += u64::from(!is_live);
        // A probe that was due while one was waited for is not made: it would only wait for the same.
        due = Stamp(due.0.max(now.0.saturating_sub(PROBE_EVERY_MS * 1_000))).plus_ms(PROBE_EVERY_MS);
    }
}

fn ask(admin: &Target) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&admin.address, PROBE_MAX)?;
    stream.set_read_timeout(Some(PROBE_MAX))?;
    write!(
        stream,
        "GET /live HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        admin.host
    )?;
    let mut status = [0; 12];
    stream.read_exact(&mut status)?;
    Ok(&status == b"HTTP/1.1 200")
}

/// Lets teachers start classes, one after the other, until `stop`.
pub(super) fn start_classes(targets: &Targets, staff: &[Member], stop: &AtomicBool, starts: &mut Starts) {
    let mut number = 0;
    let mut due = clock::now();
    while !stop.load(Ordering::Relaxed) {
        clock::pause_until(due);
        let teacher = staff.get(crate::sys::index(number) % staff.len().max(1));
        let began = clock::now();
        match teacher.map(|teacher| start(targets, teacher, number)) {
            Some(Ok(())) => starts.took.record(clock::now().since(began)),
            Some(Err(why)) => {
                starts.took.record(clock::now().since(began));
                starts.failed += 1;
                if starts.examples.len() < EXAMPLES_MAX {
                    starts.examples.push(why);
                }
            }
            None => return,
        }
        number += 1;
        due = Stamp(due.0.max(clock::now().0.saturating_sub(START_EVERY_MS * 1_000))).plus_ms(START_EVERY_MS);
    }
}

fn start(targets: &Targets, teacher: &Member, number: u32) -> Result<(), String> {
    let quiz = teacher.quizzes.first().map_or("", String::as_str);
    let mut why = String::new();
    for press in 0..PRESSES_MAX {
        if press > 0 {
            clock::pause_ms(PRESS_AGAIN_MS);
        }
        match setup::create_game(targets, &teacher.token, quiz, number) {
            Ok(_lobby) => return Ok(()),
            Err(refused) => why = format!("class {number}: {refused}"),
        }
    }
    Err(why)
}
