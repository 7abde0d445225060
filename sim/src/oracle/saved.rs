//! The game as the store has it: followed record by record, and compared with every snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use game_core::{
    Choice, ChoiceSet, Effect, Game, GameState, Phase, PlayerId, Question, QuestionIndex, Quiz, Scoring,
    Settings,
};
use game_server::{ClaimId, Stored};
use protocol::quiz::{QuestionKind, QuizDocument};

use super::invariant::Invariant;
use super::kept::{self, Fact};

/// What every run's API grants.
const PLAYERS_MAX: u32 = 50;

/// A public transition that is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Transition {
    /// Question opened, counted from 1.
    Opened { q: u16 },
    /// Question closed: points and total of each player.
    Closed { q: u16, told: BTreeMap<u32, (u32, u32)> },
    /// The podium: total of each player.
    Over { totals: BTreeMap<u32, u32> },
}

/// What the store has, and has had.
pub(super) struct Saved {
    quiz: Arc<Quiz>,
    game: Game,
    /// Number of the last record seen.
    last: u64,
    /// The store has the game now.
    pub(super) is_there: bool,
    /// The bytes of the snapshot seen last, and what it covers.
    snapshot: (u64, Vec<u8>),
    /// Highest epoch ever kept.
    pub(super) epoch: u32,
    /// The claim that was kept last, unless its owner knows that it was.
    unheard: Option<ClaimId>,
    pub(super) transitions: BTreeMap<u32, Transition>,
    /// Highest number of the public sequence ever kept.
    pub(super) seq: u32,
    /// Every answer ever kept.
    pub(super) answers: BTreeMap<(u32, u16), ChoiceSet>,
    pub(super) players: BTreeSet<u32>,
    pub(super) was_over: bool,
    /// The store may keep records longer than it must.
    pub(super) is_untidy: bool,
}

type Broken = (Invariant, String);

impl Saved {
    pub(super) fn new(document: &QuizDocument, is_untidy: bool) -> Self {
        let quiz = Arc::new(
            Quiz::new(document.questions.iter().map(question).collect()).expect("a quiz that can be played"),
        );
        Self {
            game: new_game(&quiz),
            quiz,
            last: 0,
            is_there: false,
            snapshot: (0, Vec::new()),
            epoch: 0,
            unheard: None,
            transitions: BTreeMap::new(),
            seq: 0,
            answers: BTreeMap::new(),
            players: BTreeSet::new(),
            was_over: false,
            is_untidy,
        }
    }

    /// The phase that the store knows.
    pub(super) fn phase(&self) -> Phase {
        self.game.phase()
    }

    /// Whether the game as kept has this answer.
    pub(super) fn has(&self, player: u32, q: u16) -> bool {
        let question = QuestionIndex(q.saturating_sub(1));
        let player = self.game.player(PlayerId(player));
        player.is_some_and(|player| player.answer(question).is_some())
    }

    /// An owner knows that its claim, or a write under it, was kept.
    pub(super) fn heard(&mut self, claim: ClaimId) {
        self.unheard = self.unheard.filter(|unheard| *unheard != claim);
    }

    /// The store does not have the game.
    pub(super) fn gone(&mut self) {
        self.is_there = false;
    }

    /// What the store had and has not is as if it had never been.
    pub(super) fn forget(&mut self) {
        self.epoch = 0;
        self.seq = 0;
        self.transitions.clear();
        self.answers.clear();
        self.players.clear();
        self.was_over = false;
    }

    /// The store has this of the game after a write.
    pub(super) fn follow(&mut self, stored: &Stored) -> Result<(), Broken> {
        let is_new = !std::mem::replace(&mut self.is_there, true);
        // A store may lose a claim before its owner has heard of it, who then makes the very same again.
        let is_again = self.unheard == Some(stored.owner.claim);
        if stored.owner.epoch < self.epoch || (is_new && stored.owner.epoch == self.epoch && !is_again) {
            return Err((
                Invariant::EpochsNeverGoBack,
                format!(
                    "the store keeps epoch {} after {}",
                    stored.owner.epoch, self.epoch
                ),
            ));
        }
        if stored.owner.epoch > self.epoch {
            self.unheard = Some(stored.owner.claim);
        }
        self.epoch = stored.owner.epoch;
        if (stored.through.0, &stored.snapshot) != (self.snapshot.0, &self.snapshot.1) || is_new {
            self.follow_snapshot(stored, is_new)?;
        }
        self.follow_journal(stored)
    }

