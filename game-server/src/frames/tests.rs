//! What frames may tell, and how much they may weigh.

use axum::extract::ws::Utf8Bytes;
use game_core::{ChoiceSet, Command, Game, Phase, PlayerId, QuestionIndex, Settings};
use proptest::prelude::*;
use protocol::error::ErrorCode;
use protocol::player::ByeReason;
use protocol::quiz::{QuestionKind, QuizDocument};

use super::{host, player};
use crate::convert;
use crate::facts::Facts;
use crate::testing;

fn game(quiz: &QuizDocument) -> Game {
    let settings = Settings {
        scoring: game_core::Scoring::Speed,
        players_max: 500,
    };
    Game::new(convert::quiz_to_core(quiz).unwrap(), settings)
}

/// Every frame that one player could get now, of every kind.
fn frames_to(game: &Game, facts: &Facts, id: PlayerId, now: u64) -> Vec<Utf8Bytes> {
    let mut frames = vec![player::pong(game.seq())];
    frames.extend(player::welcome(game, facts, id, "token".to_owned(), now));
    frames.extend(player::sync(game, facts, id, now));
    frames.extend(player::renamed(game, id));
    frames.extend(
        game.current()
            .and_then(|question| player::question(game, question, now)),
    );
    for (to, frame) in player::results(game).into_iter().chain(player::overs(game)) {
        if to == id && !matches!(game.phase(), Phase::Question { .. }) {
            frames.push(frame);
        }
    }
    frames
}

#[derive(Debug, Clone)]
enum Step {
    Join,
    Answer { player: u32, choices: u16, twin: Twin },
    Present(u32),
    Absent(u32),
    Leave(u32),
    Kick(u32),
    Rename(u32),
    Close,
    Next,
    Lock(bool),
}

/// What somebody else did in the other world.
#[derive(Debug, Clone, Copy)]
enum Twin {
    Same,
    Other(u16),
    Silent,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let id = 1_u32..6;
    let twin = prop_oneof![
        Just(Twin::Same),
        any::<u16>().prop_map(Twin::Other),
        Just(Twin::Silent)
    ];
    let step = prop_oneof![
        2 => Just(Step::Join),
        8 => (id.clone(), any::<u16>(), twin)
            .prop_map(|(player, choices, twin)| Step::Answer { player, choices, twin }),
        1 => id.clone().prop_map(Step::Present),
        1 => id.clone().prop_map(Step::Absent),
        1 => id.clone().prop_map(Step::Leave),
        1 => id.clone().prop_map(Step::Kick),
        1 => id.prop_map(Step::Rename),
        1 => Just(Step::Close),
        3 => Just(Step::Next),
        1 => any::<bool>().prop_map(Step::Lock),
    ];
    proptest::collection::vec(step, 1..60)
}

/// Choices that the question admits, made from arbitrary bits.
fn admissible(game: &Game, question: QuestionIndex, bits: u16) -> ChoiceSet {
    let asked = game.quiz().get(question).unwrap();
    let count = u16::try_from(asked.choices.len()).unwrap();
    match asked.kind {
        game_core::QuestionKind::Multiple => ChoiceSet((bits % (1 << count)).max(1)),
        game_core::QuestionKind::Single | game_core::QuestionKind::TrueFalse => {
            ChoiceSet(1 << (bits % count))
        }
    }
}

/// The command of a step; none when it makes no sense now. `other_world` says whether others than `subject` do in
/// `question` what they do in the twin.
fn command(
    step: &Step,
    game: &Game,
    question: QuestionIndex,
    subject: PlayerId,
    other_world: bool,
) -> Option<Command> {
    let current = game.current();
    Some(match *step {
        Step::Join => Command::Join {
            name: format!("Player {}", game.player_count()),
        },
        Step::Answer {
            player,
            choices,
            twin,
        } => {
            let player = PlayerId(player);
            let question_now = current?;
            let differs = other_world && question_now == question && player != subject;
            let bits = match twin {
                Twin::Other(bits) if differs => bits,
                Twin::Silent if differs => return None,
                Twin::Same | Twin::Other(_) | Twin::Silent => choices,
            };
            let choices = admissible(game, question_now, bits);
            Command::Answer {
                player,
                question: question_now,
                choices,
            }
        }
        Step::Present(id) => Command::Present { player: PlayerId(id) },
        Step::Absent(id) => Command::Absent { player: PlayerId(id) },
        Step::Leave(id) => Command::Leave { player: PlayerId(id) },
        Step::Kick(id) => Command::Kick { player: PlayerId(id) },
        Step::Rename(id) => Command::HostRename {
            player: PlayerId(id),
            name: format!("Renamed {id}"),
        },
        Step::Close => Command::Close { question: current? },
        Step::Next => match game.phase() {
            Phase::Lobby => Command::Start,
            Phase::Results { index } => Command::Next { question: index },
            Phase::Question { .. } | Phase::Podium | Phase::Ended => return None,
        },
        Step::Lock(on) => Command::Lock { on },
    })
}

