//! Phases, deadlines, closing early, skipping, ending, time.

use game_core::{Command, Effect, Millis, Phase, QuestionIndex, Reject};

use crate::table::{Q0, Q1, TIME_MS, Table};

const CLOSED: [Effect; 1] = [Effect::QuestionClosed { question: Q0 }];

#[test]
fn a_game_from_lobby_to_end() {
    let mut table = Table::new(2);
    assert_eq!(
        (table.game.phase(), table.game.seq(), table.game.current()),
        (Phase::Lobby, 0, None)
    );
    let at = table.now + Millis::from(TIME_MS);
    assert_eq!(
        table.start(),
        [
            Effect::QuestionOpened { question: Q0 },
            Effect::Schedule { question: Q0, at }
        ]
    );
    assert_eq!(
        table.game.phase(),
        Phase::Question {
            index: Q0,
            opened_at: table.now,
            deadline: at
        }
    );
    assert_eq!((table.game.seq(), table.game.current()), (1, Some(Q0)));
    assert_eq!(
        (table.game.opened_at(), table.game.deadline()),
        (Some(table.now), Some(at))
    );

    table.now = at;
    assert_eq!(table.ok(Command::DeadlineReached { question: Q0 }), CLOSED);
    assert_eq!(table.game.phase(), Phase::Results { index: Q0 });
    assert_eq!((table.game.seq(), table.game.current()), (2, Some(Q0)));
    assert_eq!((table.game.opened_at(), table.game.deadline()), (None, None));

    let effects = table.ok(Command::Next { question: Q0 });
    assert_eq!(effects[0], Effect::QuestionOpened { question: Q1 });
    assert_eq!(table.game.seq(), 3);
    table.ok(Command::Close { question: Q1 });
    assert_eq!(table.ok(Command::Next { question: Q1 }), [Effect::GameOver]);
    assert_eq!(
        (table.game.phase(), table.game.seq(), table.game.current()),
        (Phase::Podium, 5, None)
    );
    assert_eq!(table.ok(Command::End), [Effect::Ended]);
    assert_eq!((table.game.phase(), table.game.seq()), (Phase::Ended, 5));
    let skipped: Vec<_> = table
        .game
        .question_results()
        .iter()
        .map(|played| played.skipped)
        .collect();
    assert_eq!(skipped, [false, false]);
}

#[test]
fn a_game_starts_once() {
    let mut table = Table::new(1);
    table.start();
    assert_eq!(table.no(Command::Start), Reject::WrongPhase);
    table.close(Q0);
    assert_eq!(table.no(Command::Start), Reject::WrongPhase);
    table.ok(Command::End);
    assert_eq!(table.no(Command::Start), Reject::WrongPhase);
    table.ok(Command::End);
    assert_eq!(table.no(Command::Start), Reject::Ended);
}

#[test]
fn a_doubled_click_does_nothing() {
    let mut table = Table::new(3);
    assert_eq!(
        table.no(Command::Next { question: Q0 }),
        Reject::NotOpen,
        "in the lobby"
    );
    table.start();
    assert_eq!(
        table.no(Command::Next { question: Q0 }),
        Reject::NotOpen,
        "while it is open"
    );
    table.close(Q0);
    assert_eq!(table.no(Command::Close { question: Q0 }), Reject::NotOpen);
    assert_eq!(table.no(Command::Skip { question: Q0 }), Reject::NotOpen);
    assert_eq!(table.no(Command::Next { question: Q1 }), Reject::NotOpen);
    table.ok(Command::Next { question: Q0 });
    assert_eq!(table.no(Command::Next { question: Q0 }), Reject::NotOpen);
    assert_eq!(table.no(Command::Close { question: Q0 }), Reject::NotOpen);
    assert_eq!(table.no(Command::Skip { question: Q0 }), Reject::NotOpen);
    table.close(Q1);
    assert_eq!(
        table.no(Command::Next { question: Q0 }),
        Reject::NotOpen,
        "the results of another"
    );
    assert_eq!(
        table.no(Command::Next {
            question: QuestionIndex(u16::MAX)
        }),
        Reject::NotOpen
    );
}