    fn follow_snapshot(&mut self, stored: &Stored, is_new: bool) -> Result<(), Broken> {
        let through = stored.through.0;
        if through < self.last && !is_new {
            return Err((
                Invariant::SnapshotsMonotone,
                format!("a snapshot through {through} after record {}", self.last),
            ));
        }
        let Some(state) = kept::snapshot(&stored.snapshot) else {
            return Err((Invariant::SnapshotIsTheGame, "it cannot be read".to_owned()));
        };
        if through == self.last && !is_new {
            let followed = comparable(self.game.export());
            if comparable(state.clone()) != followed {
                return Err((
                    Invariant::SnapshotIsTheGame,
                    format!("through {through}: {state:?} instead of {followed:?}"),
                ));
            }
        }
        let game = Game::restore(Arc::clone(&self.quiz), settings(), state)
            .map_err(|error| (Invariant::SnapshotIsTheGame, error.to_string()))?;
        self.game = game;
        self.last = through;
        self.snapshot = (through, stored.snapshot.clone());
        self.note();
        Ok(())
    }

    fn follow_journal(&mut self, stored: &Stored) -> Result<(), Broken> {
        let (records, _torn) = kept::journal(&stored.journal);
        let mut before = stored.through.0;
        for record in records {
            if record.number == before + 1 {
                before = record.number;
            } else if !(self.is_untidy && record.number <= before) {
                return Err((
                    Invariant::JournalInOrder,
                    format!("record {} after {before}", record.number),
                ));
            }
            if record.number != self.last + 1 {
                continue;
            }
            self.last = record.number;
            if let Fact::Command(command) = record.fact {
                let what = format!("{command:?}");
                let effects = self.game.apply(record.at, command).map_err(|reject| {
                    (
                        Invariant::JournalInOrder,
                        format!("record {} ({what}) is refused: {reject}", record.number),
                    )
                })?;
                self.transit(&effects);
            }
            self.note();
        }
        Ok(())
    }

    /// Notes the transitions that a record made.
    fn transit(&mut self, effects: &[Effect]) {
        let made: Vec<_> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::QuestionOpened { question } => Some(Transition::Opened { q: question.0 + 1 }),
                Effect::QuestionClosed { question } => Some(Transition::Closed {
                    q: question.0 + 1,
                    told: self.told(*question),
                }),
                Effect::GameOver => Some(Transition::Over {
                    totals: self.totals(),
                }),
                Effect::Joined { .. }
                | Effect::Returned { .. }
                | Effect::Away { .. }
                | Effect::Left { .. }
                | Effect::Kicked { .. }
                | Effect::Renamed { .. }
                | Effect::LockChanged { .. }
                | Effect::Schedule { .. }
                | Effect::AnswerAccepted { .. }
                | Effect::Ended => None,
            })
            .collect();
        let count = u32::try_from(made.len()).unwrap_or_default();
        for (seq, transition) in (self.game.seq() + 1 - count..).zip(made) {
            self.transitions.insert(seq, transition);
        }
    }

    fn told(&self, question: QuestionIndex) -> BTreeMap<u32, (u32, u32)> {
        let players = self.game.players();
        players
            .map(|player| {
                let points = player.answer(question).map_or(0, |answer| answer.points);
                (player.id.0, (points, player.total))
            })
            .collect()
    }

    fn totals(&self) -> BTreeMap<u32, u32> {
        self.game
            .players()
            .map(|player| (player.id.0, player.total))
            .collect()
    }

    /// Notes what has been kept.
    fn note(&mut self) {
        self.seq = self.seq.max(self.game.seq());
        self.was_over |= matches!(self.game.phase(), Phase::Podium | Phase::Ended);
        for player in self.game.players() {
            self.players.insert(player.id.0);
            for answer in &player.answers {
                self.answers
                    .insert((player.id.0, answer.question.0 + 1), answer.choices);
            }
        }
    }
}

fn settings() -> Settings {
    Settings {
        scoring: Scoring::Speed,
        players_max: PLAYERS_MAX,
    }
}

fn new_game(quiz: &Arc<Quiz>) -> Game {
    Game::new(Arc::clone(quiz), settings())
}

/// Without the time of the last command, which a command that changes nothing moves without a record.
fn comparable(state: GameState) -> GameState {
    GameState { clock: 0, ..state }
}

fn question(question: &protocol::quiz::Question) -> Question {
    Question {
        kind: match question.kind {
            QuestionKind::Single => game_core::QuestionKind::Single,
            QuestionKind::Multiple => game_core::QuestionKind::Multiple,
            QuestionKind::TrueFalse => game_core::QuestionKind::TrueFalse,
        },
        text: question.text.clone(),
        choices: question
            .choices
            .iter()
            .map(|choice| Choice {
                text: choice.text.clone(),
                correct: choice.correct,
            })
            .collect(),
        time_ms: question.time_ms,
    }
}
