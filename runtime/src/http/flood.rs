//! Frames of HTTP/2 that ask for nothing and cost the server something: pings and settings to be answered, streams opened and
//! reset at once, endless window updates. They are counted as they come in, and past a client's allowance its connection ends.
//!
//! h2 bounds what such frames make it hold, not how many it answers; empty and tiny data it counts itself.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::metrics::{self, Counter};

/// Bytes that a connection begins with (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;
/// Bytes of a frame's head (RFC 9113, 4.1).
const HEAD_BYTES: usize = 9;
/// Idle frames at once: a browser that leaves a page cancels all its streams, sends a priority for each, and updates windows.
const AT_ONCE: u32 = 400;
/// Idle frames a second after that.
const PER_SECOND: u32 = 20;
/// Bytes of answers that earn one more, since a download needs window updates: a client that sends one for every 2 KiB keeps up.
const BYTES_PER_FRAME: usize = 2 * 1024;

const DATA: u8 = 0x0;
const HEADERS: u8 = 0x1;

/// Follows the frames in a stream of bytes.
#[derive(Debug)]
struct Frames {
    /// Bytes to pass over: the preface, then payloads.
    skip: usize,
    head: [u8; HEAD_BYTES],
    head_bytes: usize,
}

impl Frames {
    fn new() -> Self {
        Self {
            skip: PREFACE_BYTES,
            head: [0; HEAD_BYTES],
            head_bytes: 0,
        }
    }

    /// How many idle frames begin in these bytes, which follow those before.
    fn idle_in(&mut self, mut bytes: &[u8]) -> u32 {
        let mut idle = 0_u32;
        loop {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = bytes.get(skipped..).unwrap_or_default();
            let Some((byte, rest)) = bytes.split_first() else {
                return idle;
            };
            if let Some(place) = self.head.get_mut(self.head_bytes) {
                *place = *byte;
            }
            self.head_bytes += 1;
            bytes = rest;
            if self.head_bytes == HEAD_BYTES {
                self.head_bytes = 0;
                let [a, b, c, kind, ..] = self.head;
                self.skip = usize::try_from(u32::from_be_bytes([0, a, b, c])).unwrap_or(usize::MAX);
                idle += u32::from(kind != HEADERS && kind != DATA);
            }
        }
    }
}

/// Idle frames that a client may still send.
#[derive(Debug)]
struct Allowance {
    left: u32,
    since: Instant,
    /// Bytes written that have earned nothing yet.
    bytes: usize,
}

impl Allowance {
    fn new(now: Instant) -> Self {
        Self {
            left: AT_ONCE,
            since: now,
            bytes: 0,
        }
    }

    fn earn(&mut self, frames: u32) {
        self.left = self.left.saturating_add(frames).min(AT_ONCE);
    }

    fn wrote(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.earn(u32::try_from(self.bytes / BYTES_PER_FRAME).unwrap_or(u32::MAX));
        self.bytes %= BYTES_PER_FRAME;
    }

    /// Whether there was enough left.
    fn spend(&mut self, frames: u32, now: Instant) -> bool {
        let seconds = u32::try_from(now.duration_since(self.since).as_secs()).unwrap_or(u32::MAX);
        if seconds > 0 {
            self.since = now;
            self.earn(seconds.saturating_mul(PER_SECOND));
        }
        match self.left.checked_sub(frames) {
            Some(left) => self.left = left,
            None => return false,
        }
        true
    }
}

/// A client's connection whose idle frames are counted.
pub(super) struct Guarded<T> {
    io: T,
    peer: SocketAddr,
    frames: Frames,
    allowance: Allowance,
}

impl<T> Guarded<T> {
    pub(super) fn new(io: T, peer: SocketAddr) -> Self {
        Self {
            io,
            peer,
            frames: Frames::new(),
            allowance: Allowance::new(Instant::now()),
        }
    }

    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        let idle = self.frames.idle_in(bytes);
        if idle == 0 || self.allowance.spend(idle, Instant::now()) {
            return Ok(());
        }
        metrics::inc(Counter::Http2FloodsTotal);
        tracing::warn!(peer = %self.peer, "closing an HTTP/2 connection that floods");
        Err(io::Error::new(
            io::ErrorKind::ConnectionAborted,
            "too many frames that ask for nothing",
        ))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Guarded<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, buf))?;
        Poll::Ready(self.count(buf.filled().get(before..).unwrap_or_default()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Guarded<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = ready!(Pin::new(&mut self.io).poll_write(cx, buf))?;
        self.allowance.wrote(wrote);
        Poll::Ready(Ok(wrote))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = ready!(Pin::new(&mut self.io).poll_write_vectored(cx, bufs))?;
        self.allowance.wrote(wrote);
        Poll::Ready(Ok(wrote))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, flags, 0, 0, 0, 1];
        frame.extend_from_slice(payload);
        frame
    }

    #[test]
    fn what_asks_for_nothing_is_counted_wherever_the_bytes_are_cut() {
        let frames = [
            (frame(0x4, 0, &[0; 6]), 1),
            (frame(HEADERS, 0x5, &[0x82; 300]), 0),
            (frame(DATA, 0, b"a body"), 0),
            (frame(DATA, 1, b""), 0),
            (frame(0x2, 0, &[0; 5]), 1),
            (frame(0x3, 0, &[0; 4]), 1),
            (frame(0x6, 0, &[6; 8]), 1),
            (frame(0x8, 0, &[0; 4]), 1),
            (frame(0x9, 0, b""), 1),
            (frame(0x20, 0, b"unknown"), 1),
        ];
        let expected: u32 = frames.iter().map(|(_, idle)| idle).sum();
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        assert_eq!(bytes.len(), PREFACE_BYTES);
        frames.iter().for_each(|(frame, _)| bytes.extend(frame));
        for piece in 1..=bytes.len() {
            let mut seen = Frames::new();
            let idle: u32 = bytes.chunks(piece).map(|piece| seen.idle_in(piece)).sum();
            assert_eq!(idle, expected, "in pieces of {piece}");
            assert_eq!((seen.skip, seen.head_bytes), (0, 0));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_and_downloads_earn_more_and_nothing_is_hoarded() {
        let begun = Instant::now();
        let mut allowance = Allowance::new(begun);
        assert!(allowance.spend(AT_ONCE, begun));
        assert!(!allowance.spend(1, begun + Duration::from_millis(999)));
        assert!(allowance.spend(PER_SECOND, begun + Duration::from_secs(1)));
        let now = begun + Duration::from_secs(1);
        (0..10).for_each(|_| allowance.wrote(BYTES_PER_FRAME / 2));
        assert!(allowance.spend(5, now) && !allowance.spend(1, now));
        allowance.wrote(usize::MAX / 2);
        let later = begun + Duration::from_secs(1_000_000);
        assert!(allowance.spend(AT_ONCE, later) && !allowance.spend(1, later));
    }
}
