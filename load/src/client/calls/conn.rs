//! One connection: a call is written as far as the socket takes it, and its answer read until it is whole.

use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};

use mio::net::TcpStream;

use super::answer::{self, Parsed};
use super::{Ask, Heard, Script, Unanswered};
use crate::client::connect::connect;
use crate::client::receive::{self, Inbox};
use crate::measure::FaultKind;
use crate::sys::clock::{self, Stamp};

/// A connection, in use or not.
#[derive(Debug)]
pub(super) struct Conn {
    stream: TcpStream,
    /// Which way it goes.
    pub(super) way: u32,
    /// When it was last of use.
    pub(super) idle_since: Stamp,
    call: Option<Call>,
    /// The answer so far, while it is not whole.
    read: Vec<u8>,
    was_written: bool,
}

#[derive(Debug)]
struct Call {
    ask: Ask,
    number: u64,
    written: usize,
}

/// How far a connection has come.
#[derive(Debug)]
pub(super) enum Progress {
    /// It waits for the other side, or has nothing to do.
    Waits,
    /// The answer is whole, and was at this moment.
    Answered {
        /// When the kernel had the last of it.
        arrived: Stamp,
        /// Whether the connection may be used again.
        keep: bool,
    },
    /// It is of no use any more.
    Failed(Unanswered),
}

impl Conn {
    /// Begins to connect to `address`, from `own` if it is given.
    ///
    /// # Errors
    /// No descriptor, no port, or no such address.
    pub(super) fn connect(address: SocketAddr, own: Option<IpAddr>, way: u32) -> io::Result<Self> {
        let stream = connect(address, own)?;
        stream.set_nodelay(true)?;
        receive::ask_for_stamps(&stream)?;
        Ok(Self {
            stream,
            way,
            idle_since: clock::now(),
            call: None,
            read: Vec::new(),
            was_written: false,
        })
    }

    pub(super) const fn stream_mut(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    pub(super) const fn is_busy(&self) -> bool {
        self.call.is_some()
    }

    /// Whether it makes the call of this number.
    pub(super) fn makes(&self, number: u64) -> bool {
        self.call.as_ref().is_some_and(|call| call.number == number)
    }

    pub(super) fn begin(&mut self, ask: Ask, number: u64) {
        self.read.clear();
        self.call = Some(Call {
            ask,
            number,
            written: 0,
        });
    }

    /// Writes and reads what can be.
    pub(super) fn progress(&mut self, inbox: &mut Inbox) -> Progress {
        if let Err(why) = self.write() {
            // The first write of a connection finds out whether there is one.
            return Progress::Failed(match self.was_written {
                true => Unanswered::Broken,
                false => Unanswered::NotConnected(FaultKind::of_connect(&why)),
            });
        }
        loop {
            let received = match inbox.receive(&self.stream) {
                Ok(received) => received,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Progress::Waits,
                Err(e) if e.kind() == io::ErrorKind::NotConnected => return Progress::Waits,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) if !self.was_written => {
                    return Progress::Failed(Unanswered::NotConnected(FaultKind::of_connect(&e)));
                }
                Err(_) => return Progress::Failed(Unanswered::Broken),
            };
            if received.bytes.is_empty() || self.call.is_none() {
                return Progress::Failed(Unanswered::Broken);
            }
            self.read.extend_from_slice(received.bytes);
            match answer::parse(&self.read) {
                Parsed::Part => {}
                Parsed::Whole(_, keep) => {
                    return Progress::Answered {
                        arrived: received.arrived,
                        keep,
                    };
                }
                Parsed::Broken => return Progress::Failed(Unanswered::NoHttp),
            }
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(call) = &mut self.call else {
            return Ok(());
        };
        while let Some(rest) = call
            .ask
            .request
            .get(call.written..)
            .filter(|rest| !rest.is_empty())
        {
            match self.stream.write(rest) {
                Ok(bytes) => {
                    call.written += bytes;
                    self.was_written = true;
                }
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected) => {
                    break;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Tells the script the answer that is whole.
    pub(super) fn tell(&mut self, arrived: Stamp, script: &mut dyn Script) {
        let Some(Call { ask, .. }) = self.call.take() else {
            return;
        };
        let answer = match answer::parse(&self.read) {
            Parsed::Whole(answer, _) => Ok(answer),
            Parsed::Part | Parsed::Broken => Err(Unanswered::NoHttp),
        };
        script.heard(&Heard {
            tag: ask.tag,
            due: ask.due,
            at: arrived,
            answer,
        });
        self.read.clear();
    }

    /// Tells the script that there is no answer.
    pub(super) fn fail(&mut self, at: Stamp, why: Unanswered, script: &mut dyn Script) {
        if let Some(Call { ask, .. }) = self.call.take() {
            script.heard(&Heard {
                tag: ask.tag,
                due: ask.due,
                at,
                answer: Err(why),
            });
        }
    }
}
