//! Books kept by hand beside a game: from the effects alone, without an eye on how the game works, with the slowest and
//! plainest arithmetic that gives points, streaks and places.

use std::collections::BTreeMap;
use std::sync::Arc;

use game_core::limits::{JOINS_MAX, NAME_BYTES_MAX, PLAYERS_MAX};
use game_core::{
    ChoiceSet, Command, Effect, Game, Millis, Phase, Player, PlayerId, Question, QuestionIndex, QuestionKind,
    Quiz, Scoring,
};
use proptest::prelude::*;

pub(crate) struct Books {
    quiz: Arc<Quiz>,
    scoring: Scoring,
    players_max: u32,
    clock: Millis,
    seq: u32,
    /// Everybody who ever joined, with the number of questions closed by then.
    joined: Vec<(PlayerId, usize)>,
    struck: Vec<PlayerId>,
    /// Those who came when the final places stood.
    spectators: Vec<PlayerId>,
    opened: Vec<(QuestionIndex, Millis)>,
    closed: Vec<(QuestionIndex, bool)>,
    answers: BTreeMap<(PlayerId, QuestionIndex), (ChoiceSet, Millis)>,
}

impl Books {
    pub(crate) fn new(game: &Game) -> Self {
        let settings = game.settings();
        Self {
            quiz: Arc::clone(game.quiz()),
            scoring: settings.scoring,
            players_max: settings.players_max,
            clock: 0,
            seq: 0,
            joined: Vec::new(),
            struck: Vec::new(),
            spectators: Vec::new(),
            opened: Vec::new(),
            closed: Vec::new(),
            answers: BTreeMap::new(),
        }
    }

    /// Enters an accepted command and sees that its effects are due.
    pub(crate) fn enter(
        &mut self,
        before: &Game,
        now: Millis,
        command: &Command,
        effects: &[Effect],
        after: &Game,
    ) -> Result<(), TestCaseError> {
        self.clock = self.clock.max(now);
        for effect in effects {
            self.enter_effect(before, command, effect)?;
        }
        let closed = effects
            .iter()
            .any(|effect| matches!(effect, Effect::QuestionClosed { .. }));
        prop_assert_eq!(
            closed,
            self.close_is_due(before, command, after),
            "{:?} gave {:?}",
            command,
            effects
        );
        Ok(())
    }

    fn enter_effect(
        &mut self,
        before: &Game,
        command: &Command,
        effect: &Effect,
    ) -> Result<(), TestCaseError> {
        match *effect {
            Effect::Joined { player } => {
                let last = self.joined.last().map_or(0, |(last, _)| last.0);
                prop_assert_eq!(player.0, last + 1, "an id twice, or a gap");
                self.joined.push((player, self.closed.len()));
                if before.phase() == Phase::Podium {
                    self.spectators.push(player);
                }
            }
            Effect::Kicked { player } => {
                prop_assert!(before.phase() != Phase::Podium, "the final places stand");
                self.struck.push(player);
            }
            Effect::Left { player } if before.phase() == Phase::Lobby => self.struck.push(player),
            Effect::QuestionOpened { question } => {
                self.seq += 1;
                prop_assert_eq!(
                    usize::from(question.0),
                    self.opened.len(),
                    "questions in order, each once"
                );
                prop_assert_eq!(self.opened.len(), self.closed.len(), "one at a time");
                self.opened.push((question, self.clock));
            }
            Effect::Schedule { question, at } => {
                let time_ms = Millis::from(self.question(question).time_ms);
                prop_assert_eq!(self.opened.last(), Some(&(question, self.clock)));
                prop_assert_eq!(at, self.clock.saturating_add(time_ms));
            }
            Effect::AnswerAccepted {
                player,
                question,
                new: true,
            } => {
                let Command::Answer { choices, .. } = *command else {
                    return Err(TestCaseError::fail("an answer out of nothing"));
                };
                let (open, opened_at) = *self.opened.last().expect("something is open");
                prop_assert_eq!((open, self.closed.len() + 1), (question, self.opened.len()));
                let elapsed = self.clock - opened_at;
                prop_assert!(
                    elapsed <= Millis::from(self.question(question).time_ms),
                    "accepted too late"
                );
                prop_assert!(
                    self.answers
                        .insert((player, question), (choices, elapsed))
                        .is_none()
                );
            }
            Effect::AnswerAccepted {
                player,
                question,
                new: false,
            } => {
                let Command::Answer { choices, .. } = *command else {
                    return Err(TestCaseError::fail("an answer out of nothing"));
                };
                let first = self.answers.get(&(player, question)).map(|(choices, _)| *choices);
                prop_assert_eq!(first, Some(choices), "only the same answer is acknowledged again");
            }
            Effect::QuestionClosed { question } => {
                self.seq += 1;
                prop_assert_eq!(self.opened.last().map(|(open, _)| *open), Some(question));
                self.closed
                    .push((question, matches!(command, Command::Skip { .. } | Command::End)));
                prop_assert_eq!(self.opened.len(), self.closed.len());
            }
            Effect::GameOver => self.seq += 1,
            Effect::Returned { .. }
            | Effect::Away { .. }
            | Effect::Left { .. }
            | Effect::Renamed { .. }
            | Effect::LockChanged { .. }
            | Effect::Ended => {}
        }
        Ok(())
    }

