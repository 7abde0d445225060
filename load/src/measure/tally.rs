//! Everything a run measures, in one place that players and hosts write to.

use super::faults::Faults;
use super::histogram::Micros;
use super::ledger::Ledger;
use super::timed::Timed;

/// Times, faults and answers of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// From the moment a join was due to its `welcome`.
    pub join: Timed,
    /// The same without the harness's own delay: how late it connected, and how late it read the end of the handshake.
    pub join_service: Timed,
    /// From the host's click to the question at a phone.
    pub fan_out: Timed,
    /// From the moment an answer was sent to its ack.
    pub ack: Timed,
    /// From the moment a socket was lost, or was to be opened again as planned, to the `welcome` that brought its player back.
    pub back: Timed,
    /// From the moment a task was due to the moment the harness took it up: the generator's own delay.
    pub lateness: Timed,
    /// From the moment the kernel had a message to the moment the harness handled it: its delay on the other side.
    pub handling: Timed,
    /// What went wrong.
    pub faults: Faults,
    /// All answers.
    pub ledger: Ledger,
    /// Planned answers that were not sent because the question had closed before.
    pub too_late_to_send: u64,
    /// Planned answers that were not sent because the harness itself was too late for them.
    pub never_done: u64,
    /// From the moment the first member of a class was cut off to the first one's return, when most were away between.
    pub without_service: Micros,
    /// Attempts to come in, or to come back, that failed and were made again.
    pub failed_attempts: u64,
    /// States of a new epoch to somebody who had one of another: a game was taken over.
    pub new_epochs: u64,
    /// Sockets lost that nobody dropped on purpose.
    pub cut_off: u64,
    /// Those among them that a client gave up because its server was silent.
    pub silent: u64,
    /// Those among them that the server closed because the game had moved, or the server stopped.
    pub closed_as_moved: u64,
    /// Answers that were on their way when their socket was lost, or dropped.
    pub cut_in_flight: u64,
    /// Players whose joining was taken back by a crash, and who had not been told that it was saved.
    pub joins_taken_back: u64,
    /// Sockets dropped as planned.
    pub dropped: u64,
    /// Answers sent again, as a double tap or after coming back.
    pub sent_again: u64,
    /// Application pongs received, each with the head of the sequence that the client has, too.
    pub pongs: u64,
    /// Messages received by players and hosts.
    pub messages: u64,
    /// The Unix second that is being measured.
    unix_s: u64,
}

/// The times of a phase, but those of joins.
#[derive(Debug)]
pub struct PhaseTimes {
    /// As in [`Tally`].
    pub fan_out: Micros,
    /// As in [`Tally`].
    pub ack: Micros,
    /// As in [`Tally`].
    pub back: Micros,
    /// As in [`Tally`].
    pub lateness: Micros,
    /// As in [`Tally`].
    pub handling: Micros,
}

impl Tally {
    /// Takes the times that were measured so far, but those of joins, and begins anew; faults, answers, counts and seconds
    /// stay.
    #[must_use]
    pub fn take_phase(&mut self) -> PhaseTimes {
        PhaseTimes {
            fan_out: self.fan_out.take_phase(),
            ack: self.ack.take_phase(),
            back: self.back.take_phase(),
            lateness: self.lateness.take_phase(),
            handling: self.handling.take_phase(),
        }
    }

    /// It is the Unix second `unix_s`; what was recorded before belongs to the one before.
    pub fn at_second(&mut self, unix_s: u64) {
        let before = std::mem::replace(&mut self.unix_s, unix_s);
        if before != unix_s {
            self.timed_mut()
                .into_iter()
                .for_each(|timed| timed.end_second(before));
        }
    }

    /// Ends the second that is being measured.
    pub fn end_second(&mut self) {
        let unix_s = self.unix_s;
        self.timed_mut()
            .into_iter()
            .for_each(|timed| timed.end_second(unix_s));
    }

    /// The times that are kept by second, with their names.
    #[must_use]
    pub const fn timed(&self) -> [(&'static str, &Timed); 6] {
        [
            ("join", &self.join),
            ("fan-out", &self.fan_out),
            ("ack", &self.ack),
            ("back", &self.back),
            ("own lateness", &self.lateness),
            ("own handling", &self.handling),
        ]
    }

    fn timed_mut(&mut self) -> [&mut Timed; 7] {
        [
            &mut self.join,
            &mut self.join_service,
            &mut self.fan_out,
            &mut self.ack,
            &mut self.back,
            &mut self.lateness,
            &mut self.handling,
        ]
    }
}
