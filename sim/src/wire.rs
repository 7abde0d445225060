//! Connections between clients and a process: bytes with a latency of their own, in order, until one side is gone.
//!
//! The server's end is what hyper reads and writes. The client's end speaks HTTP and WebSocket frames through the same library
//! as the server, and is decoded at the moment of writing, so that the oracle judges what a server says when it says it.

use std::collections::VecDeque;
use std::io::{self, Cursor};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use protocol::routing;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

use crate::emission::{Emission, Emissions};

/// A connection, counted from the beginning of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LineId(pub(crate) u64);

/// A connection between two servers, counted from the beginning of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WireId(pub(crate) u64);

/// Which of its two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Side {
    Dialler,
    Listener,
}

impl Side {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Dialler => Self::Listener,
            Self::Listener => Self::Dialler,
        }
    }
}

/// A process's end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Port {
    /// To a client, by the proxy's attempt of that number.
    Client(LineId, u64),
    /// To another server.
    Peer(WireId, Side),
}

/// What has arrived at the server and was not read yet.
#[derive(Default)]
struct Arrived {
    chunks: VecDeque<Bytes>,
    is_over: bool,
    reader: Option<Waker>,
}

/// The world's hold on the server's side of a connection.
#[derive(Clone, Default)]
pub(crate) struct Inbox(Arc<Mutex<Arrived>>);

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Arrived> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes arrive.
    pub(crate) fn arrive(&self, bytes: Bytes) {
        let mut arrived = self.lock();
        arrived.chunks.push_back(bytes);
        wake(arrived);
    }

    /// The client is gone.
    pub(crate) fn end(&self) {
        let mut arrived = self.lock();
        arrived.is_over = true;
        wake(arrived);
    }
}

fn wake(mut arrived: MutexGuard<'_, Arrived>) {
    let reader = arrived.reader.take();
    drop(arrived);
    if let Some(reader) = reader {
        reader.wake();
    }
}

/// The server's end of a connection.
pub(crate) struct ServerEnd {
    port: Port,
    inbox: Inbox,
    emissions: Emissions,
}

impl ServerEnd {
    pub(crate) fn new(port: Port, inbox: Inbox, emissions: Emissions) -> Self {
        Self {
            port,
            inbox,
            emissions,
        }
    }
}

impl AsyncRead for ServerEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut arrived = self.inbox.lock();
        let Some(chunk) = arrived.chunks.front_mut() else {
            if arrived.is_over {
                return Poll::Ready(Ok(()));
            }
            arrived.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        let count = chunk.len().min(buffer.remaining());
        buffer.put_slice(chunk.get(..count).unwrap_or_default());
        chunk.advance(count);
        if chunk.is_empty() {
            arrived.chunks.pop_front();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ServerEnd {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let (port, length) = (self.port, bytes.len());
        let bytes = Bytes::copy_from_slice(bytes);
        self.emissions.push(Emission::Bytes { port, bytes });
        Poll::Ready(Ok(length))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for ServerEnd {
    fn drop(&mut self) {
        self.emissions.push(Emission::Hangup { port: self.port });
    }
}

/// What a client hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The answer to its request: 101 opens a socket.
    Status {
        status: u16,
        body: String,
        /// The server that holds the game, as a 421 names it.
        owner: Option<String>,
    },
    /// A text frame.
    Text(String),
    /// A ping, which the world answers.
    Ping,
    /// A close frame.
    Close(Option<u16>),
}

/// The client's end: from bytes to what they say.
#[derive(Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    is_open: bool,
}

impl Decoder {
    /// Takes bytes that the server wrote, and returns what they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Heard> {
        self.bytes.extend_from_slice(bytes);
        let mut heard = Vec::new();
        while let Some(next) = if self.is_open {
            self.frame()
        } else {
            self.response()
        } {
            heard.push(next);
        }
        heard
    }

    fn response(&mut self) -> Option<Heard> {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(head) = response.parse(&self.bytes).ok()? else {
            return None;
        };
        let status = response.code?;
        let header = |name: &str| {
            let mut headers = response.headers.iter();
            let header = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(header.value).ok()
        };
        let length = header("content-length").and_then(|length| length.parse::<usize>().ok());
        let (length, owner) = (length.unwrap_or(0), header(routing::OWNER).map(str::to_owned));
        let body = self.bytes.get(head..head + length)?;
        let body = String::from_utf8_lossy(body).into_owned();
        self.bytes.drain(..head + length);
        self.is_open = status == 101;
        Some(Heard::Status { status, body, owner })
    }

    fn frame(&mut self) -> Option<Heard> {
        let mut cursor = Cursor::new(self.bytes.as_slice());
        let (header, length) = FrameHeader::parse(&mut cursor).ok()??;
        let start = usize::try_from(cursor.position()).ok()?;
        let end = start + usize::try_from(length).ok()?;
        let payload = Bytes::copy_from_slice(self.bytes.get(start..end)?);
        self.bytes.drain(..end);
        Some(match header.opcode {
            OpCode::Control(Control::Ping) => Heard::Ping,
            OpCode::Control(Control::Close) => {
                let code = payload.first_chunk::<2>();
                Heard::Close(code.map(|code| u16::from_be_bytes(*code)))
            }
            OpCode::Control(Control::Pong | Control::Reserved(_))
            | OpCode::Data(Data::Continue | Data::Text | Data::Binary | Data::Reserved(_)) => {
                Heard::Text(String::from_utf8_lossy(&payload).into_owned())
            }
        })
    }
}