    /// Whether an accepted command closes the question that was open before it.
    fn close_is_due(&self, before: &Game, command: &Command, after: &Game) -> bool {
        let Phase::Question { index, deadline, .. } = before.phase() else {
            return false;
        };
        match *command {
            Command::Close { .. } | Command::Skip { .. } | Command::End => true,
            Command::DeadlineReached { question } => question == index && self.clock >= deadline,
            Command::Answer { .. }
            | Command::Absent { .. }
            | Command::Leave { .. }
            | Command::Kick { .. } => {
                // A command that changed nothing closes nothing: the question would have been closed before, unless
                // somebody came back to a class that was away.
                let changed = before.players().ne(after.players());
                let present: Vec<_> = after.players().filter(|player| player.present).collect();
                let answered = |player: &&Player| self.answers.contains_key(&(player.id, index));
                changed && !present.is_empty() && present.iter().all(answered)
            }
            Command::Join { .. }
            | Command::Present { .. }
            | Command::Rename { .. }
            | Command::HostRename { .. }
            | Command::Lock { .. }
            | Command::Start
            | Command::Next { .. } => false,
        }
    }

    /// Compares every view of the game with the books.
    pub(crate) fn compare(&self, game: &Game) -> Result<(), TestCaseError> {
        prop_assert_eq!(
            game.seq(),
            self.seq,
            "a public transition without a number, or the other way round"
        );
        let roster: Vec<_> = self
            .joined
            .iter()
            .map(|(id, _)| *id)
            .filter(|id| !self.struck.contains(id))
            .collect();
        prop_assert_eq!(
            game.players().map(|player| player.id).collect::<Vec<_>>(),
            &roster[..]
        );
        let played = game
            .question_results()
            .iter()
            .map(|played| (played.question, played.skipped));
        prop_assert_eq!(played.collect::<Vec<_>>(), &self.closed[..]);
        for player in game.players() {
            self.compare_player(player)?;
        }
        self.compare_bounds(game)?;
        let ranked: Vec<_> = roster
            .iter()
            .copied()
            .filter(|id| !self.spectators.contains(id))
            .collect();
        self.compare_places(game, &ranked)?;
        self.compare_current(game, &roster)
    }

    fn compare_player(&self, player: &Player) -> Result<(), TestCaseError> {
        prop_assert_eq!(player.total, self.total(player.id));
        prop_assert_eq!(
            player.total,
            player.answers.iter().map(|answer| answer.points).sum::<u32>()
        );
        prop_assert_eq!(u32::from(player.streak), self.streak(player.id));
        prop_assert!(!player.kicked, "removed, yet in the roster");
        prop_assert!(!(player.left && player.present));
        for answer in &player.answers {
            let entry = self.answers.get(&(player.id, answer.question));
            prop_assert_eq!(entry, Some(&(answer.choices, Millis::from(answer.elapsed_ms))));
            let closed = self
                .closed
                .iter()
                .any(|(question, _)| *question == answer.question);
            prop_assert_eq!(answer.correct, closed && self.right(player.id, answer.question));
            prop_assert_eq!(answer.points, self.points(player.id, answer.question));
        }
        let entries = self.answers.keys().filter(|(id, _)| *id == player.id).count();
        prop_assert_eq!(player.answers.len(), entries);
        Ok(())
    }

    fn compare_bounds(&self, game: &Game) -> Result<(), TestCaseError> {
        prop_assert!(game.player_count() <= self.players_max && self.players_max <= PLAYERS_MAX);
        prop_assert!(self.joined.len() <= usize::try_from(JOINS_MAX).expect("fits"));
        let mut keys: Vec<_> = game.players().map(|player| player.name.key()).collect();
        prop_assert!(
            game.players()
                .all(|player| player.name.as_str().len() <= NAME_BYTES_MAX)
        );
        keys.sort_unstable();
        prop_assert!(
            keys.windows(2).all(|pair| pair[0] != pair[1]),
            "two names that read the same: {:?}",
            keys
        );
        Ok(())
    }

