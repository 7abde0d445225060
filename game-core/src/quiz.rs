//! The questions of a game with their solutions, validated on construction.

/// A question of a game, counted from 0. On the wire questions are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionIndex(pub u16);

/// A set of choices, bit `n` for choice `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ChoiceSet(pub u16);
