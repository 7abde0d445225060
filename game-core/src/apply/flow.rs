//! From phase to phase: opening and closing questions, the podium and the end.

use crate::command::{Effect, Millis, Reject};
use crate::game::{Game, Phase};
use crate::quiz::QuestionIndex;
use crate::view::QuestionResult;

impl Game {
    pub(super) fn start(&mut self, now: Millis) -> Result<Vec<Effect>, Reject> {
        match self.phase {
            Phase::Lobby => Ok(self.open_or_podium(now, QuestionIndex::FIRST)),
            Phase::Question { .. } | Phase::Results { .. } | Phase::Podium | Phase::Ended => {
                Err(Reject::WrongPhase)
            }
        }
    }

    pub(super) fn next(&mut self, now: Millis, shown: QuestionIndex) -> Result<Vec<Effect>, Reject> {
        match self.phase {
            Phase::Results { index } if index == shown => {
                Ok(self.open_or_podium(now, QuestionIndex(index.0 + 1)))
            }
            Phase::Lobby | Phase::Question { .. } | Phase::Results { .. } | Phase::Podium | Phase::Ended => {
                Err(Reject::NotOpen)
            }
        }
    }

    pub(super) fn close_by_host(
        &mut self,
        meant: QuestionIndex,
        skipped: bool,
    ) -> Result<Vec<Effect>, Reject> {
        match self.phase {
            Phase::Question { index, .. } if index == meant => Ok(vec![self.close(index, skipped)]),
            Phase::Lobby | Phase::Question { .. } | Phase::Results { .. } | Phase::Podium | Phase::Ended => {
                Err(Reject::NotOpen)
            }
        }
    }

    pub(super) fn deadline_reached(&mut self, now: Millis, set_for: QuestionIndex) -> Vec<Effect> {
        match self.phase {
            Phase::Question { index, deadline, .. } if index == set_for && now >= deadline => {
                vec![self.close(index, false)]
            }
            Phase::Lobby | Phase::Question { .. } | Phase::Results { .. } | Phase::Podium | Phase::Ended => {
                Vec::new()
            }
        }
    }

    pub(super) fn end(&mut self) -> Vec<Effect> {
        match self.phase {
            Phase::Question { index, .. } => vec![self.close(index, true), self.podium()],
            Phase::Results { .. } => vec![self.podium()],
            Phase::Lobby | Phase::Podium | Phase::Ended => {
                self.phase = Phase::Ended;
                vec![Effect::Ended]
            }
        }
    }

    /// Adds the closing of the open question to `effects` when everybody present has answered it. A class that is away as a
    /// whole, as in a network outage, gets the whole time.
    pub(super) fn with_early_close(&mut self, mut effects: Vec<Effect>) -> Vec<Effect> {
        if let Phase::Question { index, .. } = self.phase
            && self.all_present_answered(index)
        {
            effects.push(self.close(index, false));
        }
        effects
    }

    fn all_present_answered(&self, index: QuestionIndex) -> bool {
        let mut present = self.players().filter(|player| player.present).peekable();
        present.peek().is_some() && present.all(|player| player.answer(index).is_some())
    }

    fn open_or_podium(&mut self, now: Millis, index: QuestionIndex) -> Vec<Effect> {
        let Some(time_ms) = self.quiz.get(index).map(|question| question.time_ms) else {
            return vec![self.podium()];
        };
        let deadline = now.saturating_add(Millis::from(time_ms));
        self.phase = Phase::Question {
            index,
            opened_at: now,
            deadline,
        };
        self.seq += 1;
        vec![
            Effect::QuestionOpened { question: index },
            Effect::Schedule {
                question: index,
                at: deadline,
            },
        ]
    }

    /// Closes the open question and settles correctness, points, totals and streaks.
    fn close(&mut self, index: QuestionIndex, skipped: bool) -> Effect {
        let scoring = self.settings.scoring;
        if let Some(asked) = self.quiz.get(index) {
            for player in self.players.iter_mut().filter(|player| player.listed) {
                let answer = player
                    .answers
                    .last_mut()
                    .filter(|answer| answer.question == index);
                let mut right = false;
                if let Some(answer) = answer {
                    right = asked.is_correct(answer.choices);
                    answer.correct = right;
                    if right && !skipped {
                        answer.points = scoring.points(answer.elapsed_ms, asked.time_ms);
                        player.total += answer.points;
                    }
                }
                if !skipped {
                    player.streak = if right { player.streak + 1 } else { 0 };
                }
            }
        }
        self.played.push(QuestionResult {
            question: index,
            skipped,
        });
        self.phase = Phase::Results { index };
        self.seq += 1;
        Effect::QuestionClosed { question: index }
    }

    fn podium(&mut self) -> Effect {
        self.phase = Phase::Podium;
        self.seq += 1;
        Effect::GameOver
    }
}
