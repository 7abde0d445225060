//! Accepting answers. What they earn is settled when the question closes, in `flow`.

use crate::command::{Effect, Millis, Reject};
use crate::game::{Game, Phase};
use crate::player::{Answer, PlayerId};
use crate::quiz::{ChoiceSet, QuestionIndex};

impl Game {
    /// The first answer wins. The same one again is acknowledged again, however far the game has gone on: a phone that lost the first
    /// acknowledgement, or was told that it is not saved yet, must not be told that it was too late.
    pub(super) fn answer(
        &mut self,
        now: Millis,
        id: PlayerId,
        question: QuestionIndex,
        choices: ChoiceSet,
    ) -> Result<Vec<Effect>, Reject> {
        // Whoever left for good has to come back before it can answer.
        if self.member_mut(id)?.left {
            return Err(Reject::NoSuchPlayer);
        }
        if let Some(first) = self.answer_of(id, question) {
            return if first.choices == choices {
                Ok(vec![Effect::AnswerAccepted {
                    player: id,
                    question,
                    new: false,
                }])
            } else {
                Err(Reject::AlreadyAnswered)
            };
        }
        if self.current() != Some(question) {
            return Err(Reject::NotOpen);
        }
        let elapsed_ms = self.elapsed_ms(now)?;
        if !self.quiz.get(question).is_some_and(|asked| asked.admits(choices)) {
            return Err(Reject::BadChoice);
        }
        let answer = Answer {
            question,
            choices,
            elapsed_ms,
            correct: false,
            points: 0,
        };
        self.member_mut(id)?.answers.push(answer);
        Ok(self.with_early_close(vec![Effect::AnswerAccepted {
            player: id,
            question,
            new: true,
        }]))
    }

    /// How long the open question has been open, unless its time is up: the timer that closes it may be late.
    fn elapsed_ms(&self, now: Millis) -> Result<u32, Reject> {
        match self.phase {
            Phase::Question { deadline, .. } if now > deadline => Err(Reject::TooLate),
            // At most the question's time, which is 32 bits wide.
            Phase::Question { opened_at, .. } => {
                Ok(u32::try_from(now.saturating_sub(opened_at)).unwrap_or(u32::MAX))
            }
            Phase::Lobby | Phase::Results { .. } | Phase::Podium | Phase::Ended => Err(Reject::NotOpen),
        }
    }
}
