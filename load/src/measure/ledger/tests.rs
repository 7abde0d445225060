//! Every fault that a server can make with answers is counted once, and none is seen where there is none.

use super::*;
use crate::wire::AnswerRow;

const RULE: Rule = Rule {
    correct: 2,
    time_ms: 20_000,
    is_skipped: false,
};

/// Player `player` answers `q`: clicked at 0, seen after 3 ms, sent after 1003 ms, acked after 1008 ms.
fn sent(player: u32, q: u16, choice: u8) -> Sent {
    Sent {
        class: 0,
        player,
        q,
        choice,
        clicked_at: Stamp(0),
        seen_at: Stamp(3_000),
        sent_at: Stamp(1_003_000),
        copies: 1,
        acks: 1,
        unsaved_acks: 0,
        refusals: 0,
        disturbed: false,
        overdue: false,
        fate: Fate::Acked {
            at: Stamp(1_008_000),
            saved: true,
        },
        told_points: None,
    }
}

/// What a right server saves for it.
fn saved(q: u16, choice: u8) -> AnswerRow {
    let correct = choice == RULE.correct;
    AnswerRow {
        q,
        choices: vec![choice],
        elapsed_ms: 1_002,
        correct,
        points: points(correct, 1_002, 20_000),
    }
}

fn player(id: u32, answers: Vec<AnswerRow>) -> PlayerRow {
    PlayerRow {
        id,
        name: format!("P{id}"),
        rank: 1,
        total: 0,
        answers,
    }
}

fn ledger() -> Ledger {
    let mut ledger = Ledger::default();
    for (id, q, choice) in [(1, 1, 2), (1, 2, 0), (2, 1, 2)] {
        ledger.enter(sent(id, q, choice));
    }
    ledger
}

fn right() -> Vec<PlayerRow> {
    vec![
        player(1, vec![saved(1, 2), saved(2, 0)]),
        player(2, vec![saved(1, 2)]),
    ]
}

/// The comparison, which comes out the same when what can be closed is.
fn reckon(ledger: &Ledger, saved: &[PlayerRow]) -> Reckoning {
    let (mut whole, mut closed) = (ledger.clone(), Ledger::default());
    for sent in ledger.open().cloned().collect::<Vec<_>>() {
        let (class, player) = (sent.class, sent.player);
        let row = closed.enter(sent);
        closed.close(row, class, player);
    }
    let found = whole.reckon(0, saved, |_| RULE);
    assert_eq!(closed.reckon(0, saved, |_| RULE), found);
    assert!(whole.open().all(|sent| sent.class != 0), "forgotten");
    assert!(closed.closed.keys().all(|&class| class != 0), "forgotten");
    Reckoning {
        examples: Vec::new(),
        ..found
    }
}

fn clean() -> Reckoning {
    Reckoning {
        sent: 3,
        acked: 3,
        ..Reckoning::default()
    }
}

#[test]
fn a_right_server_has_no_fault() {
    assert_eq!(reckon(&ledger(), &right()), clean());
}

#[test]
fn each_fault_is_counted_once() {
    let mut lost = right();
    lost[0].answers.remove(1);
    assert_eq!(reckon(&ledger(), &lost), Reckoning { lost: 1, ..clean() });

    let mut phantom = right();
    phantom[1].answers.push(saved(2, 1));
    assert_eq!(
        reckon(&ledger(), &phantom),
        Reckoning {
            phantom: 1,
            ..clean()
        }
    );

    let mut doubled = right();
    doubled[1].answers.push(saved(1, 2));
    assert_eq!(
        reckon(&ledger(), &doubled),
        Reckoning {
            doubled: 1,
            ..clean()
        }
    );

    let mut wrong_score = right();
    wrong_score[1].answers[0].points += 1;
    assert_eq!(
        reckon(&ledger(), &wrong_score),
        Reckoning {
            wrong_score: 1,
            ..clean()
        }
    );

    let mut wrong_choice = right();
    wrong_choice[0].answers[1].choices = vec![1];
    assert_eq!(
        reckon(&ledger(), &wrong_choice),
        Reckoning {
            wrong_choice: 1,
            ..clean()
        }
    );
}

