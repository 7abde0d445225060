//! The API of one process: its parts, its router, and what the game server asks of it.
//!
//! Game servers in the same process call [`Api::plan_check`] and [`Api::save_result`] directly; those in other processes
//! by [`Api::internal_router`], on a listener that no ingress reaches.

use std::sync::Arc;

use axum::Router;
use jsonwebtoken::jwk::JwkSet;
use protocol::ids::{GameId, QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::result::GameResult;
use protocol::timeline::GameTimeline;
use runtime::metrics::{Counter, inc};
use thiserror::Error;
use tokio::sync::Semaphore;

use crate::admission::{Admission, Class, Permit, Shed};
use crate::cache::ReadCache;
use crate::clock::Clock;
use crate::config::{
    Config, EXPORTS_MAX, EXPORTS_WRITING_MAX, IMPORTS_PARSING_MAX, LETTERS_MAX, LETTERS_WAITING_MAX,
};
use crate::keys::Keys;
use crate::mail::{Mailer, SmtpMailer};
use crate::password::Hasher;
use crate::quota::Spent;
use crate::shared::{Counted, LocalShared, Shared};
use crate::store::{ResultSaved, Store, StoreError};
use crate::token::VerifiedTokens;
use crate::uploads::Uploads;
use crate::{plan, routes};

/// The API. Clones share everything.
#[derive(Clone)]
pub struct Api {
    pub(crate) config: Arc<Config>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) admission: Admission,
    pub(crate) tokens: Arc<VerifiedTokens>,
    pub(crate) shared: Arc<dyn Shared>,
    pub(crate) cache: Arc<ReadCache>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) clock: Clock,
    pub(crate) hasher: Hasher,
    pub(crate) uploads: Uploads,
    pub(crate) parsing: Arc<Semaphore>,
    /// Of results as files, apart from uploads: neither keeps the other waiting.
    pub(crate) exports: Arc<Semaphore>,
    pub(crate) writing: Arc<Semaphore>,
    pub(crate) mail: Option<Mail>,
}

/// How teachers are written to.
#[derive(Clone)]
pub(crate) struct Mail {
    pub(crate) mailer: Arc<dyn Mailer>,
    /// Origin of the links in letters.
    pub(crate) site: String,
    /// Of letters that are written or wait, and of requests for them.
    pub(crate) places: Arc<Semaphore>,
    /// Of letters that the mail server is asked to take.
    pub(crate) turns: Arc<Semaphore>,
}

/// What a teacher's plan grants for one game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Players that the game may hold.
    pub players_max: u32,
    /// The stored quiz, when one was asked for.
    pub quiz: Option<QuizDocument>,
}

/// Why a game may not start.
#[derive(Debug, Error)]
pub enum PlanCheckError {
    /// The account has gone.
    #[error("there is no such teacher")]
    UnknownTeacher,
    /// The teacher has no such quiz.
    #[error("the teacher has no such quiz")]
    UnknownQuiz,
    /// This teacher has started as many games as one may.
    #[error("this teacher has started {max} games within a minute")]
    TooMany {
        /// How many one may start.
        max: u32,
        /// How long to wait for the next one, at least a second.
        retry_after_s: u64,
    },
    /// The API is at its capacity; the same call may succeed later.
    #[error("the API is at its capacity")]
    Busy,
    /// The store did not answer; the same call may succeed later.
    #[error("the store did not answer the plan check")]
    Unavailable(#[source] StoreError),
}

/// Why a result was not saved.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The account has gone. Sending the result again will not help.
    #[error("there is no such teacher")]
    UnknownTeacher,
    /// Another result of this game is stored, and stays. Sending this one again will not help.
    #[error("another result of this game is stored")]
    Different,
    /// Another server goes on with the game, under an epoch that it reserved.
    #[error("a higher epoch of this game is reserved")]
    Superseded,
    /// The API is at its capacity; send the result again.
    #[error("the API is at its capacity")]
    Busy,
    /// The store did not answer; send the result again.
    #[error("the store did not answer the save of a result")]
    Unavailable(#[source] StoreError),
}

/// Why a call about a game came to nothing; the same one may succeed later.
#[derive(Debug, Error)]
pub enum GameCallError {
    /// The API is at its capacity.
    #[error("the API is at its capacity")]
    Busy,
    /// The store did not answer.
    #[error("the store did not answer a call about a game")]
    Unavailable(#[source] StoreError),
}

impl Api {
    /// Puts the API together.
    #[must_use]
    pub fn open(config: Config, store: Arc<dyn Store>, keys: Keys) -> Self {
        Self::with_clock(config, store, keys, Clock::system())
    }

