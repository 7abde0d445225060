//! Calls between processes and the store, as the weather and the paths have it.

use game_server::{Asserted, Batch, ClaimId, Claimed, LogError, RecordNumber, Stored, Written};
use protocol::ids::GameCode;

use super::World;
use crate::Millis;
use crate::chaos::{Party, Weather, When};
use crate::coverage::Seen;
use crate::queue::{CallId, Event};
use crate::store::{Ask, Call, Reply, Said};

/// A call on its way.
pub(super) struct Flight {
    /// None when the store has done it, or never will.
    ask: Option<Ask>,
    reply: Option<Reply>,
    pub(super) server: usize,
    pub(super) run: u64,
    era: u32,
    pub(super) sent_at: Millis,
    pub(super) about: About,
    /// When its caller gives up.
    gives_up_at: Millis,
    is_answer_lost: bool,
}

/// What a call is about, for who looks at its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// A write of a game that the caller has, or creates.
    Held(ClaimId),
    Claim,
    Tail,
    Other,
}

/// How long a caller waits for an answer before it calls its outcome unknown.
const PATIENCE_MS: (Millis, Millis) = (300, 1_500);

/// When a call of a dead server arrives: about when another one takes its game.
const LATE_MS: (Millis, Millis) = (100, 700);

fn unknown(why: &'static str) -> Result<Said, LogError> {
    Err(LogError::Unavailable(why.into()))
}

impl World {
    /// A process calls the store.
    pub(super) fn called(&mut self, server: usize, call: Call) {
        self.calls_made += 1;
        let id = CallId(self.calls_made);
        let Call { ask, reply, era } = call;
        self.trace.line(
            self.now,
            format_args!("{server} calls {} {}", id.0, describe(&ask)),
        );
        let gives_up_at = self.now + self.weather_dice.between(PATIENCE_MS.0, PATIENCE_MS.1);
        let (arrives_at, is_answer_lost) = self.way_there(id, server, &ask, gives_up_at);
        self.calls_about(server, &ask);
        // Nobody listens there: that is known at once. Otherwise the silence tells.
        let fails_at = if self.weather == Weather::Away {
            self.now + 2
        } else {
            gives_up_at
        };
        let answer = unknown("no answer");
        self.queue
            .plan(fails_at, Event::StoreAnswers { call: id, answer });
        if let Some(at) = arrives_at {
            self.queue.plan(at, Event::StoreDoes { call: id });
        }
        let sent = match ask {
            Ask::Append(..) => Some(When::AppendSent),
            Ask::Snapshot(..) => Some(When::SnapshotSent),
            Ask::Create(..)
            | Ask::Claim(..)
            | Ask::Assert(..)
            | Ask::Tail(_)
            | Ask::Load(_)
            | Ask::Release(..)
            | Ask::Remove(..)
            | Ask::Games
            | Ask::Renew(_)
            | Ask::Members
            | Ask::Forget(_) => None,
        };
        let flight = Flight {
            about: about(&ask),
            ask: arrives_at.is_some().then_some(ask),
            reply: Some(reply),
            server,
            run: self.node(server).map_or(0, |node| node.run),
            era,
            sent_at: self.now,
            gives_up_at,
            is_answer_lost,
        };
        self.calls.insert(id, flight);
        if let Some(when) = sent {
            self.kill_if(server, when);
        }
    }

