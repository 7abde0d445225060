//! Any number of processes, which agree in a Redis.
//!
//! Nothing in it is worth keeping: a lost version makes everybody ask the database again, a lost count opens a new window. So
//! nobody waits for a Redis that does not answer: counts go on by each process for itself, and nothing is answered from memory.
//! Other processes may be able to ask it all the while, though, and must hear of every change as soon as that is possible.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use fred::clients::Client;
use fred::interfaces::ClientLike as _;
use fred::types::config::{Config, ConnectionConfig, ReconnectPolicy, ServerConfig, TcpConfig};
use fred::types::{ClusterHash, CustomCommand, FromValue, Value};
use protocol::ids::TeacherId;
use runtime::metrics::{Gauge, set};
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::{Counted, LocalShared, Quota, Shared, Verdict, Whose};
use crate::random;

mod untold;

use untold::Untold;

/// Time for an answer; a healthy Redis takes a hundredth of it.
const ANSWER_MAX: Duration = Duration::from_millis(100);
/// After a missing answer nobody asks for so long, so that an outage costs one call of many its 100 ms.
const REST: Duration = Duration::from_millis(500);
/// Changes that wait for an answer at once while Redis rests: it may be well again already, and then no other process shows what
/// was before; but those who wait hold permits.
const CHANGES_ASKING_MAX: usize = 2;
/// Time between two attempts to tell what could not be told.
const TELL_EVERY: Duration = Duration::from_millis(50);
/// Commands in flight at most: several for each call that is admitted.
const COMMANDS_MAX: usize = 10_000;
/// Time between two attempts to connect, in milliseconds, doubling.
const RECONNECT_MS: (u32, u32) = (50, 1_000);
/// How long a version is kept after the last change, in seconds. Then the next one is as good as a change.
const VERSION_LIFE_S: &str = "3600";

/// The version, or the new one that is offered.
const VERSION: &str = "local v = redis.call('GET', KEYS[1]) if v then return v end \
    redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) return ARGV[1]";
/// How many there were in this window with this one, and how much of it is left, in milliseconds.
const COUNT: &str = "local n = redis.call('INCR', KEYS[1]) \
    if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end return {n, redis.call('PTTL', KEYS[1])}";
/// One less in this window, if it has not ended.
const GIVE_BACK: &str =
    "if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end return redis.call('DECR', KEYS[1])";

/// Which Redis. `Debug` and `Display` show hosts only.
#[derive(Clone)]
pub struct SharedRedis(Config);

/// The URL names no Redis that can be used. Never repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "is no address of the form redis://host:port, rediss:// for TLS, or redis-sentinel://host:port?sentinelServiceName=name"
)]
pub struct SharedRedisError;

impl SharedRedis {
    /// Reads `redis://[user:password@]host[:port][/database]`, `rediss` for TLS, and their `-sentinel` forms.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(url: &str) -> Result<Self, SharedRedisError> {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        if !matches!(scheme, "redis" | "rediss" | "redis-sentinel" | "rediss-sentinel") {
            return Err(SharedRedisError);
        }
        let config = Config::from_url(url).map_err(|_mentions_it| SharedRedisError)?;
        Ok(Self(config))
    }

    /// Whether the URL holds a password, for the server or for the sentinels.
    #[must_use]
    pub fn has_password(&self) -> bool {
        let sentinels = matches!(
            &self.0.server,
            ServerConfig::Sentinel {
                password: Some(_),
                ..
            }
        );
        sentinels || self.0.password.is_some()
    }
}

impl fmt::Display for SharedRedis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, host) in self.0.server.hosts().iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}:{}", host.host, host.port)?;
        }
        Ok(())
    }
}

impl fmt::Debug for SharedRedis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Kept in a Redis.
pub struct RedisShared {
    link: Arc<Link>,
    /// For the time without an answer.
    alone: LocalShared,
    /// Tells what could not be told, for as long as this lives.
    teller: AbortHandle,
}

/// What calls and the teller share.
struct Link {
    client: Client,
    started: Instant,
    /// Nobody asks before this time, in milliseconds since the start.
    resting_until_ms: AtomicU64,
    untold: Untold,
    asking: Semaphore,
}

impl RedisShared {
    /// Begins to connect, and goes on trying. Must be called on a runtime.
    #[must_use]
    pub fn connect(redis: &SharedRedis) -> Self {
        let connection = ConnectionConfig {
            connection_timeout: Duration::from_secs(2),
            internal_command_timeout: Duration::from_secs(2),
            max_command_attempts: 1,
            max_command_buffer_len: COMMANDS_MAX,
            tcp: TcpConfig {
                nodelay: Some(true),
                ..TcpConfig::default()
            },
            ..ConnectionConfig::default()
        };
        let mut config = redis.0.clone();
        // A Redis that is not there yet is as good as one that is away.
        config.fail_fast = false;
        let (first_ms, max_ms) = RECONNECT_MS;
        let policy = ReconnectPolicy::new_exponential(0, first_ms, max_ms, 2);
        let client = Client::new(config, None, Some(connection), Some(policy));
        drop(client.connect());
        let link = Arc::new(Link {
            client,
            started: Instant::now(),
            resting_until_ms: AtomicU64::new(0),
            untold: Untold::default(),
            asking: Semaphore::new(CHANGES_ASKING_MAX),
        });
        let telling = tokio::spawn(tell_all(Arc::clone(&link)));
        Self {
            link,
            alone: LocalShared::one_of_several(),
            teller: telling.abort_handle(),
        }
    }
}

