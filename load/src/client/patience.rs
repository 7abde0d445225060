//! How long a client bears silence, as the pages of the product do: after some seconds without a message it asks whether the
//! server is there, and when nothing comes back it opens its socket anew.

use super::pacer::Task;
use super::world::Effects;
use crate::sys::clock::Stamp;
use crate::wire::ToServer;

/// A first frame, an answer and a `ping` are answered within this time, or the line is dead; in milliseconds.
const REPLY_MS: u64 = 2_000;
/// Silence after which a host, and a player in a game that is being played, asks; in milliseconds.
pub(super) const QUIET_PLAYING_MS: u64 = 5_000;
/// The same for a player in a lobby or on the podium.
pub(super) const QUIET_WAITING_MS: u64 = 15_000;

/// What one client has heard and waits for. The zero stamp stands for "nothing", as there are thousands of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Patience {
    opened_at: Stamp,
    heard_at: Stamp,
    asked_at: Stamp,
    /// The only [`Task::Listen`] that counts; those before it were overtaken.
    listen_at: Stamp,
}

impl Patience {
    /// A socket is open.
    pub(super) fn opened(&mut self, now: Stamp) {
        self.opened_at = now;
    }

    /// A socket is open and its first frame was sent.
    pub(super) fn begin(&mut self, now: Stamp, effects: &mut Effects) {
        self.asked_at = now;
        self.listen(now.plus_ms(REPLY_MS), effects);
    }

    /// The socket is gone.
    pub(super) fn end(&mut self) {
        (self.asked_at, self.listen_at) = (Stamp::default(), Stamp::default());
    }

    /// Anything arrived.
    pub(super) fn heard(&mut self, now: Stamp) {
        self.heard_at = self.heard_at.max(now);
        self.asked_at = Stamp::default();
    }

    /// Whether something arrived after `moment`, or on a socket that was opened after `struck_at`.
    pub(super) fn has_heard_since(&self, moment: Stamp, struck_at: Stamp) -> bool {
        self.heard_at > moment || (self.opened_at > struck_at && self.heard_at > self.opened_at)
    }

    /// A frame was sent that must be answered. A wait that has begun is not put off.
    pub(super) fn asked(&mut self, now: Stamp, effects: &mut Effects) {
        if self.asked_at == Stamp::default() {
            self.asked_at = now;
            self.listen(now.plus_ms(REPLY_MS), effects);
        }
    }

    /// It was to be listened at `due_at`: asks after `quiet_ms` of silence, and gives the socket up when that brought nothing.
    pub(super) fn on_due(&mut self, due_at: Stamp, now: Stamp, quiet_ms: u64, effects: &mut Effects) {
        if due_at != self.listen_at {
            return;
        }
        if self.asked_at != Stamp::default() {
            let limit = self.asked_at.plus_ms(REPLY_MS);
            if now >= limit {
                self.end();
                effects.give_up = true;
            } else {
                self.listen(limit, effects);
            }
            return;
        }
        let quiet_until = self.heard_at.plus_ms(quiet_ms);
        if now < quiet_until {
            self.listen(quiet_until, effects);
        } else {
            effects.send(ToServer::Ping);
            self.asked(now, effects);
        }
    }

    fn listen(&mut self, at: Stamp, effects: &mut Effects) {
        self.listen_at = at;
        effects.schedule(at, Task::Listen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Listens whenever that is due until `limit`, hearing an answer to each question for as long as `answers` says; when the
    /// socket was given up, and how often was asked.
    fn listen_until(
        limit: Stamp,
        patience: &mut Patience,
        effects: &mut Effects,
        answers: bool,
    ) -> (Option<Stamp>, u32) {
        let mut asked = 0;
        while let Some(due) = effects.due.pop() {
            if due.at > limit {
                return (None, asked);
            }
            let frames = effects.frames.len();
            patience.on_due(due.at, due.at, QUIET_PLAYING_MS, effects);
            if effects.give_up {
                return (Some(due.at), asked);
            }
            if effects.frames.len() > frames {
                asked += 1;
                if answers {
                    patience.heard(due.at.plus_ms(1));
                }
            }
        }
        (None, asked)
    }

    #[test]
    fn who_is_answered_stays_and_who_is_not_goes_after_the_silence_and_the_wait() {
        let begin = Stamp(1_000_000);
        let (mut patience, mut effects) = (Patience::default(), Effects::default());
        patience.begin(begin, &mut effects);
        patience.heard(begin.plus_ms(3));
        let minute = begin.plus_ms(60_000);
        let (gone, asked) = listen_until(minute, &mut patience, &mut effects, true);
        assert_eq!((gone, asked), (None, 11), "every five seconds");

        let (mut patience, mut effects) = (Patience::default(), Effects::default());
        patience.begin(begin, &mut effects);
        patience.heard(begin);
        let (gone, asked) = listen_until(minute, &mut patience, &mut effects, false);
        assert_eq!(
            (gone, asked),
            (Some(begin.plus_ms(QUIET_PLAYING_MS + REPLY_MS)), 1)
        );
    }

    #[test]
    fn an_answer_that_is_not_taken_is_noticed_sooner_and_a_repetition_puts_nothing_off() {
        let begin = Stamp(1_000_000);
        let (mut patience, mut effects) = (Patience::default(), Effects::default());
        patience.begin(begin, &mut effects);
        patience.heard(begin);
        effects.due.clear();
        let sent = begin.plus_ms(100);
        patience.asked(sent, &mut effects);
        patience.asked(sent.plus_ms(1_500), &mut effects);
        let (gone, _) = listen_until(begin.plus_ms(60_000), &mut patience, &mut effects, false);
        assert_eq!(gone, Some(sent.plus_ms(REPLY_MS)));
        let later = begin.plus_ms(60_000);
        assert!(patience.has_heard_since(Stamp(begin.0 - 1), later));
        assert!(!patience.has_heard_since(begin, begin));
        patience.opened(begin.plus_ms(1));
        assert!(!patience.has_heard_since(later, begin), "opened, and silent");
        patience.heard(begin.plus_ms(2));
        assert!(patience.has_heard_since(later, begin));
        assert!(!patience.has_heard_since(later, begin.plus_ms(1)));
    }
}
