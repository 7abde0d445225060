//! Reveal, outcomes, ranks and standings.

use game_core::limits::PLAYERS_MAX;
use game_core::{Command, Millis, PlayerId, QuestionIndex, QuestionKind, Scoring};

use crate::table::{Q0, Q1, TIME_MS, Table, question, set, single};

/// Ranks, ids and totals of the standings.
fn lines(table: &Table) -> Vec<(u32, u32, u32)> {
    table
        .game
        .standings()
        .iter()
        .map(|line| (line.rank, line.player.0, line.total))
        .collect()
}

#[test]
fn equal_points_share_a_place_in_the_order_of_joining() {
    let mut table = Table::with(vec![single(), single()], Scoring::Accuracy, u32::MAX);
    let players = ["wrong", "right", "right too", "both", "none"].map(|name| table.join(name));
    assert_eq!(
        lines(&table),
        [(1, 1, 0), (1, 2, 0), (1, 3, 0), (1, 4, 0), (1, 5, 0)]
    );
    table.start();
    for (player, choice) in players.iter().zip([1, 0, 0, 0]) {
        table.answer(*player, Q0, &[choice]);
    }
    table.close(Q0);
    table.ok(Command::Next { question: Q0 });
    table.answer(players[3], Q1, &[0]);
    table.close(Q1);
    let expected = [(1, 4, 2_000), (2, 2, 1_000), (2, 3, 1_000), (4, 1, 0), (4, 5, 0)];
    assert_eq!(lines(&table), expected);
    for (rank, player, total) in expected {
        let outcome = table.outcome(PlayerId(player));
        assert_eq!((outcome.rank, outcome.total, outcome.of), (rank, total, 5));
    }
    let names: Vec<_> = table
        .game
        .standings()
        .iter()
        .map(|line| line.name.to_string())
        .collect();
    assert_eq!(names[..2], ["both", "right"]);
}

#[test]
fn an_outcome_is_ones_own_and_shows_the_solution() {
    let mut table = Table::new(2);
    let (ada, bob, cyd) = (table.join("Ada"), table.join("Bob"), table.join("Cyd"));
    table.start();
    table.answer(ada, Q0, &[0]);
    table.answer(bob, Q0, &[2]);
    table.close(Q0);
    let told = |player| {
        let outcome = table.outcome(player);
        assert_eq!(
            (outcome.question, outcome.correct, outcome.of),
            (Q0, set(&[0]), 3)
        );
        (
            outcome.ok,
            outcome.points,
            outcome.total,
            outcome.rank,
            outcome.streak,
        )
    };
    assert_eq!(told(ada), (Some(true), 1_000, 1_000, 1, 1));
    assert_eq!(told(bob), (Some(false), 0, 0, 2, 0));
    assert_eq!(told(cyd), (None, 0, 0, 2, 0));
}

#[test]
fn who_joins_on_results_has_a_place_there() {
    let mut table = Table::new(2);
    table.start();
    table.close(Q0);
    let late = table.join("Late");
    let outcome = table.outcome(late);
    assert_eq!((outcome.ok, outcome.rank, outcome.of), (None, 1, 1));
}

#[test]
fn outcomes_and_reveal_belong_to_results() {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    let nothing = |table: &Table| {
        table.game.outcome(ada).is_none() && table.game.outcomes().is_empty() && table.game.reveal().is_none()
    };
    assert!(nothing(&table));
    table.start();
    assert!(nothing(&table));
    table.answer(ada, Q0, &[0]);
    assert!(!nothing(&table));
    table.ok(Command::Next { question: Q0 });
    assert!(nothing(&table));
    assert_eq!(lines(&table), [(1, 1, 1_000)]);
    assert_eq!((table.game.answered_count(), table.game.expected_count()), (0, 0));
}

#[test]
fn a_reveal_counts_every_choice() {
    let flags = [true, false, true, false];
    let mut table = Table::with(
        vec![question(QuestionKind::Multiple, &flags)],
        Scoring::Speed,
        u32::MAX,
    );
    let players = ["a", "b", "c", "d"].map(|name| table.join(name));
    table.start();
    table.answer(players[0], Q0, &[0, 2]);
    table.answer(players[1], Q0, &[0]);
    table.answer(players[2], Q0, &[0, 1, 2]);
    table.close(Q0);
    let reveal = table.game.reveal().expect("results are shown");
    assert_eq!(reveal.histogram, [3, 1, 2, 0]);
    assert_eq!(
        (reveal.question, reveal.correct, reveal.skipped),
        (Q0, set(&[0, 2]), false)
    );
    assert_eq!((reveal.answered, reveal.right), (3, 1));
}

#[test]
fn a_lecture_hall_gets_the_same_outcomes_at_once_and_one_by_one() {
    let mut table = Table::new(2);
    let players: Vec<_> = (1..=PLAYERS_MAX)
        .map(|number| table.join(&number.to_string()))
        .collect();
    for index in 0..2 {
        let question = QuestionIndex(index);
        table.ok(if index == 0 {
            Command::Start
        } else {
            Command::Next { question: Q0 }
        });
        for (player, n) in players.iter().zip((0_u8..8).cycle()) {
            table.wait(Millis::from(TIME_MS) / Millis::from(PLAYERS_MAX) * Millis::from(n % 2));
            table.answer(*player, question, &[n % 4]);
        }
    }
    let outcomes = table.game.outcomes();
    assert_eq!(outcomes.len(), players.len());
    for (line, (player, outcome)) in table.game.standings().iter().zip(&outcomes) {
        assert_eq!(
            (line.player, line.rank, line.total),
            (*player, outcome.rank, outcome.total)
        );
        assert_eq!(table.outcome(*player), *outcome);
    }
}