#[test]
fn a_timer_closes_its_own_question_at_its_time_and_is_harmless_otherwise() {
    let mut table = Table::new(2);
    let fired = |question| Command::DeadlineReached { question };
    assert_eq!(table.ok(fired(Q0)), [], "in the lobby");
    table.start();
    table.wait(Millis::from(TIME_MS) - 1);
    assert_eq!(table.ok(fired(Q0)), [], "early");
    assert_eq!(table.ok(fired(Q1)), [], "of another question");
    table.close(Q0);
    table.ok(Command::Next { question: Q0 });
    table.wait(Millis::from(TIME_MS) * 10);
    assert_eq!(table.ok(fired(Q0)), [], "stale");
    assert_eq!(table.game.current(), Some(Q1));
    assert_eq!(
        table.ok(fired(Q1)),
        [Effect::QuestionClosed { question: Q1 }],
        "late"
    );
    assert_eq!(table.ok(fired(Q1)), [], "twice");
    table.ok(Command::End);
    assert_eq!(table.ok(fired(Q1)), []);
    table.ok(Command::End);
    assert_eq!(table.ok(fired(Q1)), [], "in a game that has ended");
}

#[test]
fn a_question_closes_when_all_present_have_answered() {
    let mut table = Table::new(1);
    let (ada, bob, cyd) = (table.join("Ada"), table.join("Bob"), table.join("Cyd"));
    table.ok(Command::Absent { player: cyd });
    table.start();
    let accepted = |player| Effect::AnswerAccepted {
        player,
        question: Q0,
        new: true,
    };
    assert_eq!(table.answer(ada, Q0, &[0]), [accepted(ada)]);
    assert_eq!((table.game.answered_count(), table.game.expected_count()), (1, 2));
    assert_eq!(table.answer(bob, Q0, &[1]), [accepted(bob), CLOSED[0].clone()]);
}

#[test]
fn a_question_closes_when_the_last_one_waited_for_goes() {
    for go in [
        |player| Command::Absent { player },
        |player| Command::Leave { player },
        |player| Command::Kick { player },
    ] {
        let mut table = Table::new(1);
        let (ada, bob) = (table.join("Ada"), table.join("Bob"));
        table.start();
        table.answer(ada, Q0, &[0]);
        let effects = table.ok(go(bob));
        assert_eq!(effects[1..], CLOSED, "{effects:?}");
    }
}

#[test]
fn a_class_that_is_away_as_a_whole_gets_the_whole_time() {
    let mut table = Table::new(1);
    let (ada, bob) = (table.join("Ada"), table.join("Bob"));
    table.start();
    table.answer(ada, Q0, &[0]);
    assert_eq!(
        table.ok(Command::Absent { player: ada }),
        [Effect::Away { player: ada }]
    );
    assert_eq!(
        table.ok(Command::Absent { player: bob }),
        [Effect::Away { player: bob }]
    );
    assert_eq!((table.game.answered_count(), table.game.expected_count()), (1, 1));
    // Its phone may be back before the shell says so: the answer counts, and closes nothing by itself.
    let accepted = Effect::AnswerAccepted {
        player: bob,
        question: Q0,
        new: true,
    };
    assert_eq!(table.answer(bob, Q0, &[0]), [accepted]);
    table.wait(Millis::from(TIME_MS));
    assert_eq!(table.ok(Command::DeadlineReached { question: Q0 }), CLOSED);
    assert_eq!((table.total(ada), table.total(bob)), (1_000, 1_000));
}

#[test]
fn a_question_without_answers_is_not_closed_by_somebody_going() {
    let mut table = Table::new(1);
    let (ada, bob) = (table.join("Ada"), table.join("Bob"));
    table.start();
    assert_eq!(
        table.ok(Command::Kick { player: bob }),
        [Effect::Kicked { player: bob }]
    );
    assert_eq!(
        table.ok(Command::Leave { player: ada }),
        [Effect::Left { player: ada }]
    );
    assert_eq!(table.game.current(), Some(Q0));
    assert!(table.game.deadline().is_some());
}

#[test]
fn skipping_gives_no_points_and_leaves_streaks() {
    let mut table = Table::new(3);
    let (ada, bob) = (table.join("Ada"), table.join("Bob"));
    table.start();
    table.answer(ada, Q0, &[0]);
    table.answer(bob, Q0, &[1]);
    table.ok(Command::Next { question: Q0 });
    table.answer(ada, Q1, &[1]);
    assert_eq!(
        table.ok(Command::Skip { question: Q1 }),
        [Effect::QuestionClosed { question: Q1 }]
    );
    assert_eq!(
        (table.total(ada), table.streak(ada), table.streak(bob)),
        (1_000, 1, 0)
    );
    let reveal = table.game.reveal().expect("shown");
    assert!(reveal.skipped && reveal.answered == 1 && reveal.right == 0);
    let outcome = table.outcome(ada);
    assert_eq!(
        (outcome.ok, outcome.points, outcome.total, outcome.streak),
        (Some(false), 0, 1_000, 1)
    );
    assert_eq!(table.game.answer_of(ada, Q1).expect("kept").points, 0);
    assert!(table.game.question_results()[1].skipped);
}

