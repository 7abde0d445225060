//! WebSocket frames: what the library hands to a session is what RFC 6455 makes of the bytes, and whatever the RFC forbids ends the
//! connection there.

use std::io::{self, Read, Write};

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// Bytes of a message, as the game server takes them.
const MESSAGE_BYTES_MAX: usize = protocol::HOST_FRAME_BYTES_MAX;

/// A message, of whichever kind.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>),
}

/// `data` is everything that a client sends after its handshake.
///
/// # Panics
/// When the library reads something else in it.
pub fn check_socket(data: &[u8]) {
    let (expected, is_broken) = by_the_rfc(data);
    let mut config = WebSocketConfig::default();
    config.read_buffer_size = 1024;
    config.write_buffer_size = 0;
    config.max_message_size = Some(MESSAGE_BYTES_MAX);
    config.max_frame_size = Some(MESSAGE_BYTES_MAX);
    let mut socket = WebSocket::from_raw_socket(Bytes(data), Role::Server, Some(config));
    let mut told = Vec::new();
    let error = loop {
        match socket.read() {
            Ok(message) => told.push(match message {
                Message::Text(text) => Told::Text(text.as_str().to_owned()),
                Message::Binary(bytes) => Told::Binary(bytes.to_vec()),
                Message::Ping(bytes) => Told::Ping(bytes.to_vec()),
                Message::Pong(bytes) => Told::Pong(bytes.to_vec()),
                Message::Close(close) => {
                    told.push(Told::Close(close.map(|close| close.code.into())));
                    // Nobody reads on: what follows a close is to be ignored.
                    assert_eq!(told, expected);
                    return;
                }
                Message::Frame(_) => panic!("a bare frame is handed out"),
            }),
            Err(error) => break error,
        }
    };
    assert_eq!(told, expected, "then {error}");
    let is_protocol = matches!(
        error,
        tungstenite::Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake)
    );
    let is_end = is_protocol
        || matches!(
            error,
            tungstenite::Error::Io(_) | tungstenite::Error::ConnectionClosed
        );
    assert_eq!(is_broken, !is_end, "{error} after {expected:?}");
}

/// The messages in the bytes, and whether they end with something that is forbidden or too long.
fn by_the_rfc(mut rest: &[u8]) -> (Vec<Told>, bool) {
    let mut told = Vec::new();
    // Kind and payload of a message whose end has not come.
    let mut begun: Option<(u8, Vec<u8>)> = None;
    loop {
        let frame = match Frame::read(rest) {
            Ok(Some((frame, after))) => {
                rest = after;
                frame
            }
            Ok(None) => return (told, false),
            Err(Forbidden) => return (told, true),
        };
        let whole = match (frame.kind, begun.take()) {
            (0, Some((kind, mut payload))) => {
                payload.extend_from_slice(&frame.payload);
                (kind, payload)
            }
            (0, None) | (1 | 2, Some(_)) => return (told, true),
            (kind @ 8.., open) => {
                begun = open;
                match control(kind, frame.payload) {
                    Some(message) => told.push(message),
                    None => return (told, true),
                }
                if kind == 8 {
                    return (told, false);
                }
                continue;
            }
            (kind, None) => (kind, frame.payload),
            (_, Some(_)) => return (told, true),
        };
        if whole.1.len() > MESSAGE_BYTES_MAX {
            return (told, true);
        }
        if !frame.is_last {
            if whole.0 == 1 && !could_be_text(&whole.1) {
                return (told, true);
            }
            begun = Some(whole);
            continue;
        }
        match whole {
            (1, payload) => match String::from_utf8(payload) {
                Ok(text) => told.push(Told::Text(text)),
                Err(_) => return (told, true),
            },
            (_, payload) => told.push(Told::Binary(payload)),
        }
    }
}

/// Whether more bytes could make it UTF-8.
fn could_be_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

fn control(kind: u8, payload: Vec<u8>) -> Option<Told> {
    match (kind, payload.as_slice()) {
        (9, _) => Some(Told::Ping(payload)),
        (10, _) => Some(Told::Pong(payload)),
        (8, []) => Some(Told::Close(None)),
        (8, [high, low, reason @ ..]) => {
            let code = u16::from_be_bytes([*high, *low]);
            let may = matches!(code, 1000..=1003 | 1007..=1013 | 3000..=4999);
            // One that nobody may send is taken for a breach of the protocol, which is what the client is told.
            let code = if may { code } else { 1002 };
            std::str::from_utf8(reason)
                .is_ok()
                .then_some(Told::Close(Some(code)))
        }
        _ => None,
    }
}

struct Forbidden;

struct Frame {
    is_last: bool,
    kind: u8,
    payload: Vec<u8>,
}

impl Frame {
    /// RFC 6455, 5.2; none when its end has not come.
    fn read(bytes: &[u8]) -> Result<Option<(Self, &[u8])>, Forbidden> {
        let [first, second, rest @ ..] = bytes else {
            return Ok(None);
        };
        let (is_last, kind) = (first & 0x80 != 0, first & 0x0f);
        let length_bytes = match second & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let Some((length, rest)) = rest.split_at_checked(length_bytes) else {
            return Ok(None);
        };
        let length = match length {
            [] => u64::from(second & 0x7f),
            long => long.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        };
        let is_masked = second & 0x80 != 0;
        let Some((mask, rest)) = rest.split_at_checked(if is_masked { 4 } else { 0 }) else {
            return Ok(None);
        };
        // What is too long, or of no known kind, is told before the payload has come, all else after it.
        let length = usize::try_from(length).map_err(|_| Forbidden)?;
        if length > MESSAGE_BYTES_MAX || matches!(kind, 3..=7 | 11..) {
            return Err(Forbidden);
        }
        let Some((payload, rest)) = rest.split_at_checked(length) else {
            return Ok(None);
        };
        let breaks_control = kind & 8 != 0 && (!is_last || length > 125);
        if !is_masked || first & 0x70 != 0 || breaks_control {
            return Err(Forbidden);
        }
        let payload = payload
            .iter()
            .zip(mask.iter().cycle())
            .map(|(byte, mask)| byte ^ mask);
        let payload = payload.collect();
        Ok(Some((
            Self {
                is_last,
                kind,
                payload,
            },
            rest,
        )))
    }
}

/// What the client sent, and nothing more.
struct Bytes<'a>(&'a [u8]);

impl Read for Bytes<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf)
    }
}

impl Write for Bytes<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
