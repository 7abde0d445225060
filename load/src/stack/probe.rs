//! Probes as a cluster's, with a short limit: one GET, well when the status says so; a store is asked in its own words.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::measure::FaultKind;
use crate::sys::postgres::Programs;
use crate::sys::redis::Redis;

/// An answer takes at most this time: as long as a probe's default in Kubernetes.
const LIMIT: Duration = Duration::from_secs(1);
/// Bytes of the answer that are looked at: the status line begins with them.
const STATUS: &[u8] = b"HTTP/1.1 2";

/// How a process is asked.
#[derive(Debug, Clone)]
pub enum Probe {
    /// `/live` and `/ready` at its admin listener.
    Http(SocketAddr),
    /// `PING`.
    Redis(Arc<Redis>),
    /// `pg_isready`.
    Postgres(Programs, SocketAddr),
}

impl Probe {
    /// Whether it takes work.
    pub(super) fn is_ready(&self) -> bool {
        let answer = match self {
            Self::Http(admin) => ask(*admin, "/ready"),
            Self::Redis(redis) => redis.is_ready(),
            Self::Postgres(programs, address) => programs.is_ready(*address),
        };
        answer.unwrap_or(false)
    }

    /// Whether a liveness probe counts as missed. One that could not be sent, for want of a port or descriptor of our own, says
    /// nothing about the server.
    pub(super) fn is_missed(&self) -> bool {
        let answer = match self {
            Self::Http(admin) => ask(*admin, "/live"),
            Self::Redis(redis) => redis.is_alive(),
            // One that recovers is alive, and looks like one that is not there: its end is what it is started again for.
            Self::Postgres(..) => return false,
        };
        match answer {
            Ok(well) => !well,
            Err(why) => !matches!(
                FaultKind::of_connect(&why),
                FaultKind::NoPort | FaultKind::NoDescriptor
            ),
        }
    }
}

fn ask(address: SocketAddr, path: &str) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&address, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut head = [0; STATUS.len()];
    stream.read_exact(&mut head)?;
    Ok(head == STATUS)
}
