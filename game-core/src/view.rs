//! What can be read from a game: everything the shell's frames are made from.
//!
//! Points, totals, streaks and correctness change when a question closes and not before, so that no view of an open
//! question depends on its solution. Only [`Game::quiz`] knows it, and the shell must not send that to players.

use std::sync::Arc;

use crate::command::Millis;
use crate::game::{Game, Phase, Settings};
use crate::player::{Answer, Player, PlayerId};
use crate::quiz::{ChoiceSet, QuestionIndex, Quiz};
use crate::rank::{Standing, ranked};

/// What became of one player at the question that closed last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The question.
    pub question: QuestionIndex,
    /// Whether the answer was correct; none means not answered.
    pub ok: Option<bool>,
    /// Points gained with this question.
    pub points: u32,
    /// Points so far.
    pub total: u32,
    /// Place so far; equal points share one.
    pub rank: u32,
    /// Players ranked.
    pub of: u32,
    /// Correct answers in a row.
    pub streak: u16,
    /// The correct choices.
    pub correct: ChoiceSet,
}

/// What became of the question that closed last, for the class. Removed players do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reveal {
    /// The question.
    pub question: QuestionIndex,
    /// Whether the host skipped it: no points.
    pub skipped: bool,
    /// The correct choices.
    pub correct: ChoiceSet,
    /// For each choice of the question, answers that contain it.
    pub histogram: Vec<u32>,
    /// Answers accepted.
    pub answered: u32,
    /// Correct answers.
    pub right: u32,
}

/// What happened to a closed question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionResult {
    /// The question.
    pub question: QuestionIndex,
    /// Whether the host skipped it, or ended the game while it was open: no points.
    pub skipped: bool,
}

impl Game {
    /// Where the game stands.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Public transitions so far: questions opened, questions closed, podium reached.
    #[must_use]
    pub fn seq(&self) -> u32 {
        self.seq
    }

