//! How a game gets to live here: created, or taken up from the log. Either way its actor starts only when the log says that the
//! game is this server's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use game_core::Game;
use protocol::ids::{GameCode, GameId};
use runtime::metrics::{self, Counter};
use tokio::time::Instant;

use crate::actor::{self, Ownership, mailbox::GameHandle};
use crate::backoffice::Reserved;
use crate::cluster::{self, Lease};
use crate::facts::Facts;
use crate::journal::{
    Asserted, Birth, ClaimId, Claimed, Created, GameLog, LogError, Owner, RecordNumber, ServerId, StoreRun,
    Stored,
};
use crate::registry::{Held, Opening};
use crate::server::Shared;
use crate::stored::{self, Restored, Snapshot, StoredError};
use crate::timeline::Timeline;

/// Longest wait for the log when a teacher starts a game: after that the page says "try again".
const CREATE_MAX: Duration = Duration::from_secs(3);
/// Games taken up at the same time: enough to keep a store busy, few enough to hold their bytes.
const RESTORES_AT_ONCE: usize = 8;
/// Attempts to take a game up while the log is not available, and the pause between them.
const RESTORE_ATTEMPTS: u32 = 20;
const RESTORE_PAUSE: Duration = Duration::from_millis(500);
/// Longest wait for the API about a game whose store went back.
const RESERVE_MAX: Duration = Duration::from_secs(2);
/// What an epoch is above the store's when the API cannot be asked for one: restarts of a server that a store may have forgotten.
const UNRESERVED_ABOVE: u32 = 1_000;
/// Panics of a game's task after which it is not taken up any more.
const FAULTS_MAX: u32 = 3;
/// What the others said of a game's owner is good for a claim for so long. It is what looking and asking may take together; past it
/// this process stood still, and an owner that was away may be back.
const WORD_MAX: Duration = Duration::from_secs(5);

/// What became of a new game.
pub(crate) enum Opened {
    New(GameHandle),
    /// An earlier attempt, whose answer was lost, created it.
    Same(GameHandle),
    /// Another game has the code.
    CodeTaken,
}

/// What became of the games in the log when a server started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Restoration {
    /// Games taken up.
    pub restored: usize,
    /// Games that this build cannot read; they are left as they are.
    pub unreadable: usize,
    /// Games that somebody else claimed or removed meanwhile, or that the log did not hand out.
    pub left: usize,
}

/// What became of one of them.
enum Outcome {
    Restored,
    Unreadable,
    Left,
}

/// The log as it is reached at one moment. What was judged by one run of its store is not written to another one.
pub(crate) struct Reached {
    pub(crate) run: StoreRun,
    pub(crate) log: Arc<dyn GameLog>,
    since: Instant,
}

impl Reached {
    pub(crate) fn now(shared: &Shared) -> Self {
        let run = shared.log.runs().borrow().clone();
        let log = shared.log.bound(&run);
        Self {
            log: log.unwrap_or_else(|| Arc::clone(&shared.log)),
            run,
            since: Instant::now(),
        }
    }

    /// Whether what was heard since then is too old to go by.
    fn is_long_ago(&self) -> bool {
        self.since.elapsed() > WORD_MAX
    }

    fn ownership(&self, shared: &Shared, code: GameCode, owner: Owner, facts: Vec<u8>) -> Ownership {
        Ownership {
            log: Arc::clone(&self.log),
            run: self.run.clone(),
            verdicts: shared.cluster.as_ref().map(|cluster| cluster.verdicts()),
            backoffice: Arc::clone(&shared.backoffice),
            writes: Arc::clone(&shared.writes),
            code,
            owner,
            facts,
        }
    }
}

