//! Which answers are accepted, when, and what they earn.

use game_core::{Command, Effect, Millis, PlayerId, QuestionIndex, QuestionKind, Reject, Scoring};

use crate::table::{Q0, Q1, TIME_MS, Table, question, set, single};

/// A game of one question of this kind and solution, open, with two players, of whom one is asked.
fn open(kind: QuestionKind, flags: &[bool]) -> (Table, PlayerId) {
    let mut table = Table::with(vec![question(kind, flags), single()], Scoring::Speed, u32::MAX);
    let ada = table.join("Ada");
    table.join("Bob");
    table.start();
    (table, ada)
}

fn open_single() -> (Table, PlayerId) {
    open(QuestionKind::Single, &[true, false, false, false])
}

#[test]
fn the_first_answer_wins() {
    let (mut table, ada) = open_single();
    let accepted = |new| {
        [Effect::AnswerAccepted {
            player: ada,
            question: Q0,
            new,
        }]
    };
    assert_eq!(table.answer(ada, Q0, &[1]), accepted(true));
    table.wait(500);
    assert_eq!(table.answer(ada, Q0, &[1]), accepted(false));
    assert_eq!(table.refused(ada, Q0, &[0]), Reject::AlreadyAnswered);
    assert_eq!(table.refused(ada, Q0, &[9]), Reject::AlreadyAnswered);
    let answer = table.game.answer_of(ada, Q0).expect("accepted");
    assert_eq!((answer.choices, answer.elapsed_ms), (set(&[1]), 0));
    assert_eq!(table.game.answered_count(), 1);
}

#[test]
fn the_same_answer_is_acknowledged_again_however_far_the_game_is() {
    let (mut table, ada) = open_single();
    table.answer(ada, Q0, &[1]);
    let again = [Effect::AnswerAccepted {
        player: ada,
        question: Q0,
        new: false,
    }];
    table.wait(Millis::from(TIME_MS) + 1);
    assert_eq!(table.answer(ada, Q0, &[1]), again, "after the deadline");
    table.close(Q0);
    assert_eq!(table.answer(ada, Q0, &[1]), again, "on results");
    assert_eq!(table.refused(ada, Q0, &[0]), Reject::AlreadyAnswered);
    table.ok(Command::Next { question: Q0 });
    assert_eq!(table.answer(ada, Q0, &[1]), again, "on the next question");
}

#[test]
fn an_answer_is_for_the_open_question() {
    let mut table = Table::new(2);
    let ada = table.join("Ada");
    assert_eq!(table.refused(ada, Q0, &[0]), Reject::NotOpen, "in the lobby");
    table.start();
    assert_eq!(table.refused(ada, Q1, &[0]), Reject::NotOpen, "before its time");
    assert_eq!(table.refused(ada, QuestionIndex(u16::MAX), &[0]), Reject::NotOpen);
    table.close(Q0);
    assert_eq!(table.refused(ada, Q0, &[0]), Reject::NotOpen, "on results");
    table.ok(Command::End);
    assert_eq!(table.refused(ada, Q0, &[0]), Reject::NotOpen, "on the podium");
}

#[test]
fn the_deadline_itself_is_in_time() {
    let (mut table, ada) = open_single();
    table.wait(Millis::from(TIME_MS));
    table.answer(ada, Q0, &[0]);
    table.close(Q0);
    assert_eq!(table.total(ada), 500);
}

#[test]
fn past_the_deadline_is_too_late_though_the_timer_has_not_fired() {
    let (mut table, ada) = open_single();
    table.wait(Millis::from(TIME_MS) + 1);
    assert_eq!(table.refused(ada, Q0, &[0]), Reject::TooLate);
    table.ok(Command::DeadlineReached { question: Q0 });
    assert_eq!(table.refused(ada, Q0, &[0]), Reject::NotOpen);
    assert_eq!(table.outcome(ada).ok, None);
}

#[test]
fn single_and_true_or_false_take_exactly_one_choice() {
    for kind in [QuestionKind::Single, QuestionKind::TrueFalse] {
        let (mut table, ada) = open(kind, &[false, true]);
        for choices in [&[][..], &[0, 1], &[2], &[1, 2], &[15]] {
            assert_eq!(table.refused(ada, Q0, choices), Reject::BadChoice, "{choices:?}");
        }
        table.answer(ada, Q0, &[1]);
        table.close(Q0);
        assert_eq!(table.total(ada), 1_000);
    }
}

