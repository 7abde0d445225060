//! The rules of a game, one test a rule, through the public interface.

#[path = "rules/answers.rs"]
mod answers;
#[path = "rules/flow.rs"]
mod flow;
#[path = "rules/places.rs"]
mod places;
#[path = "rules/roster.rs"]
mod roster;
#[path = "rules/state.rs"]
mod state;
#[path = "rules/table.rs"]
mod table;