/// Creates a game in the log and starts it.
pub(crate) async fn open_new(
    shared: &Shared,
    reached: &Reached,
    opening: Opening,
    game: Game,
    facts: Facts,
) -> Result<Opened, LogError> {
    let code = facts.code;
    let key = facts.key.clone();
    let mut timeline = Timeline::new(facts.created_ms);
    timeline.owned(0, facts.created_ms, &shared.id.name, facts.epoch, false);
    let restored = Restored {
        game,
        at: 0,
        over_ms: None,
        result_settled: false,
        timeline,
        last: RecordNumber::NONE,
        torn: false,
        lost: 0,
        facts,
    };
    let owner = Owner {
        game: restored.facts.game,
        create_key: format!("{}:{key}", restored.facts.teacher),
        server: Some(shared.id.clone()),
        epoch: restored.facts.epoch,
        claim: shared.ambient.claim(),
    };
    let birth = birth(shared, &restored, owner.clone());
    let facts = birth.facts.clone();
    let created = tokio::time::timeout(CREATE_MAX, reached.log.create(code, birth))
        .await
        .map_err(|elapsed| LogError::Unavailable(elapsed.into()))??;
    match created {
        Created::New => {
            opening.claimed(held(&owner));
            let ownership = reached.ownership(shared, code, owner, facts);
            Ok(Opened::New(begin(shared, opening, key, restored, ownership)))
        }
        // Another server may have it by now, or be about to take it: whoever asks again is sent to it, or has it taken up here.
        Created::Same(_) if shared.cluster.is_some() => {
            Err(LogError::NotDone("this game was created before".into()))
        }
        Created::Same(owner) if may_take(shared, &owner) => {
            match take_up(shared, reached, opening, code, Seen::Whatever).await? {
                Taken::Game(handle) => Ok(Opened::Same(handle)),
                Taken::Unreadable | Taken::For(_) | Taken::Gone => Ok(Opened::CodeTaken),
            }
        }
        Created::Same(_) | Created::Taken(_) => Ok(Opened::CodeTaken),
    }
}

/// A new game on its way into the log.
fn birth(shared: &Shared, new: &Restored, owner: Owner) -> Birth {
    let snapshot = Snapshot {
        at: 0,
        state: new.game.export(),
        over_ms: None,
        result_settled: false,
        is_rewound: false,
        timeline: new.timeline.clone(),
    };
    Birth {
        owner,
        facts: stored::encode_facts(&new.facts),
        snapshot: stored::encode_snapshot(&snapshot, shared.writes.get()),
        through: RecordNumber::NONE,
    }
}

/// Whether a game can be taken up without asking anybody: it is nobody's, or an attempt of this very process made it.
fn may_take(shared: &Shared, owner: &Owner) -> bool {
    owner.server.as_ref().is_none_or(|server| *server == shared.id)
}

/// Takes up the games in the log whose owner is one that `is_wanted`; it is asked with this server's id.
pub(crate) async fn restore(
    shared: &Arc<Shared>,
    is_wanted: fn(&ServerId, &Owner) -> bool,
) -> Result<Restoration, LogError> {
    let games = shared.log.games().await?;
    // Whose a game is that cannot be read nobody knows; its code is held wherever it is found.
    let wanted = games
        .into_iter()
        .filter(|(_, owner)| owner.as_ref().is_none_or(|owner| is_wanted(&shared.id, owner)));
    let is_api_away = AtomicBool::new(false);
    let outcomes = futures_util::stream::iter(wanted)
        .map(|(code, _owner)| restore_one(shared, code, &is_api_away))
        .buffer_unordered(RESTORES_AT_ONCE);
    let mut restoration = Restoration::default();
    let mut outcomes = std::pin::pin!(outcomes);
    while let Some(outcome) = outcomes.next().await {
        match outcome {
            Outcome::Restored => restoration.restored += 1,
            Outcome::Unreadable => restoration.unreadable += 1,
            Outcome::Left => restoration.left += 1,
        }
    }
    Ok(restoration)
}

