//! An answer of which nothing more should be heard, in twelve bytes.

use super::{Fate, Kept, Sent};

/// No points were told.
const UNTOLD: u16 = u16::MAX;

/// Times are cut, or filled up, to whole milliseconds: a server's are no finer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed {
    player: u16,
    q: u16,
    shortest_ms: u16,
    longest_ms: u16,
    told_points: u16,
    choice: u8,
    flags: u8,
}

const SAVED: u8 = 1;
const DISTURBED: u8 = 2;
const OVERDUE: u8 = 4;
const SENT_AGAIN: u8 = 8;

impl Closed {
    /// `sent`, packed; none when a figure of it is beyond what a game has, or it is not settled.
    pub(super) fn of(sent: &Sent) -> Option<Self> {
        let small = |n: u64| u16::try_from(n).ok();
        let mut flags = 0;
        let mut flag = |is_set: bool, flag: u8| flags |= if is_set { flag } else { 0 };
        let longest_us = match sent.fate {
            Fate::Acked { at, saved: true } => at.since(sent.clicked_at),
            Fate::Refused { .. } => 0,
            Fate::Open | Fate::Acked { saved: false, .. } => return None,
        };
        flag(matches!(sent.fate, Fate::Acked { .. }), SAVED);
        flag(sent.disturbed, DISTURBED);
        flag(sent.overdue, OVERDUE);
        flag(sent.copies > 1, SENT_AGAIN);
        Some(Self {
            player: u16::try_from(sent.player).ok()?,
            q: sent.q,
            shortest_ms: small(sent.sent_at.since(sent.seen_at) / 1_000)?,
            longest_ms: small(longest_us.div_ceil(1_000))?,
            told_points: match sent.told_points {
                Some(points) => pack(points)?,
                None => UNTOLD,
            },
            choice: sent.choice,
            flags,
        })
    }

    pub(super) fn is_of(&self, player: u32, q: u16) -> bool {
        self.key() == (player, q)
    }

    /// Its player and question.
    pub(super) fn key(&self) -> (u32, u16) {
        (u32::from(self.player), self.q)
    }

    /// Points that no game has are remembered as more than any answer earns, so that they are wrong in any case.
    pub(super) fn tell(&mut self, points: u32) {
        self.told_points = pack(points).unwrap_or(UNTOLD - 1);
    }

    pub(super) fn kept(&self) -> Kept {
        let is = |flag| self.flags & flag != 0;
        let us = |ms: u16| u64::from(ms) * 1_000;
        Kept {
            choice: self.choice,
            shortest_us: us(self.shortest_ms),
            is_disturbed: is(DISTURBED),
            longest_us: is(SAVED).then(|| us(self.longest_ms)),
            told_points: (self.told_points != UNTOLD).then(|| u32::from(self.told_points)),
            is_saved: is(SAVED),
            is_refused: !is(SAVED),
            is_unsettled: is(OVERDUE),
            was_sent_again: is(SENT_AGAIN),
        }
    }
}

fn pack(points: u32) -> Option<u16> {
    u16::try_from(points).ok().filter(|&points| points < UNTOLD)
}
