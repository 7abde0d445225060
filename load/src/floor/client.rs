//! What a client costs that calls the kernel and does nothing else: no parsing, no plan, no figures. A simulated player's
//! cost is judged against this. At a low rate most of it is being woken, and waking the server's thread, so each figure
//! belongs to a rate; the client here waits as the harness does.

use std::io::{self, IoSliceMut, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use nix::cmsg_space;
use nix::sys::socket::{MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use serde::Serialize;

use super::{EVENTS_MAX, FRAME_BYTES, FloorError, ROUND};
use crate::sys::clock::{self, Stamp};
use crate::sys::{count, cpu, real};

/// Bytes of a handshake, of its answer, of a join and of a `welcome`, as they are between us.
const HANDSHAKE_BYTES: usize = 180;
const ACCEPTED_BYTES: usize = 130;
const JOIN_BYTES: usize = 40;
const WELCOME_BYTES: usize = 400;
/// Bytes of an answer and of its ack.
const ANSWER_BYTES: usize = 40;
const ACK_BYTES: usize = 32;
/// A class gets a frame of its own after so many answers: of 30 students 28 answer a question, which is told to all, and so
/// is its result.
const ANSWERS_PER_BURST: u64 = 14;
const CLASS: usize = 30;
/// Joins in a second: as fast as a measured run lets players in.
const JOINS_PER_S: u64 = 1_000;
/// As the harness waits for more that falls due, in microseconds.
const GATHER_US: u64 = 2_000;
/// Joins under way at most when they come as fast as they can: fewer than a listener queues.
const JOINS_AT_ONCE: u64 = 64;
/// Joins begun between two looks when they come as fast as they can.
const JOINS_IN_A_ROW: u64 = 16;
/// How often the peer looks whether it may stop.
const LOOK: Duration = Duration::from_millis(100);
/// Events of the peer's listener; its sockets count from 0.
const LISTENER: Token = Token(usize::MAX);

/// CPU of a client that does nothing but call the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Paced {
    /// Joins, or messages received, in a second; none for as fast as it goes.
    pub per_s: Option<u64>,
    /// CPU of one, in microseconds. Of messages a third are acks, whose answers are part of it.
    pub cpu_us: f64,
}

/// What [`measure`] found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClientFloor {
    /// Sockets.
    pub sockets: u64,
    /// A join: socket, connect, handshake, join, welcome.
    pub joins: Vec<Paced>,
    /// A message.
    pub messages: Vec<Paced>,
}

/// Measures `sockets` joins at 1,000 a second and as fast as they go, and messages for `seconds` at each of `rates`.
///
/// # Errors
/// A socket failed, or an answer did not come.
pub fn measure(sockets: u64, rates: &[u64], seconds: u64) -> Result<ClientFloor, FloorError> {
    let mut joins = Vec::new();
    let fast = Peer::start()?;
    let cpu_us = Client::new(fast.address)?.join(sockets, None)?;
    joins.push(Paced { per_s: None, cpu_us });
    drop(fast);
    let peer = Peer::start()?;
    let mut client = Client::new(peer.address)?;
    let cpu_us = client.join(sockets, Some(JOINS_PER_S))?;
    joins.push(Paced {
        per_s: Some(JOINS_PER_S),
        cpu_us,
    });
    let mut messages = Vec::new();
    for &per_s in rates {
        let cpu_us = client.play(per_s, seconds)?;
        messages.push(Paced {
            per_s: Some(per_s),
            cpu_us,
        });
    }
    Ok(ClientFloor {
        sockets,
        joins,
        messages,
    })
}

/// The sockets of the client.
struct Client {
    address: SocketAddr,
    poll: Poll,
    events: Events,
    sockets: Vec<TcpStream>,
    joined: Vec<bool>,
    bytes: Vec<u8>,
    control: Vec<u8>,
}