    /// When a call reaches the store, if it does, and whether its answer gets lost.
    fn way_there(
        &mut self,
        id: CallId,
        server: usize,
        ask: &Ask,
        gives_up_at: Millis,
    ) -> (Option<Millis>, bool) {
        let now = self.now;
        let cut_until = self.links.cut_until(Party::Server(server), Party::Store);
        let dice = &mut self.weather_dice;
        if cut_until > now {
            // It is dropped with its connection, or sent again when the path is back, though nobody waits for it any more.
            let again_at = cut_until + dice.between(1, 400);
            return (dice.chance(50).then_some(again_at), true);
        }
        let soon = Some(now + dice.between(0, 2));
        match self.weather {
            Weather::Calm => (soon, false),
            Weather::Contended if matches!(ask, Ask::Claim(..)) => {
                (Some(now + dice.between(100, 900)), false)
            }
            Weather::Contended => (soon, false),
            Weather::Slow => (Some(now + dice.between(20, 900)), false),
            Weather::Lossy => match dice.weighted(&[35, 25, 25, 15]) {
                0 => (soon, false),
                1 => {
                    self.coverage.saw(Seen::RequestLost);
                    (None, false)
                }
                2 => (soon, true),
                // Past its caller's patience.
                _ => (Some(gives_up_at + dice.between(1, 3_000)), false),
            },
            Weather::Late if dice.chance(60) => (Some(gives_up_at + dice.between(1, 4_000)), false),
            Weather::Late => (soon, false),
            Weather::Away => {
                self.coverage.saw(Seen::Unreachable);
                (None, false)
            }
            Weather::Full if ask.is_write() => {
                self.coverage.saw(Seen::OutOfMemory);
                let answer = Err(LogError::NotDone("out of memory".into()));
                self.queue.plan(now + 1, Event::StoreAnswers { call: id, answer });
                (None, false)
            }
            Weather::Full => (soon, false),
        }
    }

    /// A call reaches the store.
    pub(super) fn store_does(&mut self, id: CallId) {
        let Some(flight) = self.calls.get_mut(&id) else {
            return;
        };
        let Some(ask) = flight.ask.take() else {
            return;
        };
        if flight.era != self.store.era() {
            // To a store that is gone.
            return;
        }
        let (server, run, sent_at) = (flight.server, flight.run, flight.sent_at);
        let (is_late, is_answer_lost) = (flight.reply.is_none(), flight.is_answer_lost);
        let (is_write, text, kept_by) = (ask.is_write(), describe(&ask), kept_when(&ask));
        let before = is_write.then(|| self.store.kept(self.code)).flatten();
        if is_write {
            let is_dead = !self.is_alive(server, run);
            self.saw_write(&ask, before.as_ref(), is_dead, is_late);
        }
        let writes_under = ask.claim().filter(|(code, _)| *code == self.code);
        let untidy = (self.is_untidy && is_write).then(|| ask.clone());
        let said = self.store.perform(self.now, ask);
        if let (Some(ask), Some(Said::Written(Written::Saved))) = (untidy, &said) {
            self.store.leave_untidy(&ask, before.as_ref());
        }
        self.trace.line(
            self.now,
            format_args!("store {} {text} -> {}", id.0, answer_text(said.as_ref())),
        );
        if let (Some((_, claim)), Some(Said::Written(Written::Saved))) = (writes_under, &said) {
            let owner = before.as_ref().map(|kept| &kept.owner);
            self.oracle.written_under(claim, owner);
        }
        if let Some(Said::Claimed(Claimed::Yes(_))) = &said {
            self.claimed(server, run, sent_at, before.as_ref());
        } else if let Some(Said::Asserted(Asserted::Yes(owner))) = &said {
            self.asserted(server, run, sent_at, owner);
        }
        if is_write {
            self.stored();
        }
        if is_answer_lost {
            self.coverage.saw(Seen::AnswerLost);
        } else if let Some(said) = said {
            self.answers_soon(id, said);
        }
        if let Some(when) = kept_by {
            self.kill_if(server, when);
        }
    }

    fn answers_soon(&mut self, id: CallId, said: Said) {
        if matches!(said, Said::Written(Written::Fenced)) {
            self.coverage.saw(Seen::WriteFenced);
        }
        let way_ms = match self.weather {
            Weather::Slow => self.weather_dice.between(0, 300),
            Weather::Calm
            | Weather::Lossy
            | Weather::Late
            | Weather::Away
            | Weather::Full
            | Weather::Contended => self.weather_dice.between(0, 2),
        };
        let answer = Ok(said);
        self.queue
            .plan(self.now + way_ms, Event::StoreAnswers { call: id, answer });
    }