    fn compare_places(&self, game: &Game, roster: &[PlayerId]) -> Result<(), TestCaseError> {
        let rank = |id| {
            1 + roster
                .iter()
                .filter(|other| self.total(**other) > self.total(id))
                .count()
        };
        let mut expected: Vec<_> = roster.iter().map(|&id| (rank(id), id, self.total(id))).collect();
        expected.sort_unstable();
        let standings = game.standings();
        let got = standings
            .iter()
            .map(|line| (usize::try_from(line.rank).expect("fits"), line.player, line.total));
        prop_assert_eq!(got.collect::<Vec<_>>(), expected);
        for line in &standings {
            prop_assert_eq!(
                Some(&line.name),
                game.player(line.player).map(|player| &player.name)
            );
        }
        let outcomes = game.outcomes();
        let shown = matches!(game.phase(), Phase::Results { .. });
        prop_assert_eq!(outcomes.len(), if shown { roster.len() } else { 0 });
        for (line, (id, outcome)) in standings.iter().zip(&outcomes) {
            let question = self.closed.last().expect("results are shown").0;
            prop_assert_eq!(
                (line.player, line.rank, line.total),
                (*id, outcome.rank, outcome.total)
            );
            prop_assert_eq!(game.outcome(*id), Some(*outcome));
            let ok = self
                .answers
                .contains_key(&(*id, question))
                .then(|| self.right(*id, question));
            prop_assert_eq!((outcome.question, outcome.ok), (question, ok));
            prop_assert_eq!(outcome.points, self.points(*id, question));
            prop_assert_eq!(u32::from(outcome.streak), self.streak(*id));
            prop_assert_eq!(outcome.of as usize, roster.len());
            prop_assert_eq!(outcome.correct, self.question(question).correct());
        }
        for id in &self.struck {
            prop_assert!(game.outcome(*id).is_none() && game.player(*id).is_some());
        }
        Ok(())
    }

    fn compare_current(&self, game: &Game, roster: &[PlayerId]) -> Result<(), TestCaseError> {
        let Some(current) = game.current() else {
            prop_assert_eq!((game.answered_count(), game.expected_count()), (0, 0));
            prop_assert_eq!(game.reveal(), None);
            return Ok(());
        };
        let choices_of = |id: &PlayerId| self.answers.get(&(*id, current)).map(|(choices, _)| *choices);
        let answers: Vec<_> = roster.iter().filter_map(choices_of).collect();
        let away = |id: &PlayerId| !game.player(*id).is_some_and(|player| player.present);
        let not_expected = roster
            .iter()
            .filter(|id| away(id) && choices_of(id).is_none())
            .count();
        let counts = (game.answered_count(), game.player_count() - game.expected_count());
        prop_assert_eq!(
            (counts.0 as usize, counts.1 as usize),
            (answers.len(), not_expected)
        );
        let Some(reveal) = game.reveal() else {
            prop_assert!(game.deadline().is_some(), "results without a reveal");
            return Ok(());
        };
        let bars = (0..).take(self.question(current).choices.len());
        let bars = bars.map(|choice| answers.iter().filter(|answer| answer.contains(choice)).count());
        let histogram: Vec<_> = reveal.histogram.iter().map(|&bar| bar as usize).collect();
        prop_assert_eq!(histogram, bars.collect::<Vec<_>>());
        let right = roster.iter().filter(|id| self.right(**id, current)).count();
        prop_assert_eq!(
            (reveal.answered as usize, reveal.right as usize),
            (answers.len(), right)
        );
        prop_assert_eq!(
            Some((reveal.question, reveal.skipped)),
            self.closed.last().copied()
        );
        Ok(())
    }

    fn question(&self, index: QuestionIndex) -> &Question {
        self.quiz.get(index).expect("a question of the quiz")
    }

    fn right(&self, id: PlayerId, index: QuestionIndex) -> bool {
        let Some((choices, _)) = self.answers.get(&(id, index)) else {
            return false;
        };
        let question = self.question(index);
        let mut marks = (0..)
            .zip(&question.choices)
            .map(|(n, choice)| (choices.contains(n), choice.correct));
        match question.kind {
            QuestionKind::Single | QuestionKind::TrueFalse => marks.any(|mark| mark == (true, true)),
            QuestionKind::Multiple => marks.all(|(chosen, correct)| chosen == correct),
        }
    }

    fn points(&self, id: PlayerId, index: QuestionIndex) -> u32 {
        if !self.closed.contains(&(index, false)) || !self.right(id, index) {
            return 0;
        }
        let (_, elapsed) = self.answers[&(id, index)];
        let time = Millis::from(self.question(index).time_ms);
        match self.scoring {
            Scoring::Accuracy => 1_000,
            // Rounded up, where the game rounds down what is taken away.
            Scoring::Speed => {
                u32::try_from((1_000 * time - 500 * elapsed).div_ceil(time)).expect("at most 1000")
            }
        }
    }

    fn total(&self, id: PlayerId) -> u32 {
        self.closed
            .iter()
            .map(|(question, _)| self.points(id, *question))
            .sum()
    }

    fn streak(&self, id: PlayerId) -> u32 {
        let since = self
            .joined
            .iter()
            .find(|(joined, _)| *joined == id)
            .expect("joined")
            .1;
        let counted = self.closed[since..].iter().rev().filter(|(_, skipped)| !skipped);
        let row = counted
            .take_while(|(question, _)| self.right(id, *question))
            .count();
        u32::try_from(row).expect("fits")
    }
}