#[test]
fn a_time_outside_the_stamps_is_a_fault() {
    for (elapsed_ms, wrong_time) in [(997, 1), (998, 0), (1_010, 0), (1_011, 1)] {
        let mut saved = right();
        saved[1].answers[0].elapsed_ms = elapsed_ms;
        saved[1].answers[0].points = points(true, elapsed_ms, 20_000);
        assert_eq!(
            reckon(&ledger(), &saved),
            Reckoning {
                wrong_time,
                ..clean()
            },
            "{elapsed_ms} ms"
        );
    }
}

#[test]
fn an_answer_without_ack_or_refusal_is_unsettled() {
    let mut ledger = ledger();
    ledger.row_mut(1, 0, 1).expect("row").fate = Fate::Open;
    assert_eq!(ledger.unsettled(), 1);
    // Saved all the same: a lost ack is no lost answer.
    assert_eq!(
        reckon(&ledger, &right()),
        Reckoning {
            unsettled: 1,
            acked: 2,
            ..clean()
        }
    );
}

#[test]
fn a_refused_answer_must_not_be_saved() {
    let mut ledger = ledger();
    ledger.row_mut(1, 0, 1).expect("row").fate = Fate::Refused {
        code: "too_late".into(),
    };
    assert_eq!(
        reckon(&ledger, &right()),
        Reckoning {
            refused: 1,
            acked: 2,
            phantom: 1,
            ..clean()
        }
    );
}

#[test]
fn points_told_to_the_phone_are_compared() {
    let mut ledger = ledger();
    ledger.row_mut(0, 0, 1).expect("row").told_points = Some(points(true, 1_002, 20_000));
    assert_eq!(reckon(&ledger, &right()), clean());
    ledger.row_mut(2, 0, 2).expect("row").told_points = Some(1_000);
    assert_eq!(
        reckon(&ledger, &right()),
        Reckoning {
            wrong_score: 1,
            ..clean()
        }
    );
}

#[test]
fn other_classes_do_not_count() {
    let mut ledger = ledger();
    ledger.enter(Sent {
        class: 1,
        ..sent(1, 1, 2)
    });
    assert_eq!(reckon(&ledger, &right()), clean());
    assert_eq!(
        (ledger.find(1, 1, 1), ledger.find(0, 2, 1), ledger.find(0, 9, 1)),
        (Some(3), Some(2), None)
    );
}

#[test]
fn a_skipped_question_earns_nothing() {
    let skipped = |_| Rule {
        is_skipped: true,
        ..RULE
    };
    let mut saved = right();
    let wrong = ledger().reckon(0, &saved, skipped);
    assert_eq!(wrong.wrong_score, 2, "both right answers earned points");
    for answer in saved.iter_mut().flat_map(|player| &mut player.answers) {
        answer.points = 0;
    }
    assert_eq!(ledger().reckon(0, &saved, skipped), clean());
}

#[test]
fn only_what_is_saved_or_refused_is_settled() {
    let mut ledger = ledger();
    ledger.row_mut(1, 0, 1).expect("row").fate = Fate::Acked {
        at: Stamp(1_008_000),
        saved: false,
    };
    assert_eq!(
        (ledger.unsettled(), ledger.unsettled_until(Stamp(1_002_000))),
        (1, 0)
    );
    assert_eq!(
        reckon(&ledger, &right()),
        Reckoning {
            unsettled: 1,
            acked: 2,
            ..clean()
        }
    );
    // Not promised, so not lost; but it had to be settled.
    let mut without = right();
    without[0].answers.remove(1);
    assert_eq!(reckon(&ledger, &without).lost, 0);
}

#[test]
fn what_was_not_settled_in_time_stays_unsettled() {
    let mut ledger = ledger();
    ledger.row_mut(1, 0, 1).expect("row").fate = Fate::Open;
    ledger.settle_by_now(Stamp(1_002_999));
    assert!(
        !ledger.row_mut(1, 0, 1).expect("row").overdue,
        "it was sent later"
    );
    ledger.settle_by_now(Stamp(1_003_000));
    ledger.row_mut(1, 0, 1).expect("row").fate = Fate::Acked {
        at: Stamp(9_000_000),
        saved: true,
    };
    assert_eq!(
        reckon(&ledger, &right()),
        Reckoning {
            unsettled: 1,
            ..clean()
        }
    );
}