/// The same quiz with another solution to one question.
fn with_other_solution(quiz: &QuizDocument, question: QuestionIndex) -> QuizDocument {
    let mut other = quiz.clone();
    let asked = &mut other.questions[usize::from(question.0)];
    match asked.kind {
        QuestionKind::Single | QuestionKind::TrueFalse => {
            let correct = asked.choices.iter().position(|choice| choice.correct).unwrap();
            let count = asked.choices.len();
            asked.choices[correct].correct = false;
            asked.choices[(correct + 1) % count].correct = true;
        }
        QuestionKind::Multiple => {
            let all = asked.choices.iter().all(|choice| choice.correct);
            for choice in &mut asked.choices {
                choice.correct = !choice.correct || all;
            }
        }
    }
    other
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Two worlds: in the other one the open question has another solution, and everybody but one player answered
    /// otherwise or not at all. As long as the question is open, that player cannot tell the worlds apart.
    #[test]
    fn a_player_cannot_tell_solutions_or_others_answers(
        steps in steps(),
        question in (0_u16..6).prop_map(QuestionIndex),
        subject in (1_u32..6).prop_map(PlayerId),
    ) {
        let quiz = testing::mixed_quiz();
        let other_quiz = with_other_solution(&quiz, question);
        let facts = testing::facts(quiz.clone());
        let other_facts = testing::facts(other_quiz.clone());
        let (mut here, mut there) = (game(&quiz), game(&other_quiz));
        let mut now = 0;
        for step in &steps {
            now += 50;
            let accepted = [(&mut here, false), (&mut there, true)].map(|(world, other_world)| {
                command(step, world, question, subject, other_world)
                    .is_some_and(|command| world.apply(now, command).is_ok())
            });
            if here.phase() != there.phase() {
                // All have answered in one world only; that a question closed is everybody's to know.
                break;
            }
            let is_open = matches!(here.phase(), Phase::Question { index, .. } if index == question);
            if is_open {
                prop_assert_eq!(
                    frames_to(&here, &facts, subject, now),
                    frames_to(&there, &other_facts, subject, now)
                );
            } else if here.current() == Some(question) {
                // Closed: from here on the worlds may differ, and do.
                break;
            }
            if let Step::Answer { player, .. } = step
                && PlayerId(*player) == subject
                && is_open
            {
                prop_assert_eq!(accepted[0], accepted[1], "a refusal tells the worlds apart");
            }
        }
    }

    /// The host's frames may count answers, but tell neither the solution nor who chose what.
    #[test]
    fn a_host_frame_of_an_open_question_can_be_projected(
        steps in steps(),
        question in (0_u16..6).prop_map(QuestionIndex),
    ) {
        let quiz = testing::mixed_quiz();
        let other_quiz = with_other_solution(&quiz, question);
        let (facts, other_facts) = (testing::facts(quiz.clone()), testing::facts(other_quiz.clone()));
        let (mut here, mut there) = (game(&quiz), game(&other_quiz));
        let nobody = PlayerId(0);
        let mut now = 0;
        for step in &steps {
            now += 50;
            // Everybody answers at the same times in both worlds, but other things.
            let step = match *step {
                Step::Answer { player, choices, .. } => {
                    Step::Answer { player, choices, twin: Twin::Other(choices.rotate_left(3) ^ 5) }
                }
                Step::Join
                | Step::Present(_)
                | Step::Absent(_)
                | Step::Leave(_)
                | Step::Kick(_)
                | Step::Rename(_)
                | Step::Close
                | Step::Next
                | Step::Lock(_) => step.clone(),
            };
            for (world, other_world) in [(&mut here, false), (&mut there, true)] {
                if let Some(command) = command(&step, world, question, nobody, other_world) {
                    let _accepted_or_not = world.apply(now, command);
                }
            }
            if matches!(here.phase(), Phase::Question { index, .. } if index == question) {
                prop_assert_eq!(player::question(&here, question, now), player::question(&there, question, now));
                prop_assert_eq!(host::progress(&here), host::progress(&there));
                prop_assert_eq!(
                    host::sync(&here, &facts, false, now),
                    host::sync(&there, &other_facts, false, now)
                );
            } else if here.current() == Some(question) {
                break;
            }
        }
    }
}

