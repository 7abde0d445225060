//! A client's connection, plain or TLS, together with the permit that counts it: both live and go as one, also after
//! an upgrade to a WebSocket. A client that takes nothing of what is written to it loses both.

use std::fmt;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;
use tokio_rustls::server::TlsStream;

use crate::metrics::{Alive, Gauge};
use crate::tls::HTTP2;

/// How long a client may take no byte of what waits for it. A phone that comes out of a lift does; one that asks for pages and
/// never reads them would hold its place for ever.
pub(super) const WRITE_STALL_MAX: Duration = Duration::from_secs(30);

/// One client's connection. A write that waits for too long fails, whoever waits for it.
pub struct Stream {
    io: Io,
    /// Runs while a write waits; on the heap, as most connections never have one.
    stalled: Option<Pin<Box<Sleep>>>,
    _permit: OwnedSemaphorePermit,
    _alive: Alive,
}

enum Io {
    Plain(TcpStream),
    // Boxed, so that a plain connection does not pay for TLS's buffers.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    pub(super) fn plain(tcp: TcpStream, permit: OwnedSemaphorePermit) -> Self {
        Self {
            io: Io::Plain(tcp),
            stalled: None,
            _permit: permit,
            _alive: Alive::new(Gauge::Connections),
        }
    }

    pub(super) fn tls(tls: TlsStream<TcpStream>, permit: OwnedSemaphorePermit) -> Self {
        Self {
            io: Io::Tls(Box::new(tls)),
            stalled: None,
            _permit: permit,
            _alive: Alive::new(Gauge::Connections),
        }
    }

    /// Whether the TLS handshake has chosen HTTP/2.
    pub(super) fn speaks_http2(&self) -> bool {
        match &self.io {
            Io::Plain(_) => false,
            Io::Tls(tls) => tls.get_ref().1.alpn_protocol() == Some(HTTP2),
        }
    }

    /// Passes the outcome of a write on, unless writes have been waiting for too long.
    fn within_time<T>(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.stalled = None;
            return wrote;
        }
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_STALL_MAX)));
        stalled.as_mut().poll(cx).map(|()| {
            Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the client reads nothing",
            ))
        })
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.io {
            Io::Plain(tcp) => Pin::new(tcp).poll_read(cx, buf),
            Io::Tls(tls) => Pin::new(tls.as_mut()).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = match &mut self.io {
            Io::Plain(tcp) => Pin::new(tcp).poll_write(cx, buf),
            Io::Tls(tls) => Pin::new(tls.as_mut()).poll_write(cx, buf),
        };
        self.within_time(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = match &mut self.io {
            Io::Plain(tcp) => Pin::new(tcp).poll_write_vectored(cx, bufs),
            Io::Tls(tls) => Pin::new(tls.as_mut()).poll_write_vectored(cx, bufs),
        };
        self.within_time(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.io {
            Io::Plain(tcp) => tcp.is_write_vectored(),
            Io::Tls(tls) => tls.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wrote = match &mut self.io {
            Io::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Io::Tls(tls) => Pin::new(tls.as_mut()).poll_flush(cx),
        };
        self.within_time(cx, wrote)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wrote = match &mut self.io {
            Io::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Io::Tls(tls) => Pin::new(tls.as_mut()).poll_shutdown(cx),
        };
        self.within_time(cx, wrote)
    }
}