async fn restore_one(shared: &Shared, code: GameCode, is_api_away: &AtomicBool) -> Outcome {
    for _attempt in 0..RESTORE_ATTEMPTS {
        let Some(opening) = shared.registry.begin_restore(code) else {
            return Outcome::Left;
        };
        match take_up_alone(shared, opening, code, is_api_away).await {
            Ok(Taken::Game(_)) => return Outcome::Restored,
            Ok(Taken::Unreadable | Taken::For(_)) => return Outcome::Unreadable,
            Ok(Taken::Gone) => return Outcome::Left,
            Err(error) => {
                tracing::warn!(%code, error = &error as &dyn std::error::Error, "a game could not be taken up yet");
            }
        }
        tokio::time::sleep(RESTORE_PAUSE).await;
    }
    tracing::error!(%code, "a game was not taken up: the journal's store does not hand it out");
    Outcome::Left
}

/// Takes a game up for a server that has the log to itself.
async fn take_up_alone(
    shared: &Shared,
    opening: Opening,
    code: GameCode,
    is_api_away: &AtomicBool,
) -> Result<Taken, LogError> {
    let reached = Reached::now(shared);
    match alone(shared, &reached, code, is_api_away).await? {
        Some(seen) => take_up(shared, &reached, opening, code, seen).await,
        None => Ok(Taken::Gone),
    }
}

/// What a server that has the log to itself knows of a game; none when it is over, and removed. A record from before the store changed
/// may lack what the last run of this server wrote, and a result that came of it. While the API is away the class goes on all the
/// same: nobody else can have it, and the API knows a second result that differs.
async fn alone(
    shared: &Shared,
    reached: &Reached,
    code: GameCode,
    is_api_away: &AtomicBool,
) -> Result<Option<Seen>, LogError> {
    let tail = match reached.log.tail(code).await {
        Ok(tail) => tail,
        // Said when it is loaded.
        Err(LogError::Corrupt { .. }) => None,
        Err(error @ (LogError::Unavailable(_) | LogError::NotDone(_))) => return Err(error),
    };
    let Some(tail) = tail.filter(|tail| tail.store != reached.run.store) else {
        return Ok(Some(Seen::Whatever));
    };
    let owner = tail.owner;
    // Above every epoch that a client may have heard and the store has forgotten: a page takes no lower one.
    let unreserved = owner.epoch.saturating_add(UNRESERVED_ABOVE);
    if is_api_away.load(Ordering::Acquire) {
        return Ok(Some(Seen::Stale(owner.claim, unreserved)));
    }
    let reserving = shared.backoffice.reserve_epoch(owner.game, owner.epoch);
    match tokio::time::timeout(RESERVE_MAX, reserving).await {
        Ok(Ok(Reserved::Epoch(epoch))) => Ok(Some(Seen::Stale(owner.claim, epoch))),
        Ok(Ok(Reserved::Over)) => {
            discard(shared, reached, code, owner.claim).await?;
            Ok(None)
        }
        Ok(Err(_)) | Err(_) => {
            // Once: a thousand games would be waited for one after another.
            if !is_api_away.swap(true, Ordering::AcqRel) {
                tracing::warn!(
                    "the API does not say which games of a store that went back are over; they go on"
                );
            }
            Ok(Some(Seen::Stale(owner.claim, unreserved)))
        }
    }
}

/// Takes a game up again whose task has panicked, where the log has it. One that panics again and again is kept aside: somebody
/// whose message is its cause would send that for ever.
pub(crate) async fn revive(shared: &Arc<Shared>, opening: Opening, code: GameCode, game: GameId) {
    if shared.registry.count_fault(game) > FAULTS_MAX {
        unreadable(opening, code, &StoredError::Panicked);
        return;
    }
    if let Some(cluster) = &shared.cluster {
        // Others were told that it is not here, and one of them may have it by now.
        drop(opening);
        cluster::recover(shared, cluster, code).await;
        return;
    }
    let is_api_away = AtomicBool::new(false);
    match take_up_alone(shared, opening, code, &is_api_away).await {
        Ok(Taken::Game(_) | Taken::Unreadable | Taken::For(_) | Taken::Gone) => {}
        Err(error) => {
            tracing::warn!(%code, error = &error as &dyn std::error::Error, "a game could not be taken up yet");
            restore_one(shared, code, &is_api_away).await;
        }
    }
}

