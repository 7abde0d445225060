//! One client socket: connect, WebSocket handshake, reading through a shared buffer, writing with a remainder.
//! What the messages mean is left to [`super::player`] and [`super::host`].

use std::io::{self, Write};

use mio::net::TcpStream;
use thiserror::Error;

use super::codec::{CodecError, Decoder, Message};
use super::connect::connect;
use super::receive::{self, Inbox};
use super::tls::{Session, Told};
use super::world::Door;
use crate::sys::clock::Stamp;

/// The nonce of the handshake and the answer that proves the server computed it: the pair of RFC 6455, 1.3. One nonce
/// for all sockets is as good a test of a server as fresh ones, and costs no hash per join.
const NONCE: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// Longest answer to the handshake accepted; a server's has about 200 bytes.
const HEAD_BYTES_MAX: usize = 8 * 1024;
/// Headers of that answer.
const HEADERS_MAX: usize = 32;
/// Unsent bytes a socket may hold; a client sends frames of 100 bytes, so more means that the server stopped reading.
const UNSENT_BYTES_MAX: usize = 64 * 1024;

/// How a socket ended.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The connection could not be opened.
    #[error("connect failed")]
    Connect(#[source] io::Error),
    /// The server answered the handshake with another status than 101.
    #[error("handshake refused with status {0}")]
    Refused(u16),
    /// The answer to the handshake is no valid one.
    #[error("handshake broken: {0}")]
    Handshake(&'static str),
    /// The stream broke.
    #[error("connection broke")]
    Broken(#[source] io::Error),
    /// The server ended the stream.
    #[error("server ended the stream")]
    Ended,
    /// The server broke the framing.
    #[error("framing broken")]
    Codec(#[source] CodecError),
    /// The server stopped reading.
    #[error("server reads nothing; {UNSENT_BYTES_MAX} bytes unsent")]
    Stuck,
}

/// What a socket reports.
#[derive(Debug)]
pub(super) enum LinkEvent<'a> {
    /// The handshake is done; frames may be sent.
    Open,
    /// A message or control frame.
    Message(Message<'a>),
}

#[derive(Debug)]
enum Stage {
    Connecting,
    /// The request is sent; holds the answer so far.
    Handshaking(Vec<u8>),
    Open(Decoder),
}

impl Stage {
    /// Reads what the server says.
    fn take(&mut self, bytes: &[u8], sink: &mut impl FnMut(LinkEvent<'_>)) -> Result<(), LinkError> {
        let rest = match self {
            Self::Connecting => return Ok(()),
            Self::Open(decoder) => {
                return decoder
                    .feed(bytes, |m| sink(LinkEvent::Message(m)))
                    .map_err(LinkError::Codec);
            }
            Self::Handshaking(head) => {
                head.extend_from_slice(bytes);
                match parse_head(head)? {
                    None if head.len() > HEAD_BYTES_MAX => {
                        return Err(LinkError::Handshake("answer too long"));
                    }
                    None => return Ok(()),
                    Some(end) => head.split_off(end),
                }
            }
        };
        let mut decoder = Decoder::default();
        sink(LinkEvent::Open);
        let outcome = decoder
            .feed(&rest, |m| sink(LinkEvent::Message(m)))
            .map_err(LinkError::Codec);
        *self = Self::Open(decoder);
        outcome
    }
}

/// One client socket.
#[derive(Debug)]
pub(super) struct Link {
    stream: TcpStream,
    /// Over the stream, when the servers speak TLS.
    session: Option<Session>,
    stage: Stage,
    /// Of a stream without TLS.
    unsent: Vec<u8>,
    /// Bytes read since somebody took the number.
    pub(super) received_bytes: u64,
}

impl Link {
    /// Begins to connect.
    ///
    /// # Errors
    /// No descriptor or no port is left.
    pub(super) fn connect(door: &Door) -> Result<Self, LinkError> {
        let stream = connect(door.address, door.from).map_err(LinkError::Connect)?;
        let session = match &door.trust {
            Some(trust) => Some(
                trust
                    .session(&door.host, UNSENT_BYTES_MAX)
                    .map_err(LinkError::Connect)?,
            ),
            None => None,
        };
        Ok(Self {
            stream,
            session,
            stage: Stage::Connecting,
            unsent: Vec::new(),
            received_bytes: 0,
        })
    }

    /// The socket, for registration with a poller.
    pub(super) const fn stream_mut(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Whether the handshake is not done yet.
    pub(super) const fn is_opening(&self) -> bool {
        !matches!(self.stage, Stage::Open(_))
    }

    /// Sends `request` if the connection stands already; else the poller will say so.
    ///
    /// # Errors
    /// The connection was refused or broke.
    pub(super) fn begin(&mut self, request: &[u8]) -> Result<(), LinkError> {
        match self.stream.peer_addr() {
            Ok(_) => self.request(request),
            Err(e) if e.kind() == io::ErrorKind::NotConnected => Ok(()),
            Err(e) => Err(LinkError::Connect(e)),
        }
    }

    /// The poller says the socket can be written: sends `request` once it is connected, and what was left over.
    ///
    /// # Errors
    /// The connection was refused or broke.
    pub(super) fn on_writable(&mut self, request: &[u8]) -> Result<(), LinkError> {
        if matches!(self.stage, Stage::Connecting) {
            if let Some(error) = self.stream.take_error().map_err(LinkError::Connect)? {
                return Err(LinkError::Connect(error));
            }
            return self.request(request);
        }
        if let Some(session) = &mut self.session {
            return session.flush(&mut &self.stream).map_err(LinkError::Broken);
        }
        if self.unsent.is_empty() {
            return Ok(());
        }
        let unsent = std::mem::take(&mut self.unsent);
        self.write(&unsent)
    }

    fn request(&mut self, request: &[u8]) -> Result<(), LinkError> {
        self.stream.set_nodelay(true).map_err(LinkError::Connect)?;
        receive::ask_for_stamps(&self.stream).map_err(LinkError::Connect)?;
        self.stage = Stage::Handshaking(Vec::new());
        self.write(request)
    }

    /// Writes `bytes`; what the socket does not take now is kept and written when it can be.
    ///
    /// # Errors
    /// The connection broke, or the server has stopped reading.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        if let Some(session) = &mut self.session {
            let taken = session
                .write(bytes, &mut &self.stream)
                .map_err(LinkError::Broken)?;
            return if taken == bytes.len() {
                Ok(())
            } else {
                Err(LinkError::Stuck)
            };
        }
        let mut rest = bytes;
        while self.unsent.is_empty() && !rest.is_empty() {
            match (&self.stream).write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(LinkError::Broken(e)),
            }
        }
        if self.unsent.len() + rest.len() > UNSENT_BYTES_MAX {
            return Err(LinkError::Stuck);
        }
        self.unsent.extend_from_slice(rest);
        Ok(())
    }

    /// The poller says the socket can be read: reads until it is empty. A read that does not fill the inbox has emptied
    /// it, which saves a call per message; after the peer's end (`to_end`) it reads on to see that end.
    ///
    /// # Errors
    /// How the socket ended. Messages before that were handed to `sink`, with the moment they arrived.
    pub(super) fn on_readable(
        &mut self,
        inbox: &mut Inbox,
        to_end: bool,
        mut sink: impl FnMut(Stamp, LinkEvent<'_>),
    ) -> Result<(), LinkError> {
        if matches!(self.stage, Stage::Connecting) {
            return Ok(());
        }
        loop {
            let received = match inbox.receive(&self.stream) {
                Ok(received) => received,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) => return Err(LinkError::Broken(e)),
            };
            if received.bytes.is_empty() {
                return Err(LinkError::Ended);
            }
            self.received_bytes += crate::sys::count(received.bytes.len());
            let (arrived, filled) = (received.arrived, received.filled);
            let Self {
                stream,
                session,
                stage,
                ..
            } = self;
            let mut take = |bytes: &[u8]| stage.take(bytes, &mut |event| sink(arrived, event));
            match session {
                Some(session) => {
                    if session.read(received.bytes, &mut &*stream, take)? == Told::End {
                        return Err(LinkError::Ended);
                    }
                }
                None => take(received.bytes)?,
            }
            if !filled && !to_end {
                return Ok(());
            }
        }
    }
}

/// The handshake for `path` at `host`.
#[must_use]
pub(super) fn request(host: &str, path: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {NONCE}\r\n\
         Sec-WebSocket-Version: 13\r\n\r\n"
    )
    .into_bytes()
}

/// Checks the server's answer; the length of its head once it is complete.
fn parse_head(bytes: &[u8]) -> Result<Option<usize>, LinkError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let end = match response.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(LinkError::Handshake("answer is no HTTP")),
    };
    let status = response.code.unwrap_or(0);
    if status != 101 {
        return Err(LinkError::Refused(status));
    }
    let has = |name: &str, value: &str| {
        let matches = |h: &&httparse::Header<'_>| h.name.eq_ignore_ascii_case(name);
        response
            .headers
            .iter()
            .filter(matches)
            .any(|h| std::str::from_utf8(h.value).is_ok_and(|v| v.eq_ignore_ascii_case(value)))
    };
    if !has("upgrade", "websocket") || !has("connection", "upgrade") {
        return Err(LinkError::Handshake("no upgrade"));
    }
    if !has("sec-websocket-accept", ACCEPT) {
        return Err(LinkError::Handshake("wrong accept key"));
    }
    Ok(Some(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nconnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

    #[test]
    fn an_answer_is_complete_at_its_blank_line() {
        for cut in 0..ANSWER.len() {
            assert!(
                matches!(parse_head(&ANSWER.as_bytes()[..cut]), Ok(None)),
                "cut at {cut}"
            );
        }
        let with_frame = [ANSWER.as_bytes(), b"\x81\x00"].concat();
        assert_eq!(parse_head(&with_frame).expect("valid"), Some(ANSWER.len()));
    }

    #[test]
    fn refusals_and_broken_answers_are_told_apart() {
        let refused = parse_head(b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\n\r\n");
        assert!(matches!(refused, Err(LinkError::Refused(503))));
        let wrong_key = ANSWER.replace("s3pP", "xxxx");
        assert!(matches!(
            parse_head(wrong_key.as_bytes()),
            Err(LinkError::Handshake("wrong accept key"))
        ));
        let no_upgrade = ANSWER.replace("Upgrade: websocket\r\n", "");
        assert!(matches!(
            parse_head(no_upgrade.as_bytes()),
            Err(LinkError::Handshake("no upgrade"))
        ));
        assert!(matches!(
            parse_head(b"SSH-2.0\r\n\r\n"),
            Err(LinkError::Handshake(_))
        ));
    }
}