    /// A write reaches the store, which has `before` of the game.
    fn saw_write(&mut self, ask: &Ask, before: Option<&Stored>, is_dead: bool, is_late: bool) {
        let last = before.map(|kept| kept.last);
        let is_known = |from: RecordNumber| last.is_some_and(|last| from < last);
        if let Ask::Append(_, _, batch) = ask
            && is_known(batch.follows())
        {
            self.coverage.saw(Seen::RepeatedAppend);
        } else if let Ask::Snapshot(_, _, through, _) = ask
            && is_known(*through)
        {
            self.coverage.saw(Seen::StaleSnapshot);
        }
        if is_dead {
            self.coverage.saw(Seen::WriteOfTheDead);
        } else if is_late {
            self.coverage.saw(Seen::LateWrite);
        }
    }

    /// The oracle looks at what the store keeps now.
    pub(super) fn stored(&mut self) {
        let kept = self.store.kept(self.code);
        let owner = kept.as_ref().and_then(|kept| kept.owner.server.as_ref());
        let owner_run = owner.and_then(|id| self.run_of(id)).map(|node| node.run);
        let is_present = self.store.is_present(self.code);
        self.oracle
            .stored(kept.as_ref(), is_present, owner_run, &mut self.coverage);
    }

    /// A caller hears.
    pub(super) fn store_answers(&mut self, id: CallId, answer: Result<Said, LogError>) {
        let Some(flight) = self.calls.get_mut(&id) else {
            return;
        };
        if let Some(reply) = flight.reply.take() {
            let text = match &answer {
                Ok(said) => answer_text(Some(said)),
                Err(error) => error.to_string(),
            };
            self.trace.line(self.now, format_args!("answers {} {text}", id.0));
            let (server, run, about, sent_at) = (flight.server, flight.run, flight.about, flight.sent_at);
            let is_over = flight.ask.is_none() && flight.gives_up_at <= self.now;
            if self.is_alive(server, run) {
                self.learns(server, about, sent_at, &answer);
            }
            // An error means that its caller has given up or is dead.
            let _given_up = reply.send(answer);
            self.touch(server);
            if is_over {
                self.calls.remove(&id);
            }
            return;
        }
        if flight.ask.is_none() && flight.gives_up_at <= self.now {
            self.calls.remove(&id);
        }
    }

    /// A server is dead: what it sent is lost, reaches the store all the same, or is cut off in the middle.
    pub(super) fn lose_calls(&mut self, run: u64) {
        let mut torn: Option<(GameCode, ClaimId, Batch)> = None;
        // With others in its place the torn end would have to be the store's own doing.
        let (tears_percent, lost_percent) = if self.is_alone() { (20, 50) } else { (0, 25) };
        let mut late = Vec::new();
        for (id, flight) in self.calls.iter_mut().filter(|(_, flight)| flight.run == run) {
            flight.reply = None;
            match &flight.ask {
                None => {}
                Some(Ask::Append(code, claim, batch)) if self.fault_dice.chance(tears_percent) => {
                    torn = Some((*code, *claim, batch.clone()));
                    flight.ask = None;
                }
                Some(_) if self.fault_dice.chance(lost_percent) => flight.ask = None,
                // Its machine still sends what it has taken, if need be again.
                Some(_) if tears_percent == 0 => late.push(*id),
                Some(_) => {}
            }
        }
        for call in late {
            let at = self.now + self.fault_dice.between(LATE_MS.0, LATE_MS.1);
            self.queue
                .extract(|event| matches!(event, Event::StoreDoes { call: other } if *other == call));
            self.queue.plan(at, Event::StoreDoes { call });
        }
        if let Some((code, claim, batch)) = torn {
            let bytes = self.fault_dice.below(batch.bytes().len());
            self.trace.line(self.now, format_args!("torn after {bytes} B"));
            self.coverage.saw(Seen::TornAppend);
            self.store.tear(code, claim, &batch, bytes);
            // What follows the torn end could not be read if it were kept longer than it must.
            self.is_untidy = false;
            self.stored();
        }
    }

