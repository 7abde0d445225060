//! A game on a table: short words for what the rules are tested with. Every refusal is checked to change nothing.

use std::sync::Arc;

use game_core::{
    Choice, ChoiceSet, Command, Effect, Game, Millis, Outcome, PlayerId, Question, QuestionIndex,
    QuestionKind, Quiz, Reject, Scoring, Settings,
};

/// Time to answer of every question made here.
pub(crate) const TIME_MS: u32 = 20_000;

pub(crate) const Q0: QuestionIndex = QuestionIndex(0);
pub(crate) const Q1: QuestionIndex = QuestionIndex(1);

pub(crate) struct Table {
    pub(crate) game: Game,
    pub(crate) now: Millis,
}

pub(crate) fn set(choices: &[u8]) -> ChoiceSet {
    ChoiceSet::from_indices(choices.iter().copied()).expect("below 16")
}

pub(crate) fn question(kind: QuestionKind, flags: &[bool]) -> Question {
    let choices = flags
        .iter()
        .map(|&correct| Choice {
            text: "choice".to_owned(),
            correct,
        })
        .collect();
    Question {
        kind,
        text: "stem".to_owned(),
        choices,
        time_ms: TIME_MS,
    }
}

/// A single-choice question of four choices; the first one is correct.
pub(crate) fn single() -> Question {
    question(QuestionKind::Single, &[true, false, false, false])
}

impl Table {
    /// Some single-choice questions, points by speed.
    pub(crate) fn new(questions: usize) -> Self {
        Self::with(vec![single(); questions], Scoring::Speed, u32::MAX)
    }

    pub(crate) fn with(questions: Vec<Question>, scoring: Scoring, players_max: u32) -> Self {
        let quiz = Arc::new(Quiz::new(questions).expect("a valid quiz"));
        Self {
            game: Game::new(quiz, Settings { scoring, players_max }),
            now: 1_000,
        }
    }

    /// Applies a command that must be accepted.
    #[track_caller]
    pub(crate) fn ok(&mut self, command: Command) -> Vec<Effect> {
        let said = format!("{command:?}");
        self.game
            .apply(self.now, command)
            .unwrap_or_else(|reject| panic!("{said}: {reject:?}"))
    }

    /// Applies a command that must be refused, and sees that nothing changes.
    #[track_caller]
    pub(crate) fn no(&mut self, command: Command) -> Reject {
        let before = self.game.clone();
        let said = format!("{command:?}");
        let reject = self.game.apply(self.now, command).expect_err(&said);
        assert_eq!(self.game, before, "{said} was refused and changed the game");
        reject
    }

    #[track_caller]
    pub(crate) fn join(&mut self, name: &str) -> PlayerId {
        match self.ok(Command::Join {
            name: name.to_owned(),
        })[..]
        {
            [Effect::Joined { player }] => player,
            ref other => panic!("joining gave {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn start(&mut self) -> Vec<Effect> {
        self.ok(Command::Start)
    }

    #[track_caller]
    pub(crate) fn answer(
        &mut self,
        player: PlayerId,
        question: QuestionIndex,
        choices: &[u8],
    ) -> Vec<Effect> {
        self.ok(Command::Answer {
            player,
            question,
            choices: set(choices),
        })
    }

    #[track_caller]
    pub(crate) fn refused(&mut self, player: PlayerId, question: QuestionIndex, choices: &[u8]) -> Reject {
        self.no(Command::Answer {
            player,
            question,
            choices: set(choices),
        })
    }

    #[track_caller]
    pub(crate) fn close(&mut self, question: QuestionIndex) {
        assert_eq!(
            self.ok(Command::Close { question }),
            [Effect::QuestionClosed { question }]
        );
    }

    #[track_caller]
    pub(crate) fn outcome(&self, player: PlayerId) -> Outcome {
        self.game.outcome(player).expect("results are shown")
    }

    pub(crate) fn total(&self, player: PlayerId) -> u32 {
        self.game.player(player).expect("admitted").total
    }

    pub(crate) fn streak(&self, player: PlayerId) -> u16 {
        self.game.player(player).expect("admitted").streak
    }

    pub(crate) fn wait(&mut self, ms: Millis) {
        self.now += ms;
    }
}
