//! Which code leads to which game, and how many games there may be. A code is held while its game is on its way into the log or
//! out of it, and while the log holds a game under it that this build cannot read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::ids::{GameCode, GameId, TeacherId};
use protocol::player::Phase;
use runtime::metrics::{Alive, Gauge};
use tokio::sync::Notify;

use crate::actor::mailbox::GameHandle;
use crate::journal::ClaimId;

/// The games of this process. A lock is held for a look-up or an insertion, never across an await.
#[derive(Debug)]
pub(crate) struct Registry {
    games: Mutex<Games>,
    places: Arc<AtomicUsize>,
    games_max: usize,
    emptied: Notify,
    opened: Notify,
}

#[derive(Debug, Default)]
struct Games {
    by_code: HashMap<GameCode, Entry>,
    by_key: HashMap<(TeacherId, String), GameCode>,
    /// How often the task of a game has panicked.
    faults: HashMap<GameId, u32>,
}

/// Games whose faults are remembered. Each is an error in this program, so that a handful is many.
const FAULTS_KEPT_MAX: usize = 1_000;

#[derive(Debug)]
enum Entry {
    /// On its way into the log, or out of it; with the claim once the log has said that the game is this server's.
    Opening(Option<Held>),
    Live {
        handle: GameHandle,
        key: String,
    },
    /// In the log, and not to be read.
    Lost,
}

impl Entry {
    fn handle(&self) -> Option<&GameHandle> {
        match self {
            Self::Live { handle, .. } => Some(handle),
            Self::Opening(_) | Self::Lost => None,
        }
    }

    fn held(&self) -> Option<Held> {
        match self {
            Self::Opening(held) => *held,
            Self::Live { handle, .. } => Some(handle.held()),
            Self::Lost => None,
        }
    }
}

/// Under which claim a game is held, and the epoch of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) claim: ClaimId,
    pub(crate) epoch: u32,
}

/// What a code leads to.
#[derive(Debug)]
pub(crate) enum Found {
    Game(GameHandle),
    /// A game that could not be brought back.
    Lost,
    Nothing,
}

/// A game's place among `games_max`; dropping the last clone frees it.
#[derive(Debug)]
pub(crate) struct GamePermit {
    places: Arc<AtomicUsize>,
    _counted: Alive,
}

/// What became of [`Registry::begin`].
#[derive(Debug)]
pub(crate) enum Begun {
    /// The code is held for a new game.
    New(Opening),
    /// This teacher has a game with this key already.
    Same(GameHandle),
    /// A game with this code or key is being opened right now.
    Busy,
    /// Another game has this code.
    CodeTaken,
    /// There are as many games as there may be.
    Full,
}

/// A code and a place, held for a game until it is there; dropped without it, both are free again.
#[derive(Debug)]
pub(crate) struct Opening {
    registry: Arc<Registry>,
    code: GameCode,
    key: Option<(TeacherId, String)>,
    place: Arc<GamePermit>,
}

impl Opening {
    /// The game's place.
    pub(crate) fn place(&self) -> Arc<GamePermit> {
        Arc::clone(&self.place)
    }

    /// The log says that the game is this server's: whoever asks from now on is told so.
    pub(crate) fn claimed(&self, held: Held) {
        let mut games = self.registry.lock();
        if let Some(entry @ Entry::Opening(_)) = games.by_code.get_mut(&self.code) {
            *entry = Entry::Opening(Some(held));
        }
    }

    /// Inserts the game that `make` starts; `key` is its teacher's. `make` runs under the lock, so that a game that ends at once
    /// is removed after it was inserted.
    pub(crate) fn finish(mut self, key: String, make: impl FnOnce() -> GameHandle) -> GameHandle {
        let mut games = self.registry.lock();
        let handle = make();
        self.key = None;
        games.by_key.insert((handle.teacher(), key.clone()), self.code);
        let entry = Entry::Live {
            handle: handle.clone(),
            key,
        };
        games.by_code.insert(self.code, entry);
        handle
    }