    /// The store restarts empty: calls on their way find nobody.
    pub(super) fn empty_store(&mut self) {
        self.hang_up_store();
        self.store.empty();
        self.stored();
    }

    /// Calls on their way find nobody.
    pub(super) fn hang_up_store(&mut self) {
        for flight in self.calls.values_mut() {
            flight.ask = None;
        }
    }
}

fn about(ask: &Ask) -> About {
    match ask {
        Ask::Append(_, claim, _) | Ask::Snapshot(_, claim, ..) => About::Held(*claim),
        Ask::Create(_, birth) | Ask::Assert(_, birth) => About::Held(birth.owner.claim),
        Ask::Claim(..) => About::Claim,
        Ask::Tail(_) => About::Tail,
        Ask::Load(_)
        | Ask::Release(..)
        | Ask::Remove(..)
        | Ask::Games
        | Ask::Renew(_)
        | Ask::Members
        | Ask::Forget(_) => About::Other,
    }
}

fn kept_when(ask: &Ask) -> Option<When> {
    match ask {
        Ask::Append(..) => Some(When::AppendKept),
        Ask::Snapshot(..) => Some(When::SnapshotKept),
        Ask::Claim(..) => Some(When::ClaimKept),
        Ask::Release(..) => Some(When::ReleaseKept),
        Ask::Create(..)
        | Ask::Assert(..)
        | Ask::Tail(_)
        | Ask::Load(_)
        | Ask::Remove(..)
        | Ask::Games
        | Ask::Renew(_)
        | Ask::Members
        | Ask::Forget(_) => None,
    }
}

fn describe(ask: &Ask) -> String {
    match ask {
        Ask::Append(_, _, batch) => format!("append {}..={}", batch.follows().next().0, batch.last().0),
        Ask::Snapshot(_, _, through, bytes) => format!("snapshot through {} {} B", through.0, bytes.len()),
        Ask::Create(_, birth) => format!("create epoch {} through {}", birth.owner.epoch, birth.through.0),
        Ask::Assert(_, birth) => format!("assert epoch {} through {}", birth.owner.epoch, birth.through.0),
        Ask::Forget(server) => format!("forget {}", server.name),
        Ask::Claim(..)
        | Ask::Tail(_)
        | Ask::Load(_)
        | Ask::Release(..)
        | Ask::Remove(..)
        | Ask::Games
        | Ask::Renew(_)
        | Ask::Members => ask.name().to_owned(),
    }
}

fn answer_text(said: Option<&Said>) -> String {
    match said {
        Some(Said::Written(written)) => format!("{written:?}"),
        Some(Said::Created(created)) => format!("{created:?}"),
        Some(Said::Claimed(claimed)) => format!("{claimed:?}"),
        Some(Said::Asserted(asserted)) => format!("{asserted:?}"),
        Some(Said::Tail(tail)) => format!("tail {:?}", tail.as_ref().map(|tail| tail.last.0)),
        Some(Said::Stored(stored)) => format!("game {:?}", stored.as_ref().map(|stored| stored.last.0)),
        Some(Said::Games(games)) => format!("{} games", games.len()),
        Some(Said::Members(members)) => {
            let leased = members.iter().filter(|member| member.is_leased).count();
            format!("{leased} of {} leased", members.len())
        }
        Some(Said::Renewed(renewed)) => format!("{renewed:?}"),
        Some(Said::Done) => "done".to_owned(),
        None => "nothing".to_owned(),
    }
}
