//! When the engine looks at its sockets and its schedule. To wake a thread costs more than a frame does (20 to 30 µs of CPU on
//! a virtual machine, where a timer and an interrupt leave the guest), so it is woken seldom, for many things at once.
//!
//! It may, because the kernel stamps arrivals: how late a frame is read changes no figure of the servers. What the harness
//! sends is on time as far as [`GATHER_US`] goes, which is told as its own lateness and judged by the verdict.

use crate::sys::clock::Stamp;

/// What is due waits this long for more that falls due, in microseconds: below half of the lateness that the verdict
/// allows. A handshake that is being answered waits as long, since a join goes on from it.
const GATHER_US: u64 = 2_000;
/// What arrives otherwise asks for nothing at once: people take 100 ms and more to answer what they see. In microseconds;
/// short enough that a player's next frame is seldom read together with the one before, whose stamp is then lost.
const READ_EVERY_US: u64 = 5_000;

/// When to look again, after a look at `looked_at`, with the next task due at `due_at`, while handshakes are on their way or
/// not.
pub(super) fn look_at(looked_at: Stamp, due_at: Option<Stamp>, is_opening: bool) -> Stamp {
    let read_at = looked_at.plus_us(if is_opening { GATHER_US } else { READ_EVERY_US });
    due_at.map_or(read_at, |at| at.plus_us(GATHER_US).min(read_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_late_by_no_more_than_the_time_of_gathering() {
        let looked = Stamp(1_000_000);
        assert_eq!(look_at(looked, None, false), looked.plus_us(READ_EVERY_US));
        assert_eq!(look_at(looked, None, true), looked.plus_us(GATHER_US));
        let soon = looked.plus_us(500);
        assert_eq!(look_at(looked, Some(soon), false), soon.plus_us(GATHER_US));
        let later = looked.plus_us(READ_EVERY_US);
        assert_eq!(
            look_at(looked, Some(later), false),
            looked.plus_us(READ_EVERY_US),
            "sockets do not wait for what is due later"
        );
    }
}
