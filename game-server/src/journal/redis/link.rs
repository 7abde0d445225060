//! One connection to the primary. It is never repaired: what is lost is given up and a new link opened, so that no command can
//! reach a server that was not looked at first.

use std::time::Duration;

use fred::clients::Client;
use fred::interfaces::ClientLike;
use fred::types::{ClusterHash, ConnectHandle, CustomCommand, Resp3Frame, Value};
use thiserror::Error;
use tokio::time::timeout;

use super::call::CallError;
use super::config::{self, RedisConfig};
use super::{library, reply};
use crate::journal::StoreId;

/// Longest wait for an answer. A stopped Redis is given up after this time; pods that fence themselves do so after 3 s.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Characters of each id that make a [`StoreId`]: 64 bits of both.
const ID_CHARS: usize = 16;

/// The run that answers here: the beginnings of its run id and of its replication id. It changes when Redis restarts or a replica
/// takes over, which is when data may be missing.
fn store_id(info: &str) -> Option<StoreId> {
    let field = |name: &str| {
        let line = info
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|value| value.get(..ID_CHARS))
    };
    Some(StoreId::new(format!(
        "{}{}",
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
        let mut info = String::new();
        for section in ["server", "replication"] {
            let answer = link.ask("INFO", vec![section.into()]).await;
            let answer = answer.map_err(LinkError::Identify)?;
            let text = reply::string(&answer).ok_or(LinkError::Nameless)?;
            info.push_str(&String::from_utf8_lossy(text));
            info.push('\n');
        }
        if !info.lines().any(|line| line == "role:master") {
            return Err(LinkError::Replica);
        }
        link.store = store_id(&info).ok_or(LinkError::Nameless)?;
        Ok(link)
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
    fn a_store_is_known_by_both_its_ids() {
        let info = |run: &str, replication: &str| {
            format!(
                "redis_version:7.0.15\r\nrun_id:{run}\r\n\nrole:master\r\nmaster_replid:{replication}\r\n"
            )
        };
        let [a, b] = ["a".repeat(40), "b".repeat(40)];
        let id = store_id(&info(&a, &b)).unwrap();
        assert_eq!(id.as_str(), "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb");
        assert_ne!(store_id(&info(&a, &a)), Some(id));
        assert_eq!(store_id("role:master"), None);
    }
}
