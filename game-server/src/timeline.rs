//! What happened to a game, kept with it: for whoever is asked why a class had trouble.
//!
//! Questions and the end follow from the journal, also when it is replayed. Owners, drops and saving delays are known to the owner
//! alone and are kept by its snapshots: a crash may cost those of its last minute. Nothing of the game depends on any of it.

use game_core::{Effect, Millis};
use protocol::timeline::{Drops, GameTimeline, Happened, TimelineEvent};
use serde::{Deserialize, Serialize};

use crate::convert;
use crate::facts::Facts;

/// Events kept besides those of the questions and the end, of which there are two a question and three. A class has a dozen; a
/// night of a flapping store has not more than this.
const OTHERS_MAX: usize = 300;

/// The history of one game.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Timeline {
    /// A moment by the game's own time and by the wall clock of its owner.
    anchor: (Millis, u64),
    events: Vec<TimelineEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    behind_since: Option<Millis>,
    #[serde(default)]
    had_host: bool,
    #[serde(default)]
    left_out: u32,
}

/// Whose connection it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Player,
    Host,
}

impl Timeline {
    /// Of a game that was created then, Unix milliseconds.
    pub(crate) fn new(created_ms: u64) -> Self {
        let mut timeline = Self {
            anchor: (0, created_ms),
            ..Self::default()
        };
        timeline.push(0, Happened::Created);
        timeline
    }

    /// Whether it tells nothing: that of a game whose last build kept none.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// A server has the game from now on; its wall clock counts. `is_rewound` says that its last answers may be missing, which is told of the
    /// owner who found it so.
    pub(crate) fn owned(&mut self, at: Millis, unix_ms: u64, server: &str, epoch: u32, is_rewound: bool) {
        if self.behind_since.is_some() {
            // What it got was saved, so the owner before had caught up.
            self.saving(at, false);
        }
        // A clock that is behind the last owner's turns no time back.
        let last_ms = self.events.last().map_or(0, |event| event.at_ms);
        self.anchor = (at, unix_ms.max(last_ms));
        let server = server.to_owned();
        let is_known = |event: &TimelineEvent| matches!(event.what, Happened::Owner { rewound: true, .. });
        let rewound = is_rewound && !self.events.iter().any(is_known);
        self.push(
            at,
            Happened::Owner {
                server,
                epoch,
                rewound,
            },
        );
    }

    /// What an accepted command did.
    pub(crate) fn follow(&mut self, at: Millis, effects: &[Effect]) {
        for effect in effects {
            match *effect {
                Effect::QuestionOpened { question } => {
                    let q = convert::question_to_wire(question);
                    self.push(at, Happened::Opened { q });
                }
                Effect::QuestionClosed { question, .. } => {
                    let q = convert::question_to_wire(question);
                    self.push(at, Happened::Closed { q });
                }
                Effect::GameOver => self.push(at, Happened::Over),
                Effect::Ended => self.push(at, Happened::Ended),
                Effect::Joined { .. }
                | Effect::Returned { .. }
                | Effect::Away { .. }
                | Effect::Left { .. }
                | Effect::Kicked { .. }
                | Effect::Renamed { .. }
                | Effect::LockChanged { .. }
                | Effect::Schedule { .. }
                | Effect::AnswerAccepted { .. } => {}
            }
        }
    }

    /// A connection was lost.
    pub(crate) fn lost(&mut self, at: Millis, who: Who) {
        let drops = match who {
            Who::Player => Drops {
                players_lost: 1,
                ..Drops::default()
            },
            Who::Host => Drops {
                hosts_lost: 1,
                ..Drops::default()
            },
        };
        self.drops(at, drops);
    }

    /// A player came back.
    pub(crate) fn player_back(&mut self, at: Millis) {
        let drops = Drops {
            players_back: 1,
            ..Drops::default()
        };
        self.drops(at, drops);
    }

    /// A host came, or came back.
    pub(crate) fn host_came(&mut self, at: Millis) {
        if std::mem::replace(&mut self.had_host, true) {
            let drops = Drops {
                hosts_back: 1,
                ..Drops::default()
            };
            self.drops(at, drops);
        }
    }

    /// Saving fell behind, or caught up.
    pub(crate) fn saving(&mut self, at: Millis, is_behind: bool) {
        let since = std::mem::replace(&mut self.behind_since, is_behind.then_some(at));
        if is_behind {
            self.push(at, Happened::Behind);
        } else {
            let after_ms = at.saturating_sub(since.unwrap_or(at));
            self.push(at, Happened::CaughtUp { after_ms });
        }
    }