/// The two worlds do differ once the question is closed; otherwise the tests above would prove nothing.
#[test]
fn the_worlds_differ_after_the_close() {
    let quiz = testing::mixed_quiz();
    for n in 0..6 {
        let question = QuestionIndex(n);
        let other = with_other_solution(&quiz, question);
        let frames = [&quiz, &other].map(|quiz| {
            let facts = testing::facts(quiz.clone());
            let mut game = game(quiz);
            game.apply(0, Command::Join { name: "Ada".into() }).unwrap();
            game.apply(0, Command::Start).unwrap();
            for earlier in 0..n {
                game.apply(
                    0,
                    Command::Close {
                        question: QuestionIndex(earlier),
                    },
                )
                .unwrap();
                game.apply(
                    0,
                    Command::Next {
                        question: QuestionIndex(earlier),
                    },
                )
                .unwrap();
            }
            let choices = admissible(&game, question, 1);
            game.apply(
                0,
                Command::Answer {
                    player: PlayerId(1),
                    question,
                    choices,
                },
            )
            .unwrap();
            assert_eq!(game.current(), Some(question));
            (frames_to(&game, &facts, PlayerId(1), 0), host::reveal(&game))
        });
        assert_ne!(frames[0].0, frames[1].0);
        assert_ne!(frames[0].1, frames[1].1);
    }
}

/// A room of 500 plays the reference quiz; every frame keeps its budget, and all together theirs.
#[test]
fn frames_keep_their_budgets() {
    let quiz = testing::reference_quiz();
    let facts = testing::facts(quiz.clone());
    let keys = testing::keys();
    let mut game = game(&quiz);
    let mut total = 0;
    let players: Vec<PlayerId> = (1..=500).map(PlayerId).collect();
    for id in &players {
        game.apply(
            0,
            Command::Join {
                name: format!("Student {}", id.0),
            },
        )
        .unwrap();
        let token = keys
            .sign_player(
                facts.game,
                crate::tokens::Pass {
                    player: convert::player_to_wire(*id),
                    joined_at: 600_000,
                    epoch: 10,
                },
                &crate::StoreId::new("a run of a store"),
                crate::ambient::unix_ms() / 1_000 + 6 * 60 * 60,
            )
            .unwrap();
        let welcome = player::welcome(&game, &facts, *id, token, 0).unwrap().len();
        assert!(welcome <= 600, "welcome: {welcome} bytes");
        total += welcome;
    }
    let mut now = 0;
    game.apply(now, Command::Start).unwrap();
    for (n, asked) in (0..).zip(&quiz.questions) {
        let question = QuestionIndex(n);
        let text = asked.text.len()
            + asked
                .choices
                .iter()
                .map(|choice| choice.text.len())
                .sum::<usize>();
        let frame = player::question(&game, question, now).unwrap().len();
        assert!(frame <= text + 130, "question: {frame} bytes");
        total += frame * players.len();
        for id in &players {
            // One after the other until just before the deadline, so that ties are few.
            now += 39;
            let choices = ChoiceSet(1 << (id.0 % 4));
            game.apply(
                now,
                Command::Answer {
                    player: *id,
                    question,
                    choices,
                },
            )
            .unwrap();
            let ack = player::ack(question, true).len();
            assert!(ack <= 64, "ack: {ack} bytes");
            total += ack;
        }
        let sync = player::sync(&game, &facts, PlayerId(77), now).unwrap().len();
        assert!(sync <= 700 + frame, "sync: {sync} bytes");
        let results = player::results(&game);
        assert_eq!(results.len(), players.len());
        for (_, result) in results {
            assert!(result.len() <= 140, "result: {result}");
            total += result.len();
        }
        game.apply(now, Command::Next { question }).unwrap();
    }
    for (_, over) in player::overs(&game) {
        assert!(over.len() <= 300, "over: {over}");
        total += over.len();
    }
    assert!(total <= 5_000_000, "{total} bytes to 500 players");
    println!("{total} bytes to 500 players");
    for frame in [
        player::error(ErrorCode::AlreadyAnswered, Some(200), None),
        player::error(ErrorCode::BadFirstFrame, None, Some(3_000)),
        player::bye(ByeReason::Replaced, Some(300)),
    ] {
        assert!(frame.len() <= 80, "{frame}");
    }
}

/// 500 of the longest names on a podium: the largest frame there is.
#[test]
fn the_largest_frame_fits_the_transport() {
    let quiz = testing::reference_quiz();
    let facts = testing::facts(quiz.clone());
    let mut game = game(&quiz);
    for n in 0..500 {
        // Twenty graphemes: quotes, which JSON escapes, and joined emoji, which have 25 bytes each.
        let name = format!("{}{}{n:03}", "\"", "👩\u{200d}👩\u{200d}👧\u{200d}👦".repeat(16));
        game.apply(0, Command::Join { name }).unwrap();
    }
    game.apply(0, Command::Start).unwrap();
    game.apply(
        0,
        Command::Close {
            question: QuestionIndex::FIRST,
        },
    )
    .unwrap();
    game.apply(0, Command::End).unwrap();
    let bytes = host::sync(&game, &facts, false, 0).len();
    assert!(bytes > 400_000, "the test makes no large frame: {bytes} bytes");
    assert!(
        bytes <= crate::session::WRITE_BUFFER_BYTES_MAX / 2,
        "{bytes} bytes"
    );
}