/// The bytes of a client's frame. The mask is always the same: it protects proxies, of which there are none here.
fn masked(mut frame: Frame) -> Bytes {
    frame.header_mut().mask = Some([7, 1, 3, 5]);
    let mut bytes = Vec::new();
    // A vector takes everything.
    let _written = frame.format(&mut bytes);
    bytes.into()
}

/// A client's text frame.
pub(crate) fn text(text: &str) -> Bytes {
    masked(Frame::message(
        text.as_bytes().to_vec(),
        OpCode::Data(Data::Text),
        true,
    ))
}

/// A client's answer to a ping.
pub(crate) fn pong() -> Bytes {
    masked(Frame::pong(Bytes::new()))
}

/// A client's close frame.
pub(crate) fn close() -> Bytes {
    masked(Frame::close(None))
}

/// The request that opens a socket. `more` are whole lines of headers.
pub(crate) fn upgrade(code: &str, more: &str) -> Bytes {
    format!(
        "GET /watch?g={code} HTTP/1.1\r\nhost: sim\r\n{more}connection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    .into()
}

/// The request that starts a game. `more` are whole lines of headers.
pub(crate) fn create(code: &str, token: &str, body: &str, more: &str) -> Bytes {
    format!(
        "POST /games?g={code} HTTP/1.1\r\nhost: sim\r\n{more}authorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_writes_is_read_in_any_pieces() {
        let mut bytes = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n".to_vec();
        for frame in [
            Frame::message("hello", OpCode::Data(Data::Text), true),
            Frame::ping(Bytes::new()),
            Frame::message("x".repeat(300), OpCode::Data(Data::Text), true),
        ] {
            frame.format(&mut bytes).unwrap();
        }
        for piece in [1, 3, 64, bytes.len()] {
            let mut decoder = Decoder::default();
            let heard: Vec<_> = bytes
                .chunks(piece)
                .flat_map(|chunk| decoder.feed(chunk))
                .collect();
            let status = Heard::Status {
                status: 101,
                body: String::new(),
                owner: None,
            };
            let texts = [
                Heard::Text("hello".into()),
                Heard::Ping,
                Heard::Text("x".repeat(300)),
            ];
            assert_eq!(
                heard,
                [vec![status], texts.to_vec()].concat(),
                "pieces of {piece}"
            );
        }
    }

    #[test]
    fn a_refusal_has_a_body() {
        let mut decoder = Decoder::default();
        let heard = decoder.feed(
            b"HTTP/1.1 421 Misdirected Request\r\nhomeroom-owner: game-1\r\ncontent-length: 2\r\n\r\n{}",
        );
        assert_eq!(
            heard,
            [Heard::Status {
                status: 421,
                body: "{}".into(),
                owner: Some("game-1".into()),
            }]
        );
    }
}
