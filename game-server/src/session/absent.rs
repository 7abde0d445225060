//! A socket whose code leads to no game. Who brings proof that there was one is told what became of it; everybody else tried a
//! wrong code.

use std::sync::Arc;

use protocol::close;
use protocol::error::ErrorCode;
use protocol::ids::GameCode;
use protocol::player::ByeReason;

use super::parse::{self, First};
use super::{Closing, Session};
use crate::cluster::{self, Located};
use crate::fate::{self, Fate};
use crate::frames::player;
use crate::guesses::Network;
use crate::server::Shared;
use crate::tokens::Proof;

impl Session {
    /// Waits for the first frame as if there were a game, and says why there is none.
    pub(super) async fn absent(&mut self, network: Network, code: GameCode) -> Closing {
        let text = match self.first_text(self.heard + self.server.config.first_frame).await {
            Ok(text) => text,
            Err(closing) => return closing,
        };
        let proof = self.proof(&text);
        // Others of its network may have tried codes while it kept silent. Refused at once, as for a game that exists.
        if proof.is_none() && (self.wary || self.server.guesses.is_refused(network)) {
            return self.stranger();
        }
        if has_moved(&Arc::clone(&self.server), code).await {
            return self.moved();
        }
        let Some(proof) = proof else {
            self.server.guesses.wrong(network);
            return Closing::error(ErrorCode::NoSuchGame, close::NO_SUCH_GAME);
        };
        match fate::of(&self.server, &proof).await {
            Fate::Gone => Closing::error(ErrorCode::NoSuchGame, close::NO_SUCH_GAME),
            Fate::Lost => Closing::error(ErrorCode::GameLost, close::NO_SUCH_GAME),
            Fate::Over => Closing::frame(player::bye(ByeReason::Ended, None), close::OVER),
            Fate::Unknown => self.moved(),
        }
    }

    /// A token of ours that names a game. A host shows a screen's ticket beside its own token.
    fn proof(&self, text: &str) -> Option<Proof> {
        let keys = &self.server.keys;
        match parse::first(text)? {
            First::Join { .. } => None,
            First::Resume { token } => keys.played(&token),
            First::Host { token, ticket } => {
                keys.teacher(&token).ok()?;
                keys.watched(&ticket?)
            }
            First::Screen { ticket } => keys.watched(&ticket),
        }
    }
}

/// Whether a game went to another server between the request and its socket.
async fn has_moved(server: &Arc<Shared>, code: GameCode) -> bool {
    let Some(cluster) = &server.cluster else {
        return false;
    };
    cluster::locate(server, cluster, code).await != Located::Nowhere
}