    /// The API has the result.
    pub(crate) fn result_saved(&mut self, at: Millis) {
        self.push(at, Happened::ResultSaved);
    }

    /// As it is told.
    pub(crate) fn told(&self, facts: &Facts) -> GameTimeline {
        GameTimeline {
            game: facts.game,
            code: facts.code,
            events: self.events.clone(),
            left_out: self.left_out,
        }
    }

    /// One event for all that are lost or come back between two others.
    fn drops(&mut self, at: Millis, more: Drops) {
        if let Some(TimelineEvent {
            what: Happened::Drops(drops),
            ..
        }) = self.events.last_mut()
        {
            drops.players_lost = drops.players_lost.saturating_add(more.players_lost);
            drops.players_back = drops.players_back.saturating_add(more.players_back);
            drops.hosts_lost = drops.hosts_lost.saturating_add(more.hosts_lost);
            drops.hosts_back = drops.hosts_back.saturating_add(more.hosts_back);
        } else {
            self.push(at, Happened::Drops(more));
        }
    }

    fn push(&mut self, at: Millis, what: Happened) {
        let is_other = |event: &TimelineEvent| is_other(&event.what);
        if self::is_other(&what) && self.events.iter().filter(|event| is_other(event)).count() >= OTHERS_MAX {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        let (anchor_at, anchor_ms) = self.anchor;
        let at_ms = anchor_ms.saturating_add(at.saturating_sub(anchor_at));
        self.events.push(TimelineEvent { at_ms, what });
    }
}

/// Whether the rules of the game say nothing about how often it happens.
fn is_other(what: &Happened) -> bool {
    match what {
        Happened::Created
        | Happened::Opened { .. }
        | Happened::Closed { .. }
        | Happened::Over
        | Happened::ResultSaved
        | Happened::Ended => false,
        Happened::Owner { .. } | Happened::Drops(_) | Happened::Behind | Happened::CaughtUp { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use game_core::QuestionIndex;

    use super::*;

    fn told(timeline: &Timeline) -> Vec<(u64, Happened)> {
        let events = timeline.events.iter();
        events.map(|event| (event.at_ms, event.what.clone())).collect()
    }

    #[test]
    fn an_outage_between_two_owners_is_seen_by_the_clock() {
        let mut timeline = Timeline::new(1_000_000);
        timeline.owned(0, 1_000_010, "game-0", 1, false);
        timeline.host_came(1_000);
        let question = QuestionIndex(0);
        timeline.follow(5_000, &[Effect::QuestionOpened { question }]);
        // The game's own time stood still for a minute.
        timeline.owned(6_000, 1_066_010, "game-1", 2, false);
        timeline.player_back(6_100);
        timeline.player_back(6_200);
        timeline.lost(6_300, Who::Host);
        timeline.host_came(6_400);
        timeline.saving(7_000, true);
        timeline.saving(7_900, false);
        timeline.saving(8_000, true);
        timeline.owned(9_000, 1_070_000, "game-2", 3, true);
        timeline.owned(9_500, 1_069_000, "game-3", 4, true);
        let owner = |server: &str, epoch| Happened::Owner {
            server: server.to_owned(),
            epoch,
            rewound: epoch == 3,
        };
        let drops = Drops {
            players_lost: 0,
            players_back: 2,
            hosts_lost: 1,
            hosts_back: 1,
        };
        assert_eq!(
            told(&timeline),
            [
                (1_000_000, Happened::Created),
                (1_000_010, owner("game-0", 1)),
                (1_005_010, Happened::Opened { q: 1 }),
                (1_066_010, owner("game-1", 2)),
                (1_066_110, Happened::Drops(drops)),
                (1_067_010, Happened::Behind),
                (1_067_910, Happened::CaughtUp { after_ms: 900 }),
                (1_068_010, Happened::Behind),
                (1_069_010, Happened::CaughtUp { after_ms: 1_000 }),
                (1_070_000, owner("game-2", 3)),
                (1_070_000, owner("game-3", 4)),
            ]
        );
    }

    #[test]
    fn it_stays_small_and_keeps_the_questions() {
        let mut timeline = Timeline::new(0);
        for n in 0..10_000 {
            timeline.saving(n, n % 2 == 0);
            timeline.lost(n, Who::Player);
        }
        let question = QuestionIndex(7);
        timeline.follow(20_000, &[Effect::QuestionOpened { question }, Effect::GameOver]);
        assert_eq!(timeline.events.len(), 1 + OTHERS_MAX + 2);
        assert_eq!(timeline.events[OTHERS_MAX + 1].what, Happened::Opened { q: 8 });
        assert!(timeline.left_out > 9_000);
    }
}