    /// Keeps the code for a game that cannot be read.
    pub(crate) fn lose(self) {
        self.registry.lock().by_code.insert(self.code, Entry::Lost);
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let mut games = self.registry.lock();
        if matches!(games.by_code.get(&self.code), Some(Entry::Opening(_))) {
            games.by_code.remove(&self.code);
        }
        if let Some(key) = &self.key {
            games.by_key.remove(key);
        }
        drop(games);
        self.registry.opened.notify_waiters();
    }
}

impl Registry {
    pub(crate) fn new(games_max: usize) -> Self {
        Self {
            games: Mutex::default(),
            places: Arc::default(),
            games_max,
            emptied: Notify::new(),
            opened: Notify::new(),
        }
    }

    /// What a code leads to.
    pub(crate) fn find(&self, code: GameCode) -> Found {
        match self.lock().by_code.get(&code) {
            Some(Entry::Live { handle, .. }) => Found::Game(handle.clone()),
            Some(Entry::Lost) => Found::Lost,
            Some(Entry::Opening(_)) | None => Found::Nothing,
        }
    }

    /// Frees the code of a game that cannot be read here: another server has it.
    pub(crate) fn forget_lost(&self, code: GameCode) {
        let mut games = self.lock();
        if matches!(games.by_code.get(&code), Some(Entry::Lost)) {
            games.by_code.remove(&code);
        }
    }

    /// Whether a game with this code is on its way in.
    pub(crate) fn is_opening(&self, code: GameCode) -> bool {
        matches!(self.lock().by_code.get(&code), Some(Entry::Opening(_)))
    }

    /// Waits while a game with this code is on its way in.
    pub(crate) async fn settled(&self, code: GameCode) {
        loop {
            // Registered before the look, so that no opening ends between the two.
            let opened = self.opened.notified();
            if !self.is_opening(code) {
                return;
            }
            opened.await;
        }
    }

    /// Under which claim this server has the game, if it has it.
    pub(crate) fn held(&self, code: GameCode) -> Option<Held> {
        self.lock().by_code.get(&code)?.held()
    }

    /// All games that this server has, and under which claims.
    pub(crate) fn all_held(&self) -> Vec<(GameCode, Held)> {
        let games = self.lock();
        let held = games.by_code.iter();
        held.filter_map(|(code, entry)| Some((*code, entry.held()?)))
            .collect()
    }

    /// The game that this teacher created with this key.
    pub(crate) fn by_key(&self, teacher: TeacherId, key: &str) -> Option<GameHandle> {
        let games = self.lock();
        let code = games.by_key.get(&(teacher, key.to_owned()))?;
        games.by_code.get(code)?.handle().cloned()
    }

    /// How many games of a teacher are on their way in or before their podium. Those that are over do not count, since they stay as
    /// long as their results wait.
    pub(crate) fn playing(&self, teacher: TeacherId) -> usize {
        let games = self.lock();
        let codes = games.by_key.iter().filter(|((owner, _), _)| *owner == teacher);
        let entries = codes.filter_map(|(_, code)| games.by_code.get(code));
        let is_playing = |entry: &&Entry| match entry {
            Entry::Opening(_) => true,
            Entry::Live { handle, .. } => match handle.shown().phase {
                Phase::Lobby | Phase::Question | Phase::Results => true,
                Phase::Podium | Phase::Ended => false,
            },
            Entry::Lost => false,
        };
        entries.filter(is_playing).count()
    }

    /// Whether another game may come.
    pub(crate) fn has_room(&self) -> bool {
        self.places.load(Ordering::Acquire) < self.games_max
    }

    /// Holds a code for a game, unless there is a reason not to: of two creates with one key only one starts a game.
    pub(crate) fn begin(self: &Arc<Self>, code: GameCode, teacher: TeacherId, key: String) -> Begun {
        let mut games = self.lock();
        let key = (teacher, key);
        match games.by_key.get(&key).and_then(|code| games.by_code.get(code)) {
            Some(Entry::Live { handle, .. }) => return Begun::Same(handle.clone()),
            Some(Entry::Opening(_)) => return Begun::Busy,
            Some(Entry::Lost) | None => {}
        }
        match games.by_code.get(&code) {
            Some(Entry::Opening(_)) => return Begun::Busy,
            Some(Entry::Live { .. } | Entry::Lost) => return Begun::CodeTaken,
            None => {}
        }
        let Some(place) = self.take_place() else {
            return Begun::Full;
        };
        Begun::New(self.hold(&mut games, code, Some(key), place))
    }

