//! WebSocket frames (RFC 6455) as a light client needs them: decoding of unmasked frames straight from a shared read
//! buffer, encoding of masked text frames. Sockets and handshakes are left to [`super::link`].
//!
//! A decoder holds bytes only while a frame is incomplete, so an idle player costs no buffer.

use std::mem;

use thiserror::Error;

/// Longest message accepted: a host's `sync` of 500 players takes about 30 KB, the longest quiz document 1 MiB.
pub const MESSAGE_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Longest payload of a control frame (RFC 6455, 5.5).
const CONTROL_BYTES_MAX: u64 = 125;

/// What a server broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CodecError {
    /// Servers must not mask.
    #[error("masked frame from a server")]
    Masked,
    /// A reserved bit without an extension.
    #[error("reserved bit set")]
    Reserved,
    /// An unknown opcode.
    #[error("unknown opcode {0}")]
    Opcode(u8),
    /// A fragmented or long control frame.
    #[error("control frame fragmented or longer than {CONTROL_BYTES_MAX} bytes")]
    Control,
    /// A length in more bytes than it needs.
    #[error("length not in its shortest form")]
    Length,
    /// A message beyond [`MESSAGE_BYTES_MAX`].
    #[error("message longer than {MESSAGE_BYTES_MAX} bytes")]
    TooLarge,
    /// A continuation without a beginning, or a beginning within a message.
    #[error("fragments out of order")]
    Fragment,
    /// A binary message; the protocol has text only.
    #[error("binary message")]
    Binary,
    /// Text that is not UTF-8.
    #[error("text is not UTF-8")]
    Utf8,
}

/// A message or control frame, pointing into the read buffer.
#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A text message.
    Text(&'a str),
    /// A ping; a pong with the same payload is due.
    Ping(&'a [u8]),
    /// A pong.
    Pong,
    /// The server closes; the code, when it gave one.
    Close(Option<u16>),
}

/// Reads frames from a byte stream cut anywhere.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The beginning of a frame whose end has not arrived.
    pending: Vec<u8>,
    /// The fragments so far of a fragmented message.
    fragments: Option<Vec<u8>>,
}

struct Header {
    last: bool,
    opcode: u8,
    start: usize,
    end: usize,
}

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

impl Decoder {
    /// Takes the next bytes of the stream and hands every complete message to `sink`.
    ///
    /// # Errors
    /// The first thing the server broke; the stream is of no use after it.
    pub fn feed(&mut self, chunk: &[u8], mut sink: impl FnMut(Message<'_>)) -> Result<(), CodecError> {
        if self.pending.is_empty() {
            let used = self.drain(chunk, &mut sink)?;
            self.pending.extend_from_slice(&chunk[used..]);
            return Ok(());
        }
        let mut bytes = mem::take(&mut self.pending);
        bytes.extend_from_slice(chunk);
        let used = self.drain(&bytes, &mut sink)?;
        if used < bytes.len() {
            bytes.drain(..used);
            self.pending = bytes;
        }
        Ok(())
    }

    /// Bytes held of an incomplete message.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.pending.len() + self.fragments.as_ref().map_or(0, Vec::len)
    }

    fn drain(&mut self, bytes: &[u8], sink: &mut impl FnMut(Message<'_>)) -> Result<usize, CodecError> {
        let mut used = 0;
        while let Some(header) = parse_header(&bytes[used..])? {
            let Some(payload) = bytes[used..].get(header.start..header.end) else {
                break;
            };
            self.take(&header, payload, sink)?;
            used += header.end;
        }
        Ok(used)
    }

    fn take(
        &mut self,
        header: &Header,
        payload: &[u8],
        sink: &mut impl FnMut(Message<'_>),
    ) -> Result<(), CodecError> {
        match (header.opcode, self.fragments.as_mut()) {
            (PING, _) => sink(Message::Ping(payload)),
            (PONG, _) => sink(Message::Pong),
            (CLOSE, _) => {
                let code = payload.first_chunk().map(|code| u16::from_be_bytes(*code));
                sink(Message::Close(code));
            }
            (TEXT, None) if header.last => sink(Message::Text(text(payload)?)),
            (TEXT, None) => self.fragments = Some(payload.to_vec()),
            (CONTINUATION, Some(fragments)) => {
                if crate::sys::count(fragments.len() + payload.len()) > MESSAGE_BYTES_MAX {
                    return Err(CodecError::TooLarge);
                }
                fragments.extend_from_slice(payload);
                if header.last {
                    let whole = self.fragments.take().unwrap_or_default();
                    sink(Message::Text(text(&whole)?));
                }
            }
            (BINARY, _) => return Err(CodecError::Binary),
            _ => return Err(CodecError::Fragment),
        }
        Ok(())
    }
}

fn text(payload: &[u8]) -> Result<&str, CodecError> {
    std::str::from_utf8(payload).map_err(|_| CodecError::Utf8)
}

/// Reads a header; none when it is incomplete.
fn parse_header(bytes: &[u8]) -> Result<Option<Header>, CodecError> {
    let &[first, second, ref rest @ ..] = bytes else {
        return Ok(None);
    };
    let opcode = first & 0x0f;
    if first & 0x70 != 0 {
        return Err(CodecError::Reserved);
    }
    if second & 0x80 != 0 {
        return Err(CodecError::Masked);
    }
    if !matches!(opcode, CONTINUATION | TEXT | BINARY | CLOSE | PING | PONG) {
        return Err(CodecError::Opcode(opcode));
    }
    let (length, start) = match second {
        126 => match rest.first_chunk::<2>() {
            Some(bytes) => (u64::from(u16::from_be_bytes(*bytes)), 4),
            None => return Ok(None),
        },
        127 => match rest.first_chunk::<8>() {
            Some(bytes) => (u64::from_be_bytes(*bytes), 10),
            None => return Ok(None),
        },
        short => (u64::from(short), 2),
    };
    if (second == 126 && length < 126) || (second == 127 && length <= u64::from(u16::MAX)) {
        return Err(CodecError::Length);
    }
    let last = first & 0x80 != 0;
    if opcode >= CLOSE && (!last || length > CONTROL_BYTES_MAX) {
        return Err(CodecError::Control);
    }
    if length > MESSAGE_BYTES_MAX {
        return Err(CodecError::TooLarge);
    }
    let length = usize::try_from(length).map_err(|_| CodecError::TooLarge)?;
    Ok(Some(Header {
        last,
        opcode,
        start,
        end: start + length,
    }))
}

/// What a client sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// A text message.
    Text,
    /// A close.
    Close,
    /// Answer to a ping.
    Pong,
}

/// Appends one masked frame to `out`. The mask only has to differ between frames here: it protects proxies from
/// hostile scripts, and there are none.
pub fn encode(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8], mask: u32) {
    let opcode = match opcode {
        Opcode::Text => TEXT,
        Opcode::Close => CLOSE,
        Opcode::Pong => PONG,
    };
    out.push(0x80 | opcode);
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(short), _) if short < 126 => out.push(0x80 | short),
        (_, Ok(medium)) => {
            out.push(0x80 | 126);
            out.extend_from_slice(&medium.to_be_bytes());
        }
        _ => {
            out.push(0x80 | 127);
            out.extend_from_slice(&crate::sys::count(payload.len()).to_be_bytes());
        }
    }
    let mask = mask.to_be_bytes();
    out.extend_from_slice(&mask);
    out.extend(
        payload
            .iter()
            .zip(mask.iter().cycle())
            .map(|(byte, mask)| byte ^ mask),
    );
}

#[cfg(test)]
mod tests;