#[test]
fn a_correct_answer_to_a_skipped_question_earns_nothing() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    table.join("Bob");
    table.start();
    table.answer(ada, Q0, &[0]);
    table.ok(Command::Skip { question: Q0 });
    let outcome = table.outcome(ada);
    assert_eq!(
        (outcome.ok, outcome.points, outcome.total, outcome.streak),
        (Some(true), 0, 0, 0)
    );
}

#[test]
fn ending_within_a_question_skips_it_and_shows_the_podium() {
    let mut table = Table::new(3);
    let ada = table.join("Ada");
    table.join("Bob");
    table.start();
    table.answer(ada, Q0, &[0]);
    assert_eq!(
        table.ok(Command::End),
        [Effect::QuestionClosed { question: Q0 }, Effect::GameOver]
    );
    assert_eq!(
        (table.game.phase(), table.game.seq(), table.total(ada)),
        (Phase::Podium, 3, 0)
    );
    assert!(table.game.question_results()[0].skipped);
    assert_eq!(table.ok(Command::End), [Effect::Ended]);
    assert_eq!(table.game.standings().len(), 2, "places stay readable");
}

#[test]
fn ending_on_results_shows_the_podium_and_in_the_lobby_ends() {
    let mut table = Table::new(3);
    table.start();
    table.close(Q0);
    assert_eq!(table.ok(Command::End), [Effect::GameOver]);
    assert_eq!(table.game.question_results().len(), 1);
    let mut lobby = Table::new(1);
    assert_eq!(lobby.ok(Command::End), [Effect::Ended]);
    assert_eq!((lobby.game.phase(), lobby.game.seq()), (Phase::Ended, 0));
    assert_eq!(lobby.no(Command::End), Reject::Ended);
}

#[test]
fn everything_is_refused_after_the_end_but_a_timer() {
    let mut table = Table::new(1);
    let player = table.join("Ada");
    table.ok(Command::End);
    let name = "Bob".to_owned();
    for command in [
        Command::Join { name: name.clone() },
        Command::Present { player },
        Command::Absent { player },
        Command::Leave { player },
        Command::Rename {
            player,
            name: name.clone(),
        },
        Command::HostRename { player, name },
        Command::Kick { player },
        Command::Lock { on: true },
        Command::Start,
        Command::Close { question: Q0 },
        Command::Skip { question: Q0 },
        Command::Next { question: Q0 },
        Command::End,
    ] {
        assert_eq!(table.no(command), Reject::Ended);
    }
    assert_eq!(table.refused(player, Q0, &[0]), Reject::Ended);
    assert_eq!(table.ok(Command::DeadlineReached { question: Q0 }), []);
}

#[test]
fn time_does_not_run_backwards() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    table.join("Bob");
    table.start();
    let opened_at = table.now;
    table.wait(4_000);
    table.ok(Command::Lock { on: true });
    table.now = 3;
    assert_eq!(table.game.remaining_ms(table.now), Some(TIME_MS - 4_000));
    table.answer(ada, Q0, &[0]);
    assert_eq!(table.game.answer_of(ada, Q0).expect("accepted").elapsed_ms, 4_000);
    assert_eq!(table.game.opened_at(), Some(opened_at));
}

#[test]
fn a_refusal_does_not_move_time() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    table.join("Bob");
    table.start();
    table.wait(9_000);
    table.no(Command::Start);
    table.now -= 9_000;
    table.answer(ada, Q0, &[0]);
    assert_eq!(table.game.answer_of(ada, Q0).expect("accepted").elapsed_ms, 0);
}

#[test]
fn remaining_time_counts_down_to_zero() {
    let mut table = Table::new(1);
    assert_eq!(table.game.remaining_ms(table.now), None);
    table.start();
    assert_eq!(table.game.remaining_ms(table.now), Some(TIME_MS));
    assert_eq!(table.game.remaining_ms(table.now + 1), Some(TIME_MS - 1));
    assert_eq!(
        table.game.remaining_ms(table.now + Millis::from(TIME_MS)),
        Some(0)
    );
    assert_eq!(table.game.remaining_ms(Millis::MAX), Some(0));
}

#[test]
fn the_end_of_time_is_a_time() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    table.now = Millis::MAX;
    let effects = table.start();
    assert_eq!(
        effects[1],
        Effect::Schedule {
            question: Q0,
            at: Millis::MAX
        }
    );
    assert_eq!(table.game.remaining_ms(0), Some(0));
    let accepted = Effect::AnswerAccepted {
        player: ada,
        question: Q0,
        new: true,
    };
    assert_eq!(table.answer(ada, Q0, &[0]), [accepted, CLOSED[0].clone()]);
    assert_eq!(table.total(ada), 1_000);
}
