//! One connection to the primary. It is never repaired: what is lost is given up and a new link opened, so that no command can
//! reach a server that was not looked at first.

use std::time::Duration;

use fred::clients::Client;
use fred::interfaces::ClientLike;
use fred::types::{ClusterHash, ConnectHandle, CustomCommand, Resp3Frame, Value};
use thiserror::Error;
use tokio::join;
use tokio::time::timeout;
use uuid::Uuid;

use super::call::CallError;
use super::config::{self, RedisConfig};
use super::{library, reply};
use crate::journal::StoreId;

/// Longest wait for an answer. A stopped Redis is given up after this time; pods that fence themselves do so after 3 s.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Characters of each id that make a [`StoreId`]: 64 bits of both.
const ID_CHARS: usize = 16;
/// Holds a random mark, set by the first server that misses it: gone with everything else when Redis is emptied by hand.
const MARK_KEY: &str = "store";

/// The run that answers here: the beginnings of its run id and of its replication id, which change when Redis restarts or a replica
/// takes over, and the mark among its data. Whenever it changes, data may be missing.
fn store_id(info: &str, mark: &str) -> Option<StoreId> {
    let field = |name: &str| {
        let line = info
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|value| value.get(..ID_CHARS))
    };
    Some(StoreId::new(format!(
        "{}{}{mark}",
        field("run_id")?,
        field("master_replid")?
    )))
}

/// Why there is no link.
#[derive(Debug, Error)]
pub(super) enum LinkError {
    #[error("connect to Redis")]
    Connect(#[source] fred::error::Error),
    #[error("ask Redis who it is")]
    Identify(#[source] CallError),
    #[error("Redis does not say who it is")]
    Nameless,
    #[error("this Redis is a replica")]
    Replica,
}

/// An open connection.
pub(super) struct Link {
    client: Client,
    connection: ConnectHandle,
    store: StoreId,
}

impl Link {
    /// Connects and finds out who answers.
    pub(super) async fn open(config: &RedisConfig) -> Result<Self, LinkError> {
        let client = Client::new(
            config.server.clone(),
            Some(config::performance()),
            Some(config::connection()),
            // No policy: a lost connection ends this client, and all its commands with it.
            None,
        );
        let connection = client.init().await.map_err(LinkError::Connect)?;
        let mut link = Self {
            client,
            connection,
            store: StoreId::default(),
        };
        link.leave_mark().await?;
        link.store = link.identify().await?;
        Ok(link)
    }

    /// Sees to it that there is a mark, if Redis takes one now.
    async fn leave_mark(&self) -> Result<(), LinkError> {
        let mark = format!("{:08x}", Uuid::new_v4().as_fields().0);
        let args = vec![MARK_KEY.into(), mark.into(), "NX".into()];
        match self.ask("SET", args).await {
            // Refused by a replica, or for want of memory: one that is left later makes this another run, which costs a rewrite.
            Ok(_) | Err(CallError::Refused(_)) => Ok(()),
            Err(error) => Err(LinkError::Identify(error)),
        }
    }

    /// Asks who answers here.
    async fn identify(&self) -> Result<StoreId, LinkError> {
        let info = |section: &'static str| self.ask("INFO", vec![section.into()]);
        let (server, replication, mark) = join!(
            Box::pin(info("server")),
            Box::pin(info("replication")),
            Box::pin(self.ask("GET", vec![MARK_KEY.into()]))
        );
        let text = |answer: Result<Resp3Frame, CallError>| {
            let answer = answer.map_err(LinkError::Identify)?;
            let text = reply::string(&answer).unwrap_or_default();
            Ok(String::from_utf8_lossy(text).into_owned())
        };
        let info = format!("{}\n{}", text(server)?, text(replication)?);
        if !info.lines().any(|line| line == "role:master") {
            return Err(LinkError::Replica);
        }
        store_id(&info, &text(mark)?).ok_or(LinkError::Nameless)
    }

    /// Whether the one who answers here still is the one who did at first, with what it had.
    pub(super) async fn is_the_same(&self) -> bool {
        self.identify().await.is_ok_and(|store| store == self.store)
    }

    /// Which store answers here.
    pub(super) fn store(&self) -> &StoreId {
        &self.store
    }

    /// Sends one command and waits for its answer. Concurrent ones share a system call and a round trip.
    pub(super) async fn ask(&self, command: &'static str, args: Vec<Value>) -> Result<Resp3Frame, CallError> {
        let command = CustomCommand::new_static(command, ClusterHash::FirstKey, false);
        let answer = timeout(ANSWER_TIMEOUT, self.client.custom_raw(command, args)).await;
        match answer {
            Err(_elapsed) => Err(CallError::TimedOut),
            Ok(Err(error)) => Err(CallError::Lost(error)),
            Ok(Ok(Resp3Frame::SimpleError { data, .. })) => Err(CallError::from_answer(&data)),
            Ok(Ok(Resp3Frame::BlobError { data, .. })) => {
                Err(CallError::from_answer(&String::from_utf8_lossy(&data)))
            }
            Ok(Ok(frame)) => Ok(frame),
        }
    }

    /// Gives Redis the functions. The same text again changes nothing.
    pub(super) async fn load_library(&self) -> Result<(), CallError> {
        let args = vec!["LOAD".into(), "REPLACE".into(), library::text().into()];
        self.ask("FUNCTION", args).await.map(|_name| ())
    }

    /// Waits until the connection is lost.
    pub(super) async fn lost(&mut self) {
        // Whether by an error or in order does not matter: a new one is needed.
        let _ended = (&mut self.connection).await;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Closes the socket, also when the task is stuck writing to it.
        self.connection.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_known_by_its_ids_and_its_mark() {
        let info = |run: &str, replication: &str| {
            format!(
                "redis_version:7.0.15\r\nrun_id:{run}\r\n\nrole:master\r\nmaster_replid:{replication}\r\n"
            )
        };
        let [a, b] = ["a".repeat(40), "b".repeat(40)];
        let id = store_id(&info(&a, &b), "0c").unwrap();
        assert_eq!(id.as_str(), "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb0c");
        assert_ne!(store_id(&info(&a, &a), "0c").as_ref(), Some(&id));
        assert_ne!(store_id(&info(&a, &b), "0d"), Some(id));
        assert_eq!(store_id("role:master", "0c"), None);
    }
}
