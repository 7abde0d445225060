//! Everything a run measures, in one place that players and hosts write to.

use super::faults::Faults;
use super::histogram::Micros;
use super::ledger::Ledger;

/// Times, faults and answers of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// From the moment a join was due to its `welcome`.
    pub join: Micros,
    /// The same without the harness's own delay: how late it connected, and how late it read the end of the handshake.
    pub join_service: Micros,
    /// From the host's click to the question at a phone.
    pub fan_out: Micros,
    /// From the moment an answer was sent to its ack.
    pub ack: Micros,
    /// From the moment a socket was lost, or was to be opened again as planned, to the `welcome` that brought its player back.
    pub back: Micros,
    /// From the moment a task was due to the moment the harness took it up: the generator's own delay.
    pub lateness: Micros,
    /// From the moment the kernel had a message to the moment the harness handled it: its delay on the other side.
    pub handling: Micros,
    /// What went wrong.
    pub faults: Faults,
    /// All answers.
    pub ledger: Ledger,
    /// Planned answers that were not sent because the question had closed before.
    pub too_late_to_send: u64,
    /// Sockets lost that nobody dropped on purpose.
    pub cut_off: u64,
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
}

impl Tally {
    /// Takes the times that were measured so far, but those of joins, and begins anew; faults, answers and counts stay.
    #[must_use]
    pub fn take_times(&mut self) -> Self {
        Self {
            fan_out: std::mem::take(&mut self.fan_out),
            ack: std::mem::take(&mut self.ack),
            back: std::mem::take(&mut self.back),
            lateness: std::mem::take(&mut self.lateness),
            handling: std::mem::take(&mut self.handling),
            ..Self::default()
        }
    }
}
