//! The floor: what the machine takes to write one frame to every socket in a row, with nothing of a server around it. One
//! thread writes, another reads; a server's cost per message is judged against this, measured in the same hour.

mod client;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};
use serde::Serialize;
use thiserror::Error;

pub use client::{ClientFloor, Paced, measure as measure_client};

use crate::measure::{Micros, Quantiles};
use crate::sys::clock::{self, Stamp};
use crate::sys::{count, cpu, limits, real};

/// Bytes of the frame: a question to a player with its four choices.
pub const FRAME_BYTES: usize = 250;
/// Pairs at most: two descriptors each, of the 20,000 that a small machine gives a process.
pub const SOCKETS_MAX: u32 = 9_900;
/// Events taken from the poller at once.
const EVENTS_MAX: usize = 1_024;
/// A round that takes longer has lost a frame, which the loopback interface does not.
const ROUND: Duration = Duration::from_secs(30);

/// Why there is no floor.
#[derive(Debug, Error)]
pub enum FloorError {
    /// Fewer descriptors than sockets.
    #[error("{0}")]
    Descriptors(String),
    /// Sockets could not be opened, written or read.
    #[error("sockets failed")]
    Sockets(#[from] io::Error),
    /// Frames did not arrive.
    #[error("a round took longer than {} s", ROUND.as_secs())]
    Lost,
}

/// The floor.
#[derive(Debug, Clone, Serialize)]
pub struct Floor {
    /// Pairs of sockets.
    pub sockets: u32,
    /// Rounds measured.
    pub rounds: u32,
    /// Bytes of a frame.
    pub frame_bytes: usize,
    /// Time of one write, in microseconds: the round's loop over its sockets.
    pub write_us: f64,
    /// CPU of one write, in microseconds.
    pub write_cpu_us: f64,
    /// From the first write to the last socket's reader having its frame.
    pub reach_all: Quantiles,
    /// CPU of the reader per message, in microseconds.
    pub read_cpu_us: f64,
}

/// Measures `rounds` rounds over `sockets` pairs, after one that warms up.
///
/// # Errors
/// Too few descriptors, or a socket failed.
pub fn measure(sockets: u32, rounds: u32) -> Result<Floor, FloorError> {
    limits::ensure_descriptors(u64::from(sockets) * 2).map_err(FloorError::Descriptors)?;
    let (mut writers, readers) = pairs(sockets)?;
    let (report, reports) = mpsc::sync_channel(1);
    let reader = std::thread::Builder::new()
        .name("floor reader".to_owned())
        .spawn(move || read(readers, rounds + 1, &report))?;
    let frame = [b'x'; FRAME_BYTES];
    let mut reach_all = Micros::default();
    let (mut write_us, mut write_cpu_us, mut read_cpu_us) = (0, 0, 0);
    for round in 0..=rounds {
        let cpu_before = cpu::own_thread().ran_us;
        let begun = clock::now();
        for writer in &mut writers {
            writer.write_all(&frame)?;
        }
        let written = clock::now();
        let cpu_after = cpu::own_thread().ran_us;
        let done = next(&reports)?;
        if round > 0 {
            write_us += written.since(begun);
            write_cpu_us += cpu_after.saturating_sub(cpu_before);
            read_cpu_us += done.cpu_us;
            reach_all.record(done.at.since(begun));
        }
    }
    drop(writers);
    // The reader has told of its last round; how it ends says nothing more.
    let _outcome = reader.join();
    let messages = real(u64::from(sockets) * u64::from(rounds.max(1)));
    Ok(Floor {
        sockets,
        rounds,
        frame_bytes: FRAME_BYTES,
        write_us: real(write_us) / messages,
        write_cpu_us: real(write_cpu_us) / messages,
        reach_all: reach_all.quantiles(),
        read_cpu_us: real(read_cpu_us) / messages,
    })
}

/// A round as its reader saw it.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// When the last frame was read.
    at: Stamp,
    /// CPU that the reader used.
    cpu_us: u64,
}

fn next(reports: &Receiver<io::Result<Round>>) -> Result<Round, FloorError> {
    let report = reports.recv_timeout(ROUND).map_err(|_| FloorError::Lost)?;
    Ok(report?)
}

fn pairs(sockets: u32) -> io::Result<(Vec<TcpStream>, Vec<mio::net::TcpStream>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let (mut writers, mut readers) = (Vec::new(), Vec::new());
    for _pair in 0..sockets {
        let reader = TcpStream::connect(address)?;
        let (writer, _) = listener.accept()?;
        writer.set_nodelay(true)?;
        reader.set_nonblocking(true)?;
        writers.push(writer);
        readers.push(mio::net::TcpStream::from_std(reader));
    }
    Ok((writers, readers))
}

fn read(mut readers: Vec<mio::net::TcpStream>, rounds: u32, report: &SyncSender<io::Result<Round>>) {
    let told = |round| report.send(round).is_ok();
    let mut poll = watch(&mut readers);
    for _round in 0..rounds {
        let round = match &mut poll {
            Ok(poll) => read_round(poll, &mut readers),
            Err(error) => Err(io::Error::from(error.kind())),
        };
        let ended = round.is_err();
        if !told(round) || ended {
            return;
        }
    }
}

fn watch(readers: &mut [mio::net::TcpStream]) -> io::Result<Poll> {
    let poll = Poll::new()?;
    for (number, reader) in readers.iter_mut().enumerate() {
        poll.registry()
            .register(reader, Token(number), Interest::READABLE)?;
    }
    Ok(poll)
}

/// Reads until every socket has had one frame's bytes.
fn read_round(poll: &mut Poll, readers: &mut [mio::net::TcpStream]) -> io::Result<Round> {
    let cpu_before = cpu::own_thread().ran_us;
    let mut missing = count(readers.len()) * count(FRAME_BYTES);
    let mut events = Events::with_capacity(EVENTS_MAX);
    let mut buffer = [0; 4 * FRAME_BYTES];
    while missing > 0 {
        poll.poll(&mut events, Some(ROUND))?;
        if events.is_empty() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        for event in &events {
            let Some(reader) = readers.get_mut(event.token().0) else {
                continue;
            };
            match reader.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => missing = missing.saturating_sub(count(n)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(e),
            }
        }
    }
    Ok(Round {
        at: clock::now(),
        cpu_us: cpu::own_thread().ran_us.saturating_sub(cpu_before),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_socket_is_reached() {
        let floor = measure(20, 3).expect("measured");
        assert_eq!((floor.sockets, floor.reach_all.count), (20, 3));
        assert!(floor.write_us > 0.0 && floor.reach_all.p50_ms > 0.0, "{floor:?}");
    }

    #[test]
    fn more_sockets_than_descriptors_are_refused_before_any_is_opened() {
        assert!(matches!(measure(u32::MAX, 1), Err(FloorError::Descriptors(_))));
    }
}
