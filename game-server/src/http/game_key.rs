//! The game's code in the address: exactly one `g`, in canonical form. Proxies place a request by it, so that whatever could be
//! read in two ways is refused.

mod query;

use axum::extract::FromRequestParts;
use http::Uri;
use http::request::Parts;
use protocol::ids::GameCode;

use crate::problem::Refusal;

/// The code in `?g=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GameKey(pub(crate) GameCode);

impl<S: Sync> FromRequestParts<S> for GameKey {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        of(&parts.uri).map(Self).ok_or_else(Refusal::bad_game_key)
    }
}

/// The code in an address.
pub(crate) fn of(address: &Uri) -> Option<GameCode> {
    query::parse(address.query().unwrap_or_default())
}
