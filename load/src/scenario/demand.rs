//! Demand: calls of many kinds, at a rate that does not ask how the server is, or so many at once. Phase follows phase without a pause, and
//! a call belongs to the phase in which it was due.
//!
//! Which calls there are is a [`Menu`]'s; what became of them is kept in a [`Tally`] for each kind and phase.

mod tally;

use std::rc::Rc;
use std::time::Duration;

pub(super) use tally::{PhaseTally, Tally};

use crate::client::EngineError;
use crate::client::calls::{Ask, Calls, Heard, Script, Step};
use crate::plan::{Draw, Subject};
use crate::sys::clock::{self, Stamp};
use crate::sys::{index, real, small};

/// A server that answers nothing for so long is not asked by more callers at once than it has; a moment, in milliseconds.
const LOOK_MS: u64 = 50;

/// How much is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pressure {
    /// So many calls a second, whatever becomes of them, at moments that know nothing of each other.
    PerSecond(f64),
    /// So many callers, each of whom asks again when it was answered.
    AtOnce(u32),
}

/// A time of equal demand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phase {
    /// Its name in results.
    pub(super) name: String,
    /// How much is asked for.
    pub(super) pressure: Pressure,
    /// How long, in milliseconds.
    pub(super) ms: u64,
    /// Calls that are due in the first so many milliseconds are made and do not count.
    pub(super) unmeasured_ms: u64,
}

/// A call that a menu has chosen.
#[derive(Debug, Clone)]
pub(super) struct Dish {
    /// Its kind, by number.
    pub(super) kind: u32,
    /// Which way it goes.
    pub(super) way: u32,
    /// Whose it is, or what it is about: the menu's own number.
    pub(super) about: u32,
    /// The request.
    pub(super) request: Rc<[u8]>,
}

/// The calls that may be asked for.
pub(super) trait Menu {
    /// Kinds of calls.
    fn kinds(&self) -> usize;

    /// The call that `bits` choose, every bit as likely as not.
    fn choose(&mut self, bits: u64) -> Dish;

    /// An answer of a dish has come, or none will. Whether it is right for what was asked; of refusals nobody asks.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    fn took(&mut self, kind: u32, about: u32, heard: &Heard<'_>) -> Result<(), String>;
}

/// A call on its way.
#[derive(Debug, Clone, Copy)]
struct Pending {
    phase: u32,
    kind: u32,
    about: u32,
    counts: bool,
}

struct Driver<'a, M> {
    menu: &'a mut M,
    phases: &'a [Phase],
    tallies: Vec<PhaseTally>,
    draw: Draw,
    /// The phase, and when it began.
    phase: u32,
    began: Stamp,
    /// When the next call of an open phase is due.
    due: Stamp,
    number: u32,
    under_way: u32,
    pending: Vec<Pending>,
    vacant: Vec<u32>,
}

/// Lets `phases` follow each other from now on; what became of the calls of each.
///
/// # Errors
/// The loop of calls failed, or somebody asked this process to stop.
pub(super) fn drive<M: Menu>(
    calls: &mut Calls,
    menu: &mut M,
    phases: &[Phase],
    seed: u64,
) -> Result<Vec<PhaseTally>, EngineError> {
    let now = clock::now();
    let kinds = menu.kinds();
    let mut driver = Driver {
        menu,
        phases,
        tallies: phases.iter().map(|phase| PhaseTally::new(phase, kinds)).collect(),
        draw: Draw::new(seed),
        phase: 0,
        began: now,
        due: now,
        number: 0,
        under_way: 0,
        pending: Vec::new(),
        vacant: Vec::new(),
    };
    calls.run(&mut driver)?;
    Ok(driver.tallies)
}

