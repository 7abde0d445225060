//! Values that no game could have are refused when a game is put together.

use std::sync::Arc;

use game_core::{Game, GameState, Phase, QuestionIndex, QuestionResult, StateError};

use crate::table::{Q0, Table};

fn refused(change: impl FnOnce(&mut GameState)) -> StateError {
    let mut table = Table::new(1);
    let ada = table.join("Ada");
    table.join("Bob");
    table.start();
    table.answer(ada, Q0, &[0]);
    let mut state = table.game.export();
    change(&mut state);
    let quiz = Arc::clone(table.game.quiz());
    Game::restore(quiz, table.game.settings(), state).expect_err("no game could have this")
}

#[test]
fn names_questions_and_numbers_are_checked() {
    let name = StateError::Name { player: 2 };
    assert_eq!(refused(|state| state.players[1].name = "ADA".into()), name);
    assert_eq!(refused(|state| state.players[1].name = " ".into()), name);
    let twice = StateError::Question { question: 0 };
    assert_eq!(
        refused(|state| state.players[0].answers.extend_from_within(..)),
        twice
    );
    let unknown = StateError::Question { question: 1 };
    let index = QuestionIndex(1);
    assert_eq!(refused(|state| state.phase = Phase::Results { index }), unknown);
    let closed = QuestionResult {
        question: index,
        skipped: false,
    };
    assert_eq!(refused(|state| state.played.push(closed)), unknown);
    let many = refused(|state| state.players = vec![state.players[0].clone(); 2_001]);
    assert_eq!(many, StateError::Players { count: 2_001 });
}