impl Client {
    fn new(address: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            address,
            poll: Poll::new()?,
            events: Events::with_capacity(EVENTS_MAX),
            sockets: Vec::new(),
            joined: Vec::new(),
            bytes: vec![0; 64 * 1024],
            control: cmsg_space!(TimeSpec),
        })
    }

    /// Opens `sockets` of them; CPU of each.
    fn join(&mut self, sockets: u64, per_s: Option<u64>) -> Result<f64, FloorError> {
        let before = cpu::own_thread().ran_us;
        let pace = Pace::new(per_s);
        let (mut begun, mut done) = (0, 0);
        while done < sockets {
            pace.wait(begun)?;
            done += self.look()?;
            let upto = pace.due(begun).min(sockets).min(done + JOINS_AT_ONCE);
            while begun < upto {
                self.open()?;
                begun += 1;
            }
        }
        Ok(real(cpu::own_thread().ran_us - before) / real(sockets.max(1)))
    }

    fn open(&mut self) -> io::Result<()> {
        let mut socket = TcpStream::connect(self.address)?;
        self.poll.registry().register(
            &mut socket,
            Token(self.sockets.len()),
            Interest::READABLE | Interest::WRITABLE,
        )?;
        socket.set_nodelay(true)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        socket.write_all(&[b'h'; HANDSHAKE_BYTES])?;
        self.sockets.push(socket);
        self.joined.push(false);
        Ok(())
    }

    /// Sends answers for `seconds` so that `per_s` messages come back in a second; CPU of each message.
    fn play(&mut self, per_s: u64, seconds: u64) -> Result<f64, FloorError> {
        let per_burst = ANSWERS_PER_BURST + count(CLASS);
        let bursts = per_s * seconds / per_burst;
        let (answers, messages) = (bursts * ANSWERS_PER_BURST, bursts * per_burst);
        let mut sockets = (0..self.sockets.len()).cycle();
        let before = cpu::own_thread().ran_us;
        let pace = Pace::new(Some(per_s * ANSWERS_PER_BURST / per_burst));
        let (mut sent, mut got) = (0, 0);
        while sent < answers || got < messages {
            pace.wait(sent)?;
            got += self.look()?;
            let upto = pace.due(sent).min(answers);
            while sent < upto {
                let next = sockets.next();
                if let Some(socket) = next.and_then(|number| self.sockets.get_mut(number)) {
                    socket.write_all(&[b'a'; ANSWER_BYTES])?;
                }
                sent += 1;
            }
        }
        Ok(real(cpu::own_thread().ran_us - before) / real(got.max(1)))
    }

    /// Reads what is there; how many messages ended a join, or belong to the game.
    fn look(&mut self) -> io::Result<u64> {
        self.poll.poll(&mut self.events, Some(Duration::ZERO))?;
        let mut messages = 0;
        for event in &self.events {
            let number = event.token().0;
            let (Some(socket), Some(joined)) = (self.sockets.get_mut(number), self.joined.get_mut(number))
            else {
                continue;
            };
            if !event.is_readable() {
                continue;
            }
            let mut parts = [IoSliceMut::new(&mut self.bytes)];
            let read = recvmsg::<()>(
                socket.as_raw_fd(),
                &mut parts,
                Some(&mut self.control),
                MsgFlags::empty(),
            );
            let n = match read {
                Ok(message) if message.bytes > 0 => message.bytes,
                Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(nix::errno::Errno::EAGAIN) => continue,
                Err(error) => return Err(error.into()),
            };
            match (*joined, n) {
                (false, ACCEPTED_BYTES) => socket.write_all(&[b'j'; JOIN_BYTES])?,
                (false, _) => (*joined, messages) = (true, messages + 1),
                // Acks and frames of the class may be read at once.
                (true, n) => messages += count(n / FRAME_BYTES + n % FRAME_BYTES / ACK_BYTES),
            }
        }
        Ok(messages)
    }
}

/// When the next of many evenly spaced things is due.
struct Pace {
    begin: Stamp,
    per_s: Option<u64>,
}

impl Pace {
    fn new(per_s: Option<u64>) -> Self {
        Self {
            begin: clock::now(),
            per_s,
        }
    }

