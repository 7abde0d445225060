//! What holds over every sequence of commands, sensible or not.

#[path = "properties/books.rs"]
mod books;
#[path = "properties/play.rs"]
mod play;

use std::collections::BTreeSet;
use std::sync::Arc;

use game_core::{
    Command, Effect, Game, Millis, Outcome, Phase, Player, PlayerId, Question, QuestionIndex, Quiz, Reject,
    Reveal, Standing,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};

use crate::books::Books;
use crate::play::{Plan, interpret, plan, wild_plan};

/// Failing cases are kept beside this file and tried first ever after.
fn config(cases: u32) -> Config {
    let kept = FileFailurePersistence::Direct("tests/properties.regressions");
    Config {
        failure_persistence: Some(Box::new(kept)),
        max_shrink_iters: 20_000,
        ..Config::with_cases(cases)
    }
}

/// Plays a plan; after each command `check` gets the game before, the time, the command, what came of it and the game.
fn play(
    plan: &Plan,
    mut check: impl FnMut(
        &Game,
        Millis,
        &Command,
        &Result<Vec<Effect>, Reject>,
        &Game,
    ) -> Result<(), TestCaseError>,
) -> Result<Game, TestCaseError> {
    let mut game = plan.game();
    let mut now = 0;
    for step in &plan.steps {
        let before = game.clone();
        let (time, command) = interpret(step, now, &game);
        now = time;
        let result = game.apply(now, command.clone());
        check(&before, now, &command, &result, &game)?;
    }
    Ok(game)
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn a_refusal_changes_nothing_and_the_journal_gives_the_same_game(plan in plan()) {
        let mut journal = Vec::new();
        let mut twin = plan.game();
        let game = play(&plan, |before, now, command, result, after| {
            prop_assert_eq!(&twin.apply(now, command.clone()), result, "the same input, another output");
            match result {
                Ok(_) => journal.push((now, command.clone())),
                Err(reject) => prop_assert_eq!(before, after, "{:?} changed the game", reject),
            }
            Ok(())
        })?;
        prop_assert_eq!(&twin, &game);
        let mut replayed = plan.game();
        for (now, command) in journal {
            prop_assert!(replayed.apply(now, command).is_ok(), "an accepted command was refused in the replay");
        }
        prop_assert_eq!(replayed, game);
    }

    #[test]
    fn a_game_taken_out_and_put_together_is_the_same_game(plan in prop_oneof![plan(), wild_plan()]) {
        play(&plan, |_, _, _, _, game| {
            let restored = Game::restore(Arc::clone(game.quiz()), game.settings(), game.export());
            prop_assert_eq!(restored.as_ref(), Ok(game));
            Ok(())
        })?;
    }

    #[test]
    fn a_game_agrees_with_books_kept_by_hand(plan in plan()) {
        let mut books = Books::new(&plan.game());
        play(&plan, |before, now, command, result, after| {
            if let Ok(effects) = result {
                books.enter(before, now, command, effects, after)?;
            }
            books.compare(after)
        })?;
    }

    #[test]
    fn nothing_a_player_could_see_depends_on_the_solution_of_the_open_question(
        plan in plan(),
        asked in 0..3_usize,
        flips in prop::collection::vec(any::<bool>(), 10),
    ) {
        let mut other_plan = plan.clone();
        let asked = asked % plan.questions.len();
        play::resolve(&mut other_plan.questions[asked], &flips);
        let asked = QuestionIndex(u16::try_from(asked).expect("three at most"));
        let mut other = other_plan.game();
        let mut open = true;
        play(&plan, |_, now, command, result, game| {
            let other_result = other.apply(now, command.clone());
            open &= !game.question_results().iter().any(|played| played.question == asked);
            if open {
                prop_assert_eq!(result, &other_result);
                prop_assert_eq!(Seen::new(game, now), Seen::new(&other, now));
            }
            Ok(())
        })?;
    }

    #[test]
    fn whatever_comes_at_whatever_time_does_no_harm(plan in wild_plan()) {
        let mut clock = 0;
        play(&plan, |before, now, _, result, after| {
            match result {
                Ok(_) => clock = clock.max(now),
                Err(_) => prop_assert_eq!(before, after),
            }
            if let (Some(opened_at), Some(deadline)) = (after.opened_at(), after.deadline()) {
                prop_assert!(opened_at <= deadline && opened_at <= clock);
                prop_assert!(after.remaining_ms(now).is_some_and(|left| left <= 600_000));
            }
            Ok(())
        })?;
    }
}

/// All that a frame to a player could be made from.
#[derive(Debug, PartialEq)]
struct Seen {
    phase: Phase,
    seq: u32,
    locked: bool,
    remaining_ms: Option<u32>,
    counts: [u32; 4],
    players: Vec<Player>,
    outcomes: Vec<(PlayerId, Outcome)>,
    standings: Vec<Standing>,
    reveal: Option<Reveal>,
    asked: Option<(String, Vec<String>)>,
}

impl Seen {
    fn new(game: &Game, now: Millis) -> Self {
        let asked = game
            .current()
            .and_then(|index| game.quiz().get(index))
            .map(|question| {
                let choices = question
                    .choices
                    .iter()
                    .map(|choice| choice.text.clone())
                    .collect();
                (question.text.clone(), choices)
            });
        Self {
            phase: game.phase(),
            seq: game.seq(),
            locked: game.locked(),
            remaining_ms: game.remaining_ms(now),
            counts: [
                game.player_count(),
                game.present_count(),
                game.answered_count(),
                game.expected_count(),
            ],
            players: game.players().cloned().collect(),
            outcomes: game.outcomes(),
            standings: game.standings(),
            reveal: game.reveal(),
            asked,
        }
    }
}

/// The properties above say nothing about games that are never played, so the plans have to reach everything.
#[test]
fn plans_reach_every_phase_effect_and_refusal() {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..150 {
        let plan = plan().new_tree(&mut runner).expect("a plan").current();
        play(&plan, |_, _, _, result, game| {
            seen.insert(kind(&game.phase()));
            match result {
                Ok(effects) => seen.extend(effects.iter().map(kind)),
                Err(reject) => drop(seen.insert(kind(reject))),
            }
            Ok(())
        })
        .expect("nothing is checked");
    }
    let expected = [
        "Absent",
        "AlreadyAnswered",
        "AnswerAccepted",
        "Away",
        "BadChoice",
        "Ended",
        "Full",
        "GameOver",
        "Joined",
        "Kicked",
        "Left",
        "Lobby",
        "LockChanged",
        "Locked",
        "Name",
        "NameTaken",
        "NoSuchPlayer",
        "NotOpen",
        "PlayerKicked",
        "Podium",
        "Question",
        "QuestionClosed",
        "QuestionOpened",
        "Renamed",
        "Results",
        "Returned",
        "Schedule",
        "TooLate",
        "WrongPhase",
    ];
    let missing: Vec<_> = expected[1..]
        .iter()
        .filter(|&&kind| !seen.contains(kind))
        .collect();
    assert!(missing.is_empty(), "never reached: {missing:?}");
}

/// The name of a variant.
fn kind(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}
