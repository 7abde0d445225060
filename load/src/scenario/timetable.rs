//! Calls that are known beforehand, each with its moment.

use crate::client::calls::{Ask, Heard, Script, Step};
use crate::sys::clock::Stamp;

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    /// Its tag.
    pub(super) tag: u64,
    /// Its status; 0 without an answer.
    pub(super) status: u16,
    /// From the moment it was due, in microseconds.
    pub(super) took_us: u64,
    /// Seconds after which to come back, of a refusal that says so.
    pub(super) retry_after_s: Option<u32>,
}

/// The calls, and whoever is told of each answer.
pub(super) struct Timetable<'a> {
    /// The last first.
    asks: Vec<Ask>,
    /// What became of those that have ended, in the order of their ends.
    pub(super) ended: Vec<Ended>,
    tell: &'a mut dyn FnMut(&Heard<'_>),
}

impl<'a> Timetable<'a> {
    /// These calls.
    pub(super) fn new(mut asks: Vec<Ask>, tell: &'a mut dyn FnMut(&Heard<'_>)) -> Self {
        asks.sort_by_key(|ask| std::cmp::Reverse(ask.due));
        Self {
            asks,
            ended: Vec::new(),
            tell,
        }
    }
}

impl Script for Timetable<'_> {
    fn next(&mut self, now: Stamp) -> Step {
        match self.asks.last() {
            None => Step::End,
            Some(ask) if ask.due > now => Step::Wait(ask.due),
            Some(_) => self.asks.pop().map_or(Step::End, Step::Ask),
        }
    }

    fn heard(&mut self, heard: &Heard<'_>) {
        self.ended.push(Ended {
            tag: heard.tag,
            status: heard.status(),
            took_us: heard.took_us(),
            retry_after_s: heard.answer.as_ref().ok().and_then(|answer| answer.retry_after_s),
        });
        (self.tell)(heard);
    }
}