    /// Waits until the one after `done` is due, and for more; gives up when it was due too long ago.
    fn wait(&self, done: u64) -> Result<(), FloorError> {
        let Some(per_s) = self.per_s else {
            return self.give_up_after(self.begin);
        };
        let next = self.begin.plus_us(done * 1_000_000 / per_s.max(1));
        let look_at = next.plus_us(GATHER_US).max(clock::now().plus_us(GATHER_US / 2));
        clock::pause_until(look_at.min(clock::now().plus_us(2 * GATHER_US)));
        self.give_up_after(next)
    }

    fn give_up_after(&self, due: Stamp) -> Result<(), FloorError> {
        let late = Duration::from_micros(clock::now().since(due));
        if late > ROUND {
            Err(FloorError::Lost)
        } else {
            Ok(())
        }
    }

    /// How many are due by now; one more than `done` when they come as fast as they can.
    fn due(&self, done: u64) -> u64 {
        let Some(per_s) = self.per_s else {
            return done + JOINS_IN_A_ROW;
        };
        clock::now().since(self.begin) * per_s / 1_000_000 + 1
    }
}

/// A thread that accepts, answers and speaks to whole classes. Dropping it stops it.
struct Peer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<io::Result<()>>>,
}

impl Peer {
    fn start() -> io::Result<Self> {
        let mut listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let address = listener.local_addr()?;
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("floor peer".to_owned())
            .spawn(move || serve(poll, &listener, &stopped))?;
        Ok(Self {
            address,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Its sockets are gone with the client's; how it ended says nothing more.
        let _ended = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

fn serve(mut poll: Poll, listener: &TcpListener, stop: &AtomicBool) -> io::Result<()> {
    let mut sockets: Vec<TcpStream> = Vec::new();
    let mut events = Events::with_capacity(EVENTS_MAX);
    let mut answers = 0u64;
    let mut bytes = [0; 4 * FRAME_BYTES];
    while !stop.load(Ordering::Relaxed) {
        poll.poll(&mut events, Some(LOOK))?;
        for event in &events {
            if event.token() == LISTENER {
                accept(listener, &mut sockets, &poll)?;
                continue;
            }
            let number = event.token().0;
            let Some(socket) = sockets.get_mut(number) else {
                continue;
            };
            match socket.read(&mut bytes) {
                Ok(0) => {}
                Ok(HANDSHAKE_BYTES) => socket.write_all(&[b'a'; ACCEPTED_BYTES])?,
                Ok(_) if answers == 0 && bytes[0] == b'j' => socket.write_all(&[b'w'; WELCOME_BYTES])?,
                Ok(_) => {
                    socket.write_all(&[b'k'; ACK_BYTES])?;
                    answers += 1;
                    if answers.is_multiple_of(ANSWERS_PER_BURST) {
                        tell_class(&mut sockets, number)?;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(e),
            }
        }
    }
    Ok(())
}

fn accept(listener: &TcpListener, sockets: &mut Vec<TcpStream>, poll: &Poll) -> io::Result<()> {
    loop {
        match listener.accept() {
            Ok((mut socket, _)) => {
                socket.set_nodelay(true)?;
                poll.registry()
                    .register(&mut socket, Token(sockets.len()), Interest::READABLE)?;
                sockets.push(socket);
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(e) => return Err(e),
        }
    }
}

/// A frame to the class of socket `number`.
fn tell_class(sockets: &mut [TcpStream], number: usize) -> io::Result<()> {
    let first = number - number % CLASS;
    let from = first.min(sockets.len().saturating_sub(CLASS));
    for socket in sockets.iter_mut().skip(from).take(CLASS) {
        socket.write_all(&[b'q'; FRAME_BYTES])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_joins_and_every_message_comes() {
        let floor = measure(45, &[2_000], 1).expect("measured");
        let rates: Vec<_> = floor
            .joins
            .iter()
            .chain(&floor.messages)
            .map(|p| p.per_s)
            .collect();
        assert_eq!(rates, [None, Some(JOINS_PER_S), Some(2_000)]);
    }
}