impl<M: Menu> Driver<'_, M> {
    /// The phase at `now`; none when all are over.
    fn phase_at(&mut self, now: Stamp) -> Option<&Phase> {
        loop {
            let phase = self.phases.get(index(self.phase))?;
            let end = self.began.plus_ms(phase.ms);
            // A call of an open phase that is due before the end belongs to it, however late it is taken up.
            let is_over = match phase.pressure {
                Pressure::PerSecond(_) => self.due >= end,
                Pressure::AtOnce(_) => now >= end,
            };
            if !is_over {
                return self.phases.get(index(self.phase));
            }
            (self.phase, self.began, self.due) = (self.phase + 1, end, self.due.max(end));
        }
    }

    fn ask(&mut self, due: Stamp) -> Ask {
        let bits = self.draw.bits(Subject::Call, self.phase, self.number, 0);
        self.number = self.number.wrapping_add(1);
        let Dish {
            kind,
            way,
            about,
            request,
        } = self.menu.choose(bits);
        let unmeasured = self
            .phases
            .get(index(self.phase))
            .map_or(0, |phase| phase.unmeasured_ms);
        let pending = Pending {
            phase: self.phase,
            kind,
            about,
            counts: due >= self.began.plus_ms(unmeasured),
        };
        let place = match self.vacant.pop() {
            Some(place) => place,
            None => {
                self.pending.push(pending);
                small(self.pending.len() - 1)
            }
        };
        if let Some(slot) = self.pending.get_mut(index(place)) {
            *slot = pending;
        }
        self.under_way += 1;
        Ask {
            due,
            way,
            tag: u64::from(place),
            request,
        }
    }
}

impl<M: Menu> Script for Driver<'_, M> {
    fn next(&mut self, now: Stamp) -> Step {
        let Some(pressure) = self.phase_at(now).map(|phase| phase.pressure) else {
            return Step::End;
        };
        match pressure {
            Pressure::PerSecond(rate) => {
                if self.due > now {
                    return Step::Wait(self.due);
                }
                let due = self.due;
                let bits = self.draw.bits(Subject::Arrival, self.phase, self.number, 0);
                self.due = due.plus_us(until_next_us(bits, rate));
                Step::Ask(self.ask(due))
            }
            Pressure::AtOnce(callers) if self.under_way < callers => Step::Ask(self.ask(now)),
            Pressure::AtOnce(_) => Step::Wait(now.plus_ms(LOOK_MS)),
        }
    }

    fn heard(&mut self, heard: &Heard<'_>) {
        let place = u32::try_from(heard.tag).unwrap_or(u32::MAX);
        let Some(&pending) = self.pending.get(index(place)) else {
            return;
        };
        self.vacant.push(place);
        self.under_way -= 1;
        let right = self.menu.took(pending.kind, pending.about, heard);
        if let Some(tally) = self
            .tallies
            .get_mut(index(pending.phase))
            .filter(|_| pending.counts)
        {
            tally.enter(pending.kind, heard, right);
        }
    }
}

/// Until the next of `rate` arrivals a second that know nothing of each other, in microseconds: exponentially distributed.
fn until_next_us(bits: u64, rate: f64) -> u64 {
    // 53 bits are all that a double holds; never 0, whose logarithm is none.
    let share = (real(bits >> 11) + 1.0) / real(1 << 53);
    let seconds = -share.ln() / rate.max(f64::MIN_POSITIVE);
    let gap = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    u64::try_from(gap.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_have_their_rate_and_know_nothing_of_each_other() {
        let draw = Draw::new(3);
        let gaps: Vec<f64> = (0..20_000)
            .map(|n| real(until_next_us(draw.bits(Subject::Arrival, 0, n, 0), 400.0)))
            .collect();
        let mean = gaps.iter().sum::<f64>() / 20_000.0;
        assert!((2_450.0..2_550.0).contains(&mean), "{mean}");
        let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 20_000.0;
        let ratio = square.sqrt() / mean;
        assert!((0.95..1.05).contains(&ratio), "exponential: {ratio}");
    }
}
