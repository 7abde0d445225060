//! Which code leads to which game, and how many games there may be.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::ids::{GameCode, GameId, TeacherId};
use runtime::metrics::{Alive, Gauge};
use tokio::sync::Notify;

use crate::actor::mailbox::GameHandle;

/// The games of this process. A lock is held for a look-up or an insertion, never across an await.
#[derive(Debug)]
pub(crate) struct Registry {
    games: Mutex<Games>,
    places: Arc<AtomicUsize>,
    games_max: usize,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Games {
    by_code: HashMap<GameCode, Entry>,
    by_key: HashMap<(TeacherId, String), GameCode>,
}

#[derive(Debug)]
struct Entry {
    handle: GameHandle,
    key: String,
}

/// A game's place among `games_max`; dropping the last clone frees it.
#[derive(Debug)]
pub(crate) struct GamePermit {
    places: Arc<AtomicUsize>,
    _counted: Alive,
}

/// What became of an insertion.
#[derive(Debug)]
pub(crate) enum Inserted {
    /// The game is new.
    New(GameHandle),
    /// This teacher has a game with this key already.
    Same(GameHandle),
    /// Another game has this code.
    CodeTaken,
    /// There are as many games as there may be.
    Full,
}

impl Registry {
    pub(crate) fn new(games_max: usize) -> Self {
        Self {
            games: Mutex::default(),
            places: Arc::default(),
            games_max,
            emptied: Notify::new(),
        }
    }

    pub(crate) fn get(&self, code: GameCode) -> Option<GameHandle> {
        self.lock().by_code.get(&code).map(|entry| entry.handle.clone())
    }

    /// The game that this teacher created with this key.
    pub(crate) fn by_key(&self, teacher: TeacherId, key: &str) -> Option<GameHandle> {
        let games = self.lock();
        let code = games.by_key.get(&(teacher, key.to_owned()))?;
        games.by_code.get(code).map(|entry| entry.handle.clone())
    }

    /// Whether another game may come.
    pub(crate) fn has_room(&self) -> bool {
        self.places.load(Ordering::Acquire) < self.games_max
    }

    /// Inserts the game that `make` starts, unless there is a reason not to. `make` runs under the lock, so that of two
    /// creates with one key only one starts a game.
    pub(crate) fn insert(
        &self,
        code: GameCode,
        teacher: TeacherId,
        key: String,
        make: impl FnOnce(Arc<GamePermit>) -> GameHandle,
    ) -> Inserted {
        let mut games = self.lock();
        let key_of_teacher = (teacher, key);
        if let Some(entry) = games
            .by_key
            .get(&key_of_teacher)
            .and_then(|code| games.by_code.get(code))
        {
            return Inserted::Same(entry.handle.clone());
        }
        if games.by_code.contains_key(&code) {
            return Inserted::CodeTaken;
        }
        let Some(permit) = self.take_place() else {
            return Inserted::Full;
        };
        let handle = make(Arc::new(permit));
        let entry = Entry {
            handle: handle.clone(),
            key: key_of_teacher.1.clone(),
        };
        games.by_key.insert(key_of_teacher, code);
        games.by_code.insert(code, entry);
        Inserted::New(handle)
    }

    /// Takes a game out; nothing happens when its code leads to another game by now.
    pub(crate) fn remove(&self, code: GameCode, game: GameId) {
        let mut games = self.lock();
        if games
            .by_code
            .get(&code)
            .is_some_and(|entry| entry.handle.game() == game)
            && let Some(entry) = games.by_code.remove(&code)
        {
            games.by_key.remove(&(entry.handle.teacher(), entry.key));
        }
        let is_empty = games.by_code.is_empty();
        drop(games);
        if is_empty {
            self.emptied.notify_waiters();
        }
    }

    /// All games held.
    pub(crate) fn all(&self) -> Vec<GameHandle> {
        self.lock()
            .by_code
            .values()
            .map(|entry| entry.handle.clone())
            .collect()
    }

    /// Games held.
    pub(crate) fn len(&self) -> usize {
        self.lock().by_code.len()
    }

    /// Players of all games held, by what their games show.
    pub(crate) fn players(&self) -> usize {
        self.lock()
            .by_code
            .values()
            .map(|entry| usize::from(entry.handle.shown().players))
            .sum()
    }

    /// Waits until no game is held.
    pub(crate) async fn emptied(&self) {
        loop {
            // Registered before the look, so that no removal falls between the two.
            let emptied = self.emptied.notified();
            if self.len() == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// Takes a place for a game, if there is one.
    pub(crate) fn take_place(&self) -> Option<GamePermit> {
        self.places
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| {
                (n < self.games_max).then_some(n + 1)
            })
            .ok()?;
        Some(GamePermit {
            places: Arc::clone(&self.places),
            _counted: Alive::new(Gauge::Games),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Games> {
        // The maps are changed in steps that cannot panic in between.
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GamePermit {
    fn drop(&mut self) {
        self.places.fetch_sub(1, Ordering::AcqRel);
    }
}