    /// Holds a code for a game out of the log, past the bound if need be: a server that was given a smaller one still brings
    /// all its games back. None when the code is held.
    pub(crate) fn begin_restore(self: &Arc<Self>, code: GameCode) -> Option<Opening> {
        let mut games = self.lock();
        if games.by_code.contains_key(&code) {
            return None;
        }
        self.places.fetch_add(1, Ordering::AcqRel);
        let place = GamePermit {
            places: Arc::clone(&self.places),
            _counted: Alive::new(Gauge::Games),
        };
        Some(self.hold(&mut games, code, None, place))
    }

    /// Holds the code of a game whose task has died, so that nobody is told that there is no such game; none when it is not the
    /// one that the code leads to.
    pub(crate) fn reopen(self: &Arc<Self>, code: GameCode, game: GameId) -> Option<Opening> {
        let mut games = self.lock();
        let entry = games.by_code.get(&code)?;
        let Entry::Live { handle, key } = entry else {
            return None;
        };
        if handle.game() != game {
            return None;
        }
        let key = (handle.teacher(), key.clone());
        self.places.fetch_add(1, Ordering::AcqRel);
        let place = GamePermit {
            places: Arc::clone(&self.places),
            _counted: Alive::new(Gauge::Games),
        };
        Some(self.hold(&mut games, code, Some(key), place))
    }

    /// Counts a panic of a game's task, and says how many there were.
    pub(crate) fn count_fault(&self, game: GameId) -> u32 {
        let mut games = self.lock();
        if games.faults.len() >= FAULTS_KEPT_MAX {
            games.faults.clear();
        }
        let faults = games.faults.entry(game).or_insert(0);
        *faults = faults.saturating_add(1);
        *faults
    }

    fn hold(
        self: &Arc<Self>,
        games: &mut Games,
        code: GameCode,
        key: Option<(TeacherId, String)>,
        place: GamePermit,
    ) -> Opening {
        games.by_code.insert(code, Entry::Opening(None));
        if let Some(key) = &key {
            games.by_key.insert(key.clone(), code);
        }
        Opening {
            registry: Arc::clone(self),
            code,
            key,
            place: Arc::new(place),
        }
    }

    /// Waits until some game has been opened. To be called before the look that says [`Begun::Busy`].
    pub(crate) fn opened(&self) -> tokio::sync::futures::Notified<'_> {
        self.opened.notified()
    }

    /// Takes a game out; nothing happens when its code leads to another game by now.
    pub(crate) fn remove(&self, code: GameCode, game: GameId) {
        let mut games = self.lock();
        let is_it = matches!(
            games.by_code.get(&code),
            Some(Entry::Live { handle, .. }) if handle.game() == game
        );
        if is_it && let Some(Entry::Live { handle, key }) = games.by_code.remove(&code) {
            games.by_key.remove(&(handle.teacher(), key));
        }
        let is_empty = games.live().next().is_none();
        drop(games);
        if is_empty {
            self.emptied.notify_waiters();
        }
    }

    /// All games held.
    pub(crate) fn all(&self) -> Vec<GameHandle> {
        self.lock().live().cloned().collect()
    }

    /// Games held.
    pub(crate) fn len(&self) -> usize {
        self.lock().live().count()
    }

    /// Players of all games held, by what their games show.
    pub(crate) fn players(&self) -> usize {
        self.lock()
            .live()
            .map(|handle| usize::from(handle.shown().players))
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

impl Games {
    fn live(&self) -> impl Iterator<Item = &GameHandle> {
        self.by_code.values().filter_map(Entry::handle)
    }
}

impl Drop for GamePermit {
    fn drop(&mut self) {
        self.places.fetch_sub(1, Ordering::AcqRel);
    }
}