impl Drop for RedisShared {
    fn drop(&mut self) {
        self.teller.abort();
    }
}

impl Link {
    /// The answer; none when there is none in time, or Redis rests.
    async fn ask<T: FromValue>(&self, command: &'static str, args: Vec<Value>) -> Option<T> {
        if self.rests() {
            return None;
        }
        self.ask_now(command, args).await
    }

    /// The same, whether or not Redis rests.
    async fn ask_now<T: FromValue>(&self, command: &'static str, args: Vec<Value>) -> Option<T> {
        let now_ms = self.elapsed_ms();
        let command = CustomCommand::new_static(command, ClusterHash::FirstKey, false);
        let answer = tokio::time::timeout(ANSWER_MAX, self.client.custom(command, args)).await;
        let failed = match answer {
            Ok(Ok(answer)) => {
                set(Gauge::ApiRedisAnswers, 1.0);
                return Some(answer);
            }
            Ok(Err(error)) => Some(error),
            Err(_) => None,
        };
        set(Gauge::ApiRedisAnswers, 0.0);
        let until_ms = now_ms.saturating_add(u64::try_from(REST.as_millis()).unwrap_or(u64::MAX));
        self.resting_until_ms.store(until_ms, Ordering::Relaxed);
        match failed {
            Some(error) => tracing::debug!(error = &error as &dyn std::error::Error, "Redis refused"),
            None => tracing::debug!("Redis does not answer"),
        }
        None
    }

    /// Says that something of this teacher's was changed; false when it could not be said.
    async fn tell(&self, teacher: TeacherId) -> bool {
        let Some(version) = new_version() else {
            return false;
        };
        let args = vec![
            version_key(teacher),
            version.into(),
            "EX".into(),
            VERSION_LIFE_S.into(),
        ];
        self.ask_now::<Value>("SET", args).await.is_some()
    }

    fn rests(&self) -> bool {
        self.elapsed_ms() < self.resting_until_ms.load(Ordering::Relaxed)
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Tells what could not be told, as soon as Redis answers again.
async fn tell_all(link: Arc<Link>) {
    loop {
        let (teacher, change) = link.untold.next().await;
        if link.tell(teacher).await {
            link.untold.told(teacher, change);
        } else {
            tokio::time::sleep(TELL_EVERY).await;
        }
    }
}

/// A number that nobody has used.
fn new_version() -> Option<i64> {
    random::bytes().ok().map(i64::from_le_bytes)
}

fn version_key(teacher: TeacherId) -> Value {
    format!("api:v:{teacher}").into()
}

fn quota_key(whose: Whose, counted: Counted) -> Value {
    format!("api:q:{}:{whose}", counted.name()).into()
}

#[async_trait]
impl Shared for RedisShared {
    async fn version(&self, teacher: TeacherId) -> Option<u64> {
        // The version there is from before the change.
        if self.link.untold.has(teacher) {
            return None;
        }
        let offered = new_version()?;
        let args = vec![
            VERSION.into(),
            1_i64.into(),
            version_key(teacher),
            offered.into(),
            VERSION_LIFE_S.into(),
        ];
        self.link.ask::<i64>("EVAL", args).await.map(i64::cast_unsigned)
    }

    async fn changed(&self, teacher: TeacherId) {
        let asking = if self.link.rests() {
            self.link.asking.try_acquire().map(Some)
        } else {
            Ok(None)
        };
        let told = match asking {
            Ok(_asking) => self.link.tell(teacher).await,
            Err(_) => false,
        };
        if !told && !self.link.untold.add(teacher) {
            tracing::debug!(%teacher, "a change could not be told; answers from memory end by themselves");
        }
    }

    async fn count(&self, whose: Whose, counted: Counted, quota: Quota) -> Verdict {
        let window_ms = i64::try_from(quota.window.as_millis()).unwrap_or(i64::MAX);
        let args = vec![
            COUNT.into(),
            1_i64.into(),
            quota_key(whose, counted),
            window_ms.into(),
        ];
        let Some((used, left_ms)) = self.link.ask::<(i64, i64)>("EVAL", args).await else {
            return self.alone.count(whose, counted, quota).await;
        };
        if used <= i64::from(quota.max) {
            return Verdict::Within;
        }
        Verdict::Spent(Duration::from_millis(u64::try_from(left_ms).unwrap_or(0).max(1)))
    }

    async fn give_back(&self, whose: Whose, counted: Counted) {
        let args = vec![GIVE_BACK.into(), 1_i64.into(), quota_key(whose, counted)];
        if self.link.ask::<i64>("EVAL", args).await.is_none() {
            self.alone.give_back(whose, counted).await;
        }
    }
}

#[cfg(test)]
mod tests;