    /// Whether new players are refused by the host.
    #[must_use]
    pub fn locked(&self) -> bool {
        self.locked
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The questions with their solutions.
    #[must_use]
    pub fn quiz(&self) -> &Arc<Quiz> {
        &self.quiz
    }

    /// The question that is open or whose results are shown.
    #[must_use]
    pub fn current(&self) -> Option<QuestionIndex> {
        match self.phase {
            Phase::Question { index, .. } | Phase::Results { index } => Some(index),
            Phase::Lobby | Phase::Podium | Phase::Ended => None,
        }
    }

    /// When the open question opened.
    #[must_use]
    pub fn opened_at(&self) -> Option<Millis> {
        match self.phase {
            Phase::Question { opened_at, .. } => Some(opened_at),
            Phase::Lobby | Phase::Results { .. } | Phase::Podium | Phase::Ended => None,
        }
    }

    /// The last moment at which the open question takes answers.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        match self.phase {
            Phase::Question { deadline, .. } => Some(deadline),
            Phase::Lobby | Phase::Results { .. } | Phase::Podium | Phase::Ended => None,
        }
    }

    /// Milliseconds that the open question still takes answers for, 0 once the deadline has passed.
    #[must_use]
    pub fn remaining_ms(&self, now: Millis) -> Option<u32> {
        let left = self.deadline()?.saturating_sub(now.max(self.clock));
        // At most a question's time, which is 32 bits wide.
        Some(u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// The roster in the order of joining: everybody but those removed and those who left in the lobby.
    pub fn players(&self) -> impl Iterator<Item = &Player> {
        self.players.iter().filter(|player| player.listed)
    }

    /// One player, also when it left or was removed.
    #[must_use]
    pub fn player(&self, id: PlayerId) -> Option<&Player> {
        let place = usize::try_from(id.0.checked_sub(1)?).ok()?;
        self.players.get(place)
    }

    /// Players in the roster, those away or gone after the lobby included.
    #[must_use]
    pub fn player_count(&self) -> u32 {
        count(self.players())
    }

    /// Players ever admitted, those who left or were removed included: the highest id that was given.
    #[must_use]
    pub fn admitted_count(&self) -> u32 {
        u32::try_from(self.players.len()).unwrap_or(u32::MAX)
    }

    /// Players in the roster who are connected.
    #[must_use]
    pub fn present_count(&self) -> u32 {
        count(self.players().filter(|player| player.present))
    }

    /// Answers to the current question, open or closed; 0 when there is none.
    #[must_use]
    pub fn answered_count(&self) -> u32 {
        self.current().map_or(0, |question| {
            count(self.players().filter(|player| player.answer(question).is_some()))
        })
    }

    /// Players whose answer to the current question counts or is waited for: present now, or answered already; 0 when
    /// there is no current question.
    #[must_use]
    pub fn expected_count(&self) -> u32 {
        self.current().map_or(0, |question| {
            count(
                self.players()
                    .filter(|player| player.present || player.answer(question).is_some()),
            )
        })
    }

    /// A roster member's answer to a question.
    #[must_use]
    pub fn answer_of(&self, player: PlayerId, question: QuestionIndex) -> Option<&Answer> {
        self.player(player)
            .filter(|player| player.listed)?
            .answer(question)
    }

    /// What became of one roster member at the question whose results are shown; none in every other phase. O(n): for a
    /// whole class take [`Game::outcomes`].
    #[must_use]
    pub fn outcome(&self, player: PlayerId) -> Option<Outcome> {
        let player = self.player(player).filter(|player| player.listed)?;
        let (mut of, mut better) = (0, 0);
        for other in self.players() {
            of += 1;
            better += u32::from(other.total > player.total);
        }
        self.outcome_at(player, better + 1, of)
    }

    /// What became of every roster member, best first; empty unless results are shown. O(n log n).
    #[must_use]
    pub fn outcomes(&self) -> Vec<(PlayerId, Outcome)> {
        let of = self.player_count();
        ranked(self.players())
            .into_iter()
            .filter_map(|(rank, player)| Some((player.id, self.outcome_at(player, rank, of)?)))
            .collect()
    }

    /// What became of the question whose results are shown; none in every other phase. O(n).
    #[must_use]
    pub fn reveal(&self) -> Option<Reveal> {
        let QuestionResult { question, skipped } = self.shown()?;
        let asked = self.quiz.get(question)?;
        let mut reveal = Reveal {
            question,
            skipped,
            correct: asked.correct(),
            histogram: vec![0; asked.choices.len()],
            answered: 0,
            right: 0,
        };
        for answer in self.players().filter_map(|player| player.answer(question)) {
            reveal.answered += 1;
            reveal.right += u32::from(answer.correct);
            for choice in answer.choices.iter() {
                if let Some(bar) = reveal.histogram.get_mut(usize::from(choice)) {
                    *bar += 1;
                }
            }
        }
        Some(reveal)
    }

    /// The roster by points, without those who came to the podium: best first, ties in the order of joining, equal points
    /// share a place. O(n log n).
    #[must_use]
    pub fn standings(&self) -> Vec<Standing> {
        ranked(self.players().filter(|player| !player.spectator))
            .into_iter()
            .map(|(rank, player)| Standing {
                rank,
                player: player.id,
                name: player.name.clone(),
                total: player.total,
            })
            .collect()
    }

    /// The closed questions, in order.
    #[must_use]
    pub fn question_results(&self) -> &[QuestionResult] {
        &self.played
    }

    fn outcome_at(&self, player: &Player, rank: u32, of: u32) -> Option<Outcome> {
        let QuestionResult { question, .. } = self.shown()?;
        let answer = player.answer(question);
        Some(Outcome {
            question,
            ok: answer.map(|answer| answer.correct),
            points: answer.map_or(0, |answer| answer.points),
            total: player.total,
            rank,
            of,
            streak: player.streak,
            correct: self.quiz.get(question)?.correct(),
        })
    }

    /// The closed question whose results are shown.
    fn shown(&self) -> Option<QuestionResult> {
        match self.phase {
            Phase::Results { .. } => self.played.last().copied(),
            Phase::Lobby | Phase::Question { .. } | Phase::Podium | Phase::Ended => None,
        }
    }
}

fn count<'a>(players: impl Iterator<Item = &'a Player>) -> u32 {
    // At most limits::JOINS_MAX.
    u32::try_from(players.count()).unwrap_or(u32::MAX)
}