    /// As [`Api::open`], with a clock that a test can move.
    #[must_use]
    pub fn with_clock(config: Config, store: Arc<dyn Store>, keys: Keys, clock: Clock) -> Self {
        Self {
            admission: Admission::new(config.permits).delayed(Arc::clone(&store), config.call_delay),
            tokens: Arc::new(VerifiedTokens::new()),
            config: Arc::new(config),
            store,
            shared: Arc::new(LocalShared::alone()),
            cache: Arc::new(ReadCache::new()),
            keys: Arc::new(keys),
            clock,
            hasher: Hasher::new(),
            uploads: Uploads::new(),
            parsing: Arc::new(Semaphore::new(IMPORTS_PARSING_MAX)),
            exports: Arc::new(Semaphore::new(EXPORTS_MAX)),
            writing: Arc::new(Semaphore::new(EXPORTS_WRITING_MAX)),
            mail: None,
        }
    }

    /// With what all processes agree on kept elsewhere than in this process alone.
    #[must_use]
    pub fn sharing(self, shared: Arc<dyn Shared>) -> Self {
        Self { shared, ..self }
    }

    /// With letters, whose links lead to `site`, an origin.
    #[must_use]
    pub fn mailing(self, mailer: Arc<dyn Mailer>, site: String) -> Self {
        let mail = Mail {
            mailer,
            site,
            places: Arc::new(Semaphore::new(LETTERS_MAX + LETTERS_WAITING_MAX)),
            turns: Arc::new(Semaphore::new(LETTERS_MAX)),
        };
        Self {
            mail: Some(mail),
            ..self
        }
    }

    /// With letters by this mail server, whose links lead to `site`; without one of them, with none.
    #[must_use]
    pub fn mailing_by(self, mailer: Option<SmtpMailer>, site: Option<&str>) -> Self {
        match mailer.zip(site) {
            Some((mailer, site)) => {
                tracing::info!(%mailer, "sending letters");
                self.mailing(Arc::new(mailer), site.to_owned())
            }
            None => self,
        }
    }

    /// The HTTP API at its own root; the caller nests it under the configured mount prefix.
    pub fn router(&self) -> Router {
        routes::router(self.clone())
    }

    /// The public keys that check what this API signs.
    #[must_use]
    pub fn jwks(&self) -> JwkSet {
        self.keys.jwks()
    }

    /// What this teacher's plan grants for a game, with the stored quiz if one is named.
    ///
    /// # Errors
    /// When the account or the quiz has gone, or the store does not answer.
    pub async fn plan_check(
        &self,
        teacher: TeacherId,
        quiz: Option<QuizId>,
    ) -> Result<Grant, PlanCheckError> {
        let _permit = self
            .admission
            .acquire(Class::Service)
            .await
            .map_err(|Shed| PlanCheckError::Busy)?;
        self.count(teacher, Counted::Games).await.map_err(
            |Spent {
                 max, retry_after_s, ..
             }| PlanCheckError::TooMany { max, retry_after_s },
        )?;
        let granted = self.grant(teacher, quiz).await;
        if matches!(granted, Err(PlanCheckError::Unavailable(_))) {
            // The teacher will try again, and nothing was started.
            self.give_back(teacher, Counted::Games).await;
        }
        granted
    }

