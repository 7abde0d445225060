//! Which games are known to be elsewhere than placement says: a bounded memory of answered hints, never a truth.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashlink::LruCache;
use protocol::ids::GameCode;

/// Games remembered: all that sixteen full servers hold, in about 2 MB. Whoever is forgotten costs one more 421.
const OWNERS_MAX: usize = 32_768;

/// Names of servers by game.
#[derive(Debug)]
pub(crate) struct Owners(Mutex<LruCache<GameCode, Box<str>>>);

impl Default for Owners {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(OWNERS_MAX)))
    }
}

impl Owners {
    fn lock(&self) -> MutexGuard<'_, LruCache<GameCode, Box<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, game: GameCode) -> Option<Box<str>> {
        self.lock().get(&game).cloned()
    }

    /// Only after the server has accepted a request for the game.
    pub(crate) fn remember(&self, game: GameCode, server: &str) {
        self.lock().insert(game, server.into());
    }

    /// On any failure and on any 421.
    pub(crate) fn forget(&self, game: GameCode) {
        self.lock().remove(&game);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(number: usize) -> GameCode {
        let digit = |place: u32| u8::try_from(number / 30_usize.pow(place) % 30).unwrap();
        GameCode::from_positions([0, 1, 2, 3, 4, 5].map(digit))
    }

    #[test]
    fn the_memory_is_bounded_and_what_is_used_stays() {
        let owners = Owners::default();
        for number in 0..OWNERS_MAX * 2 {
            owners.remember(game(number), "game-1");
            assert!(owners.get(game(0)).is_some());
        }
        assert_eq!(owners.lock().len(), OWNERS_MAX);
        assert!(owners.get(game(1)).is_none());
        owners.forget(game(0));
        assert!(owners.get(game(0)).is_none());
    }
}
