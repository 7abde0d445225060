//! The protocol as this harness understands it, written from its documentation and shared with no server.
//!
//! Every type here is partial and tolerant: unknown fields are skipped, absent ones are none. What must be there is
//! checked where it is needed, so that a missing field is a finding with a name and not a parse error.

mod from_server;
mod rest;
mod site;
mod to_server;

pub use from_server::{
    Frame, Place, RosterEntry, State, StateOutcome, StateOver, StateQuestion, StateReveal, Text,
};
pub use rest::{
    AnswerRow, CreateGame, CreatedGame, PlayerRow, Problem, QuizDocument, Register, Report, Session, Status,
    StoredQuiz, reference_document,
};
pub use site::{
    Dashboard, History, Listed, Login, PlanCheck, PlayedAnswer, PlayedBy, PlayedGame, PlayedQuestion,
    QuizVersion, ServiceSigner, Settings, SignedIn, UserId,
};
pub use to_server::ToServer;

/// Symbols of a game code.
pub const CODE_ALPHABET: &[u8; 30] = b"23456789ABCDEFGHJKMNPQRSTVWXYZ";

/// A game code from six alphabet positions.
#[must_use]
pub fn code(positions: [u32; 6]) -> String {
    positions
        .into_iter()
        .map(|p| char::from(CODE_ALPHABET[crate::sys::index(p) % CODE_ALPHABET.len()]))
        .collect()
}