#[test]
fn a_copy_refused_after_the_first_was_saved_is_told_and_no_phantom() {
    let mut ledger = ledger();
    let row = ledger.row_mut(1, 0, 1).expect("row");
    row.copies = 2;
    row.fate = Fate::Refused {
        code: "not_open".into(),
    };
    assert_eq!(
        reckon(&ledger, &right()),
        Reckoning {
            refused: 1,
            refused_but_saved: 1,
            acked: 2,
            ..clean()
        }
    );
}

#[test]
fn a_servers_clock_that_stood_still_may_say_less_and_never_more() {
    for (elapsed_ms, wrong_time) in [(10, 0), (1_011, 1)] {
        let mut ledger = ledger();
        ledger.row_mut(2, 0, 2).expect("row").disturbed = true;
        let mut saved = right();
        saved[1].answers[0].elapsed_ms = elapsed_ms;
        saved[1].answers[0].points = points(true, elapsed_ms, 20_000);
        assert_eq!(reckon(&ledger, &saved).wrong_time, wrong_time, "{elapsed_ms} ms");
    }
}

#[test]
fn an_answer_is_closed_once_every_copy_was_replied_to() {
    let mut ledger = Ledger::default();
    let row = ledger.enter(Sent {
        copies: 2,
        ..sent(1, 1, 2)
    });
    assert!(
        !ledger.close(row, 0, 1),
        "the second copy may be acked or refused"
    );
    ledger.row_mut(row, 0, 1).expect("open").acks = 2;
    assert!(
        !ledger.close(row, 0, 2) && !ledger.close(row, 1, 1),
        "of somebody else"
    );
    assert!(ledger.close(row, 0, 1));
    assert_eq!(ledger.row_mut(row, 0, 1), None);
    assert_eq!(ledger.find(0, 1, 1), None);
    assert_eq!(ledger.enter(sent(7, 1, 2)), row, "its place is used again");
    assert_eq!(ledger.entered(), 2);
}

#[test]
fn points_told_after_closing_are_compared_too() {
    let mut ledger = ledger();
    assert!(ledger.close(0, 0, 1));
    let told = |points| {
        let mut ledger = ledger.clone();
        ledger.tell(0, 1, 1, points);
        ledger.reckon(0, &right(), |_| RULE).wrong_score
    };
    assert_eq!(told(points(true, 1_002, 20_000)), 0);
    assert_eq!((told(1_000), told(u32::MAX)), (1, 1));
}

#[test]
fn what_does_not_fit_stays_open() {
    let longer_than_a_question = Stamp(70_000_000);
    let mut ledger = Ledger::default();
    let late = Sent {
        fate: Fate::Acked {
            at: longer_than_a_question,
            saved: true,
        },
        ..sent(1, 1, 2)
    };
    for sent in [late, sent(70_000, 1, 2)] {
        let player = sent.player;
        let row = ledger.enter(sent);
        assert!(!ledger.close(row, 0, player));
    }
}

#[test]
fn closed_answers_are_small() {
    assert!(std::mem::size_of::<Closed>() <= 12);
}

#[test]
fn an_answer_that_was_forgotten_before_it_was_saved_may_be_taken_later() {
    let mut fate = Fate::Open;
    fate.ack(Stamp(1_008_000), false);
    fate.ack(Stamp(5_000_000), true);
    fate.ack(Stamp(6_000_000), true);
    let at = Stamp(5_000_000);
    assert_eq!(fate, Fate::Acked { at, saved: true });
    let mut ledger = ledger();
    ledger.row_mut(2, 0, 2).expect("row").fate = fate;
    let mut saved = right();
    saved[1].answers[0].elapsed_ms = 4_900;
    saved[1].answers[0].points = points(true, 4_900, 20_000);
    assert_eq!(reckon(&ledger, &saved), clean());
}

#[test]
fn what_is_saved_wrong_is_described() {
    let mut ledger = ledger();
    let mut saved = right();
    saved[1].answers[0].elapsed_ms = 9_000;
    let examples = ledger.reckon(0, &saved, |_| RULE).examples;
    assert!(
        examples.iter().any(
            |words| words.starts_with("9000 ms saved for 1000 to 1008 ms: class 0, player 2, question 1")
        ),
        "{examples:?}"
    );
}
