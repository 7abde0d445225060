//! A Redis as its own `INFO` tells it, and whether it takes work. What asking costs is counted, so that it can be taken off.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An answer takes at most this time: as long as a probe's default in Kubernetes.
const LIMIT: Duration = Duration::from_secs(1);
/// Longest answer that is read, in bytes: the sections asked for have 2 KB.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// Sections of the figures.
const FIGURES: &str = "INFO stats memory";
/// What is read in them, and its name among a process's samples.
const FIELDS: [(&str, &str); 4] = [
    ("total_net_input_bytes", RECEIVED),
    ("total_net_output_bytes", "sent_bytes"),
    ("total_commands_processed", COMMANDS),
    ("used_memory", "memory_bytes"),
];

/// Name of the bytes that a Redis has received since its start.
pub const RECEIVED: &str = "received_bytes";
/// Name of the commands that it has carried out since its start.
pub const COMMANDS: &str = "commands";
/// Name of the bytes among the received that the harness sent to ask; never starts anew.
pub const ASKED_BYTES: &str = "asked_bytes";
/// Name of the commands among those carried out that were the harness's.
pub const ASKED: &str = "asked";

/// A Redis that is asked about itself.
#[derive(Debug)]
pub struct Redis {
    address: SocketAddr,
    asked_bytes: AtomicU64,
    asked: AtomicU64,
}

impl Redis {
    /// The one at `address`. Nothing is asked yet.
    #[must_use]
    pub const fn at(address: SocketAddr) -> Self {
        Self {
            address,
            asked_bytes: AtomicU64::new(0),
            asked: AtomicU64::new(0),
        }
    }

    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it takes work: one that still reads its files does not.
    ///
    /// # Errors
    /// No connection, or no answer in time.
    pub fn is_ready(&self) -> io::Result<bool> {
        Ok(self.ask("PING")? == "+PONG")
    }

    /// Whether it answers, be it that it still reads its files.
    ///
    /// # Errors
    /// No connection, or no answer in time.
    pub fn is_alive(&self) -> io::Result<bool> {
        self.ask("PING").map(|answer| !answer.is_empty())
    }

    /// Makes writes wait for `ms` milliseconds; reads are answered.
    ///
    /// # Errors
    /// No connection, or no answer in time, or a refusal.
    pub fn hold_writes(&self, ms: u64) -> io::Result<()> {
        match self.ask(&format!("CLIENT PAUSE {ms} WRITE"))?.as_str() {
            "+OK" => Ok(()),
            refusal => Err(io::Error::other(refusal.to_owned())),
        }
    }

    /// Its counters and levels, by the names of samples.
    ///
    /// # Errors
    /// No connection, no answer in time, or an answer without them.
    pub fn figures(&self) -> io::Result<BTreeMap<String, u64>> {
        let answer = self.ask(FIGURES)?;
        let mut figures = BTreeMap::new();
        for (field, name) in FIELDS {
            let value = answer
                .lines()
                .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
            let value = value.and_then(|value| value.trim().parse().ok());
            let value = value.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, field))?;
            figures.insert(name.to_owned(), value);
        }
        figures.insert(ASKED_BYTES.to_owned(), self.asked_bytes.load(Ordering::Relaxed));
        figures.insert(ASKED.to_owned(), self.asked.load(Ordering::Relaxed));
        Ok(figures)
    }

    /// One command and its answer, a line or one string.
    fn ask(&self, command: &str) -> io::Result<String> {
        let stream = TcpStream::connect_timeout(&self.address, LIMIT)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        let request = format!("{command}\r\n");
        (&stream).write_all(request.as_bytes())?;
        self.asked_bytes
            .fetch_add(super::count(request.len()), Ordering::Relaxed);
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut answer = BufReader::new(stream.take(ANSWER_BYTES_MAX));
        let mut line = String::new();
        answer.read_line(&mut line)?;
        let line = line.trim_end();
        let Some(bytes) = line.strip_prefix('$').and_then(|n| n.parse::<u64>().ok()) else {
            return Ok(line.to_owned());
        };
        let mut text = vec![0; usize::try_from(bytes.min(ANSWER_BYTES_MAX)).unwrap_or(0)];
        answer.read_exact(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that gives `answer` to one question.
    fn answering(answer: &'static str) -> Redis {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("port");
        let redis = Redis::at(listener.local_addr().expect("address"));
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut question = [0; 64];
            assert!(stream.read(&mut question).expect("a question") > 0);
            stream.write_all(answer.as_bytes()).expect("answered");
        });
        redis
    }

    #[test]
    fn one_that_loads_is_alive_and_not_ready() {
        assert!(answering("+PONG\r\n").is_ready().expect("an answer"));
        let loading = "-LOADING Redis is loading the dataset in memory\r\n";
        assert!(!answering(loading).is_ready().expect("an answer"));
        assert!(answering(loading).is_alive().expect("an answer"));
        assert!(answering("").is_alive().is_ok_and(|alive| !alive));
    }

    #[test]
    fn figures_are_read_beside_what_asking_cost() {
        let redis = answering(
            "$103\r\n# Stats\r\ntotal_commands_processed:7\r\ntotal_net_input_bytes:812\r\ntotal_net_output_bytes:9\r\nused_memory:55\r\n\r\n\r\n",
        );
        let figures = redis.figures().expect("figures");
        let of = |name: &str| figures.get(name).copied();
        assert_eq!((of(RECEIVED), of(COMMANDS)), (Some(812), Some(7)));
        assert_eq!((of(ASKED_BYTES), of(ASKED)), (Some(19), Some(1)));
        assert!(answering("$2\r\nno\r\n").figures().is_err());
    }
}