/// What became of a game that was to be taken up.
pub(crate) enum Taken {
    Game(GameHandle),
    /// By this build.
    Unreadable,
    /// By this build, but this server reads it.
    For(Lease),
    /// Removed, or claimed by somebody else.
    Gone,
}

/// Why a game may be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// This server has the log to itself.
    Whatever,
    /// Nobody serves it under this claim.
    Claim(ClaimId),
    /// Nobody serves it, and its record is from before the store changed: later records may be lost, and another server may come back
    /// that holds the game. So it gets at least this epoch.
    Stale(ClaimId, u32),
}

/// Claims a game and starts it where the log has it. What this build cannot read it does not claim. Who decided that it may be
/// claimed did so about the claim `seen`; another one by now is somebody else's.
pub(crate) async fn take_up(
    shared: &Shared,
    reached: &Reached,
    opening: Opening,
    code: GameCode,
    seen: Seen,
) -> Result<Taken, LogError> {
    let log = &reached.log;
    let found = match log.load(code).await {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(Taken::Gone),
        Err(error @ LogError::Corrupt { .. }) => return Ok(unreadable(opening, code, &error)),
        Err(error @ (LogError::Unavailable(_) | LogError::NotDone(_))) => return Err(error),
    };
    match seen {
        Seen::Claim(claim) | Seen::Stale(claim, _) if claim != found.owner.claim => return Ok(Taken::Gone),
        Seen::Whatever | Seen::Claim(_) | Seen::Stale(..) => {}
    }
    let restored = match stored::restore(&found) {
        Ok(restored) => restored,
        Err(error) => return Ok(left(shared, opening, code, &error)),
    };
    if seen != Seen::Whatever && reached.is_long_ago() {
        return Err(LogError::NotDone("what the others said of it is too old".into()));
    }
    if let Seen::Stale(_, epoch) = seen {
        return rewind(shared, reached, opening, code, found, restored, epoch).await;
    }
    let claim = shared.ambient.claim();
    let claimed = log
        .claim(code, found.owner.claim, shared.id.clone(), claim, 0)
        .await?;
    match claimed {
        Claimed::Yes(owner) => opening.claimed(held(&owner)),
        Claimed::Beaten(_) | Claimed::Missing => return Ok(Taken::Gone),
    }
    // Read again: only now nobody else can write it. Unless this process stood still since, and another one has claimed it: what that
    // one's record says, its claim above all, is not this server's to use.
    let Some(found) = log.load(code).await?.filter(|found| found.owner.claim == claim) else {
        return Ok(Taken::Gone);
    };
    let mut restored = match stored::restore(&found) {
        Ok(restored) => restored,
        Err(error) => {
            log.release(code, claim).await?;
            return Ok(left(shared, opening, code, &error));
        }
    };
    if restored.lost > 0 {
        is_rewound(&mut restored);
    }
    Ok(Taken::Game(start(
        shared, reached, opening, code, found, restored,
    )))
}

/// Goes on with a game from what a store that went back has left of it. Owner and state are written in one step, so that whoever
/// takes the game up next knows that its class is to be told. It is nobody's to take that was written in the present run: its holder
/// came back, or another server was faster.
async fn rewind(
    shared: &Shared,
    reached: &Reached,
    opening: Opening,
    code: GameCode,
    mut found: Stored,
    mut restored: Restored,
    least_epoch: u32,
) -> Result<Taken, LogError> {
    is_rewound(&mut restored);
    let claim = shared.ambient.claim();
    let snapshot = Snapshot {
        at: restored.at,
        state: restored.game.export(),
        over_ms: restored.over_ms,
        result_settled: restored.result_settled,
        is_rewound: true,
        timeline: restored.timeline.clone(),
    };
    let birth = Birth {
        owner: found.owner.claimed_by(shared.id.clone(), claim, least_epoch),
        facts: found.facts.clone(),
        snapshot: stored::encode_snapshot(&snapshot, shared.writes.get()),
        through: restored.last,
    };
    match reached.log.assert(code, birth).await? {
        Asserted::Yes(owner) => {
            opening.claimed(held(&owner));
            restored.facts.epoch = owner.epoch;
            restored.torn = false;
            found.owner = owner;
            Ok(Taken::Game(start(
                shared, reached, opening, code, found, restored,
            )))
        }
        Asserted::Fenced | Asserted::Refused { .. } => Ok(Taken::Gone),
    }
}