    async fn grant(&self, teacher: TeacherId, quiz: Option<QuizId>) -> Result<Grant, PlanCheckError> {
        let account = self
            .store
            .account(teacher)
            .await
            .map_err(PlanCheckError::Unavailable)?;
        if account.is_none() {
            return Err(PlanCheckError::UnknownTeacher);
        }
        let quiz = match quiz {
            None => None,
            Some(id) => {
                let stored = self
                    .store
                    .quiz(teacher, id)
                    .await
                    .map_err(PlanCheckError::Unavailable)?;
                Some(stored.ok_or(PlanCheckError::UnknownQuiz)?.quiz)
            }
        };
        Ok(Grant {
            players_max: plan::free().players_max,
            quiz,
        })
    }

    /// Saves the result of a game, once: the same result again is fine and changes nothing, and so is one of a game
    /// that its teacher has deleted. `epoch` is that of the server that has the game.
    ///
    /// # Errors
    /// When a higher epoch is reserved, another result of the game is stored, the account has gone, or the store does not answer.
    pub async fn save_result(&self, mut result: GameResult, epoch: u32) -> Result<(), SaveError> {
        let permit = self
            .admission
            .acquire(Class::Service)
            .await
            .map_err(|Shed| SaveError::Busy)?;
        // One order for what the store keeps in rows, so that the same result is recognised however it was put together.
        result.questions.sort_by_key(|question| question.q);
        for player in &mut result.players {
            player.answers.sort_by_key(|answer| answer.q);
        }
        let (store, result) = (Arc::clone(&self.store), Arc::new(result));
        let saving = Arc::clone(&result);
        let saved = self.changing(permit, result.teacher, async move {
            store.save_result(&saving, epoch).await
        });
        match saved.await.map_err(SaveError::Unavailable)? {
            ResultSaved::Now => {
                inc(Counter::ResultsSavedTotal);
                Ok(())
            }
            ResultSaved::Before | ResultSaved::Deleted => Ok(()),
            ResultSaved::NoTeacher => Err(SaveError::UnknownTeacher),
            ResultSaved::Superseded => {
                inc(Counter::ResultsSupersededTotal);
                tracing::warn!(game = %result.game, code = %result.code, epoch, "a result below the reserved epoch was refused");
                Err(SaveError::Superseded)
            }
            ResultSaved::Different => {
                inc(Counter::ResultsRefusedTotal);
                // Two servers that both think they own a game: somebody must look.
                tracing::error!(game = %result.game, code = %result.code, "a different result of a saved game was refused");
                Err(SaveError::Different)
            }
        }
    }

    /// Reserves an epoch for the server that goes on with a game which another one may still hold: far above `above`, and results of
    /// lower ones are refused from then on. None when the game has a result.
    ///
    /// # Errors
    /// When the API is at its capacity, or the store does not answer.
    pub async fn reserve_epoch(&self, game: GameId, above: u32) -> Result<Option<u32>, GameCallError> {
        let _permit = self.service_permit().await?;
        let reserved = self.store.reserve_epoch(game, above).await;
        let reserved = reserved.map_err(GameCallError::Unavailable)?;
        if let Some(epoch) = reserved {
            inc(Counter::EpochsReservedTotal);
            tracing::warn!(%game, epoch, "an epoch was reserved: the live games' store went back, and a server is gone");
        }
        Ok(reserved)
    }

    /// Whether a game has a result, or had one that its teacher deleted.
    ///
    /// # Errors
    /// When the API is at its capacity, or the store does not answer.
    pub async fn has_result(&self, game: GameId) -> Result<bool, GameCallError> {
        let _permit = self.service_permit().await?;
        let known = self.store.has_result(game).await;
        known.map_err(GameCallError::Unavailable)
    }

    /// Keeps what happened to a game whose result is saved; of another game there is nothing to keep.
    ///
    /// # Errors
    /// When the API is at its capacity, or the store does not answer.
    pub async fn save_timeline(&self, timeline: &GameTimeline) -> Result<(), GameCallError> {
        let _permit = self.service_permit().await?;
        let saved = self.store.save_timeline(timeline).await;
        saved.map(drop).map_err(GameCallError::Unavailable)
    }

    async fn service_permit(&self) -> Result<Permit, GameCallError> {
        self.admission
            .acquire(Class::Service)
            .await
            .map_err(|Shed| GameCallError::Busy)
    }
}
