//! Bytes both ways between two sockets, with a buffer only while there is something to move.
//!
//! What is read goes through one buffer a thread and is written at once; only what the other side does not take is
//! kept, and nothing more is read until it has been taken, so that a slow reader slows its writer. A side that has finished
//! sending may still receive. What is inside (WebSocket frames) is not looked at.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// The buffer of a thread: what Linux hands over in one read of a busy socket. A frame for a class has 250 bytes.
const BUFFER_BYTES: usize = 16 * 1024;
/// How often a tunnel is looked at. A game server pings every 15 s, so that a healthy tunnel moves something between any two
/// looks; one that moved nothing between two of them is closed, after 60 to 120 s of silence.
const TICK: Duration = Duration::from_secs(60);
/// The same once one side has finished sending: time to read what is on its way and to answer a WebSocket close.
const TICK_HALF_CLOSED: Duration = Duration::from_secs(15);

thread_local! {
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; BUFFER_BYTES].into_boxed_slice());
}

/// How a tunnel ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Both sides finished.
    Closed,
    /// A side's connection broke.
    Broken,
    /// Nothing moved for too long, or a side took nothing of what waited for it.
    Silent,
}

/// Moves bytes until both sides have finished, one breaks, or nothing moves any more. `from_client` and `from_server` are bytes
/// that were read already.
pub(crate) async fn run<C, S>(mut client: C, mut server: S, from_client: Bytes, from_server: Bytes) -> Ended
where
    C: AsyncRead + AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut up = Pipe::new(from_client);
    let mut down = Pipe::new(from_server);
    let mut watch = Watch::new();
    poll_fn(move |cx| {
        loop {
            let upwards = up.poll(cx, &mut client, &mut server);
            let downwards = down.poll(cx, &mut server, &mut client);
            match (upwards, downwards) {
                (Poll::Ready(Err(_)), _) | (_, Poll::Ready(Err(_))) => return Poll::Ready(Ended::Broken),
                (Poll::Ready(Ok(())), Poll::Ready(Ok(()))) => return Poll::Ready(Ended::Closed),
                (Poll::Pending, _) | (_, Poll::Pending) => {}
            }
            ready!(watch.poll(cx, up.is_done() || down.is_done()));
            let (up_moved, down_moved) = (up.look(), down.look());
            // A pipe that holds bytes waits for its reader, however busy the other one is.
            let stuck = (up.holds() && !up_moved) || (down.holds() && !down_moved);
            if stuck || !(up_moved || down_moved) {
                return Poll::Ready(Ended::Silent);
            }
        }
    })
    .await
}

/// One direction.
struct Pipe {
    /// Read and not yet taken.
    held: Bytes,
    state: State,
    /// Whether something moved since the last look.
    moved: bool,
    /// Whether something was written since the last flush; TLS may keep a part of it.
    unflushed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The sender has finished; the receiver is to be told.
    Ending,
    Done,
}

impl Pipe {
    fn new(held: Bytes) -> Self {
        Self {
            held,
            state: State::Open,
            moved: true,
            unflushed: false,
        }
    }

    fn is_done(&self) -> bool {
        self.state == State::Done
    }

    fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether something moved since the last look.
    fn look(&mut self) -> bool {
        std::mem::replace(&mut self.moved, false)
    }

    /// Ready when the sender has finished and the receiver knows.
    fn poll<R, W>(&mut self, cx: &mut Context<'_>, from: &mut R, to: &mut W) -> Poll<io::Result<()>>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        loop {
            while self.holds() {
                let taken = ready!(write(cx, to, &self.held))?;
                self.held.advance(taken);
                self.moved = true;
                self.unflushed = true;
            }
            // An empty slice would keep its buffer alive.
            self.held = Bytes::new();
            match self.state {
                State::Open => match self.pass(cx, from, to) {
                    Poll::Ready(passed) => passed?,
                    Poll::Pending => {
                        if self.unflushed {
                            ready!(Pin::new(&mut *to).poll_flush(cx))?;
                            self.unflushed = false;
                        }
                        return Poll::Pending;
                    }
                },
                State::Ending => {
                    ready!(Pin::new(&mut *to).poll_shutdown(cx))?;
                    self.state = State::Done;
                }
                State::Done => return Poll::Ready(Ok(())),
            }
        }
    }

    /// Reads once and writes what was read; keeps what is not taken.
    fn pass<R, W>(&mut self, cx: &mut Context<'_>, from: &mut R, to: &mut W) -> Poll<io::Result<()>>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        BUFFER.with_borrow_mut(|buffer| {
            let mut read = ReadBuf::new(buffer);
            ready!(Pin::new(from).poll_read(cx, &mut read))?;
            let mut rest = read.filled();
            if rest.is_empty() {
                self.state = State::Ending;
            }
            self.moved = true;
            while !rest.is_empty() {
                match write(cx, to, rest) {
                    Poll::Ready(taken) => rest = rest.get(taken?..).unwrap_or_default(),
                    Poll::Pending => {
                        self.held = Bytes::copy_from_slice(rest);
                        break;
                    }
                }
                self.unflushed = true;
            }
            Poll::Ready(Ok(()))
        })
    }
}

fn write<W: AsyncWrite + Unpin>(cx: &mut Context<'_>, to: &mut W, bytes: &[u8]) -> Poll<io::Result<usize>> {
    match ready!(Pin::new(to).poll_write(cx, bytes))? {
        0 => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
        taken => Poll::Ready(Ok(taken)),
    }
}

/// When a tunnel is looked at next. One timer for its whole life: setting one anew for every message would cost more than
/// the message.
struct Watch {
    sleep: Pin<Box<Sleep>>,
    half_closed: bool,
}

impl Watch {
    fn new() -> Self {
        Self {
            sleep: Box::pin(tokio::time::sleep(TICK)),
            half_closed: false,
        }
    }

    /// Ready when it is time to look; then the next look is set.
    fn poll(&mut self, cx: &mut Context<'_>, half_closed: bool) -> Poll<()> {
        if half_closed && !self.half_closed {
            self.half_closed = true;
            self.sleep.as_mut().reset(Instant::now() + TICK_HALF_CLOSED);
        }
        ready!(self.sleep.as_mut().poll(cx));
        let next = if half_closed { TICK_HALF_CLOSED } else { TICK };
        self.sleep.as_mut().reset(Instant::now() + next);
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests;