#[test]
fn single_with_several_correct_choices_takes_any() {
    for (choice, total) in [(0, 0), (1, 1_000), (2, 1_000)] {
        let (mut table, ada) = open(QuestionKind::Single, &[false, true, true]);
        table.answer(ada, Q0, &[choice]);
        table.close(Q0);
        assert_eq!(table.total(ada), total, "choice {choice}");
    }
}

#[test]
fn multiple_takes_the_exact_set() {
    let flags = [true, false, true, false];
    let (mut table, ada) = open(QuestionKind::Multiple, &flags);
    for choices in [&[][..], &[4], &[0, 2, 4]] {
        assert_eq!(table.refused(ada, Q0, choices), Reject::BadChoice, "{choices:?}");
    }
    let cases = [
        (&[0, 2][..], 1_000),
        (&[0], 0),
        (&[0, 1, 2], 0),
        (&[1, 3], 0),
        (&[0, 1, 2, 3], 0),
    ];
    for (choices, total) in cases {
        let (mut table, ada) = open(QuestionKind::Multiple, &flags);
        table.answer(ada, Q0, choices);
        table.close(Q0);
        assert_eq!(table.total(ada), total, "{choices:?}");
    }
    table.answer(ada, Q0, &[2, 0]);
}

#[test]
fn speed_counts_from_the_opening_and_accuracy_does_not() {
    for (scoring, points) in [(Scoring::Speed, 875), (Scoring::Accuracy, 1_000)] {
        let mut table = Table::with(vec![single()], scoring, u32::MAX);
        let ada = table.join("Ada");
        let bob = table.join("Bob");
        table.wait(123_456);
        table.start();
        table.wait(5_000);
        table.answer(ada, Q0, &[0]);
        table.answer(bob, Q0, &[3]);
        let answer = table.game.answer_of(ada, Q0).expect("accepted");
        assert_eq!(
            (answer.elapsed_ms, answer.correct, answer.points),
            (5_000, true, points)
        );
        assert_eq!((table.total(ada), table.total(bob)), (points, 0));
    }
}

#[test]
fn a_late_joiner_answers_with_the_time_that_is_left() {
    let (mut table, _) = open_single();
    table.wait(15_000);
    let late = table.join("Late");
    assert_eq!(table.game.remaining_ms(table.now), Some(5_000));
    table.answer(late, Q0, &[0]);
    table.close(Q0);
    assert_eq!(table.total(late), 625);
}

#[test]
fn nothing_shows_whether_an_answer_is_correct_before_the_question_closes() {
    let (mut table, ada) = open_single();
    table.answer(ada, Q0, &[0]);
    let answer = table.game.answer_of(ada, Q0).expect("accepted");
    assert_eq!((answer.correct, answer.points), (false, 0));
    assert_eq!((table.total(ada), table.streak(ada)), (0, 0));
    assert_eq!((table.game.outcome(ada), table.game.reveal()), (None, None));
    assert!(table.game.outcomes().is_empty());
    assert!(
        table
            .game
            .standings()
            .iter()
            .all(|line| line.rank == 1 && line.total == 0)
    );
    table.close(Q0);
    let answer = table.game.answer_of(ada, Q0).expect("accepted");
    assert_eq!(
        (answer.correct, answer.points, table.total(ada), table.streak(ada)),
        (true, 1_000, 1_000, 1)
    );
}

#[test]
fn streaks_count_correct_answers_in_a_row() {
    let mut table = Table::new(5);
    let ada = table.join("Ada");
    let bob = table.join("Bob");
    table.start();
    // Correct, correct, not answered, correct, wrong.
    let played = [(Some(0), 1), (Some(0), 2), (None, 0), (Some(0), 1), (Some(1), 0)];
    for (index, (choice, streak)) in (0..).zip(played) {
        let question = QuestionIndex(index);
        if let Some(choice) = choice {
            table.answer(ada, question, &[choice]);
        }
        table.close(question);
        assert_eq!(
            (table.streak(ada), table.streak(bob)),
            (streak, 0),
            "question {index}"
        );
        assert_eq!(table.outcome(ada).streak, streak);
        table.ok(Command::Next { question });
    }
}

#[test]
fn an_answer_of_somebody_away_counts_and_does_not_call_it_present() {
    let (mut table, ada) = open_single();
    table.ok(Command::Absent { player: ada });
    let accepted = [Effect::AnswerAccepted {
        player: ada,
        question: Q0,
        new: true,
    }];
    assert_eq!(table.answer(ada, Q0, &[0]), accepted);
    assert!(!table.game.player(ada).expect("admitted").present);
    assert_eq!((table.game.answered_count(), table.game.expected_count()), (1, 2));
}
