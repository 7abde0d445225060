//! Frames made from a game: pure functions, so that "no frame to a player depends on an open question's solution" can be
//! tested over all of them at once.
//!
//! Who gets a frame, and when, is the actor's business.

pub(crate) mod host;
pub(crate) mod player;
#[cfg(test)]
mod tests;

use axum::extract::ws::Utf8Bytes;
use game_core::{Game, Standing};
use protocol::player::Place;
use serde::Serialize;

/// What a client gets if a frame could not be encoded: "try again".
const FALLBACK: &str = r#"{"t":"error","code":"busy"}"#;

/// Encodes a frame once; clones of the bytes are shared.
pub(crate) fn encode<T: Serialize>(frame: &T) -> Utf8Bytes {
    match serde_json::to_string(frame) {
        Ok(text) => Utf8Bytes::from(text),
        Err(error) => {
            // Our frames have no maps with odd keys, so this is a fault of ours, not of a client.
            tracing::error!(%error, "a frame could not be encoded");
            Utf8Bytes::from_static(FALLBACK)
        }
    }
}

/// The same frame with `"saved":false`: what it tells is not in the journal yet.
pub(crate) fn mark_unsaved(frame: &Utf8Bytes) -> Utf8Bytes {
    match frame.strip_suffix('}') {
        // Every frame has at least its type, so a comma fits.
        Some(open) => Utf8Bytes::from(format!(r#"{open},"saved":false}}"#)),
        None => frame.clone(),
    }
}

fn place(standing: &Standing) -> Place {
    Place {
        rank: standing.rank,
        name: standing.name.as_str().to_owned(),
        total: standing.total,
    }
}

/// Whether final places exist: the podium was reached, which takes a closed question.
pub(crate) fn has_podium(game: &Game) -> bool {
    use game_core::Phase;
    match game.phase() {
        Phase::Podium => true,
        Phase::Ended => !game.question_results().is_empty(),
        Phase::Lobby | Phase::Question { .. } | Phase::Results { .. } => false,
    }
}