/// The last answers of a game may be missing: its class is to be told.
fn is_rewound(restored: &mut Restored) {
    metrics::inc(Counter::GamesRewoundTotal);
    tracing::error!(game = %restored.facts.game, "a game goes on from what is left of it; the last answers may be lost");
    restored.facts.is_rewound = true;
}

/// Takes a game out of the log that the API has a result of: its record is from before the store changed.
pub(crate) async fn discard(
    shared: &Shared,
    reached: &Reached,
    code: GameCode,
    seen: ClaimId,
) -> Result<(), LogError> {
    let claim = shared.ambient.claim();
    let claimed = reached.log.claim(code, seen, shared.id.clone(), claim, 0).await?;
    if let Claimed::Yes(owner) = claimed {
        tracing::warn!(game = %owner.game, "a game that is over came back with its store; it is removed");
        reached.log.remove(code, claim, Duration::ZERO).await?;
    }
    Ok(())
}

fn start(
    shared: &Shared,
    reached: &Reached,
    opening: Opening,
    code: GameCode,
    found: Stored,
    restored: Restored,
) -> GameHandle {
    metrics::inc(Counter::GamesRestoredTotal);
    tracing::info!(
        game = %restored.facts.game,
        epoch = found.owner.epoch,
        records = restored.last.0.saturating_sub(found.through.0),
        "game taken up"
    );
    if restored.lost > 0 {
        // A log writes a record and its number in one step: what is missing was damaged afterwards. The class is told.
        tracing::error!(game = %restored.facts.game, records = restored.lost, "the end of a journal cannot be read; the game goes on from before it");
        metrics::add(Counter::GameRecordsLostTotal, restored.lost);
    }
    let ownership = reached.ownership(shared, code, found.owner, found.facts);
    let key = restored.facts.key.clone();
    begin(shared, opening, key, restored, ownership)
}

/// Starts a game's task, and has it stop at once when the server was asked to meanwhile.
fn begin(
    shared: &Shared,
    opening: Opening,
    key: String,
    restored: Restored,
    ownership: Ownership,
) -> GameHandle {
    let place = opening.place();
    let handle = opening.finish(key, || {
        actor::spawn(restored, ownership, shared.surroundings(), place)
    });
    if shared.is_stopping() {
        handle.stop_at_once();
    }
    handle
}

/// Leaves a game as it is: to a server that reads it, if there is one.
fn left(shared: &Shared, opening: Opening, code: GameCode, error: &StoredError) -> Taken {
    if let (StoredError::UnknownVersion { found, .. }, Some(cluster)) = (error, &shared.cluster)
        && let Some(lease) = cluster.reader_of(*found)
    {
        // A newer release is on its way in, or out.
        let error = error as &dyn std::error::Error;
        tracing::warn!(%code, server = lease.server.name, error, "a game is left to another server");
        return Taken::For(lease);
    }
    unreadable(opening, code, error)
}

fn unreadable(opening: Opening, code: GameCode, error: &(dyn std::error::Error + 'static)) -> Taken {
    tracing::error!(%code, error, "a game cannot be read; it is left as it is");
    metrics::inc(Counter::GamesUnreadableTotal);
    opening.lose();
    Taken::Unreadable
}

fn held(owner: &Owner) -> Held {
    Held {
        claim: owner.claim,
        epoch: owner.epoch,
    }
}

#[cfg(test)]
mod tests;
