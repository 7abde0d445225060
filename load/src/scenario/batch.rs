//! Many calls that have to succeed, so many at once: what a run needs before it can begin.

use std::rc::Rc;

use super::ScenarioError;
use crate::client::calls::{Answer, Ask, Calls, Heard, Script, Step};
use crate::client::{HttpError, Response};
use crate::sys::clock::{self, Stamp};
use crate::sys::small;

/// A call that is refused for want of capacity is made again, after the time that it was told or this, in milliseconds.
const AGAIN_MS: u64 = 500;
/// Times that one call is made at most.
const TIMES_MAX: u32 = 20;
/// When nothing is to be done but to wait for answers, in milliseconds.
const LOOK_MS: u64 = 50;

/// The calls, by number: which way each goes, and what it says.
type Make<'a> = &'a mut dyn FnMut(u32) -> (u32, Rc<[u8]>);
/// Takes the answers, by number.
type Take<'a> = &'a mut dyn FnMut(u32, &Answer<'_>) -> Result<(), String>;

struct Batch<'a> {
    number: u32,
    begun: u32,
    at_once: u32,
    under_way: u32,
    /// Calls to be made again: when, which, and how often they were made.
    again: Vec<(Stamp, u32, u32)>,
    times: Vec<u32>,
    make: Make<'a>,
    take: Take<'a>,
    failed: Option<HttpError>,
    what: &'a str,
}

/// Makes `number` calls, `at_once` at the same time, and hands their answers over in the order in which they come.
///
/// # Errors
/// One was refused for good, had no answer, or one that cannot be read; `what` they were.
pub(super) fn batch(
    calls: &mut Calls,
    what: &str,
    number: u32,
    at_once: u32,
    make: Make<'_>,
    take: Take<'_>,
) -> Result<(), ScenarioError> {
    let mut batch = Batch {
        number,
        begun: 0,
        at_once: at_once.max(1),
        under_way: 0,
        again: Vec::new(),
        times: vec![0; crate::sys::index(number)],
        make,
        take,
        failed: None,
        what,
    };
    calls.run(&mut batch)?;
    match batch.failed {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

impl Batch<'_> {
    fn ask(&mut self, number: u32, now: Stamp) -> Step {
        let (way, request) = (self.make)(number);
        self.under_way += 1;
        if let Some(times) = self.times.get_mut(crate::sys::index(number)) {
            *times += 1;
        }
        Step::Ask(Ask {
            due: now,
            way,
            tag: u64::from(number),
            request,
        })
    }

    fn fail(&mut self, error: HttpError) {
        self.failed.get_or_insert(error);
    }
}

impl Script for Batch<'_> {
    fn next(&mut self, now: Stamp) -> Step {
        let is_done = self.begun >= self.number && self.again.is_empty() && self.under_way == 0;
        if is_done || self.failed.is_some() {
            return Step::End;
        }
        let wait = Step::Wait(now.plus_ms(LOOK_MS));
        if self.under_way >= self.at_once {
            return wait;
        }
        if let Some(place) = self.again.iter().position(|&(at, ..)| at <= now) {
            let (_, number, _) = self.again.swap_remove(place);
            return self.ask(number, now);
        }
        if self.begun < self.number {
            self.begun += 1;
            return self.ask(self.begun - 1, now);
        }
        wait
    }

    fn heard(&mut self, heard: &Heard<'_>) {
        self.under_way -= 1;
        let number = small(usize::try_from(heard.tag).unwrap_or(usize::MAX));
        let call = || self.what.to_owned();
        let times = self.times.get(crate::sys::index(number)).copied().unwrap_or(0);
        match &heard.answer {
            Ok(answer) if (200..300).contains(&answer.status) => {
                if let Err(why) = (self.take)(number, answer) {
                    self.fail(HttpError::Status {
                        call: self.what.to_owned(),
                        status: answer.status,
                        detail: why,
                    });
                }
            }
            Ok(answer) if answer.status == 503 && times < TIMES_MAX => {
                let wait_ms = answer.retry_after_s.map_or(AGAIN_MS, |s| u64::from(s) * 1_000);
                self.again.push((clock::now().plus_ms(wait_ms), number, times));
            }
            Ok(answer) => {
                let response = Response {
                    status: answer.status,
                    body: answer.body.to_vec(),
                };
                let refusal = response.refusal(call());
                self.fail(refusal);
            }
            Err(why) => {
                let source = std::io::Error::other(format!("{why:?}"));
                self.fail(HttpError::Io { call: call(), source });
            }
        }
    }
}
