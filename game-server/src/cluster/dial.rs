//! How a server reaches another one: over TCP, unless the simulation carries the bytes.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A server whose machine is gone ends no connection. A client notices and comes back; one that went at the same moment does not, and its
/// tunnel would keep two places for ever. So a silent connection is asked after, and given up after a minute and a half.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(60);
/// Time between two such questions.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(10);
/// Questions without an answer.
const KEEPALIVES: u32 = 3;

/// Bytes both ways between two servers.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection on its way.
pub type DialFuture = Pin<Box<dyn Future<Output = io::Result<Box<dyn Duplex>>> + Send>>;

/// Opens connections to other servers.
pub trait Dialer: Send + Sync + 'static {
    /// Connects to `address`, a `host:port`. [`io::ErrorKind::ConnectionRefused`] says that nobody listens there: it proves that
    /// the server is gone. Whoever calls it sets the bound of its time.
    fn dial(&self, address: &str) -> DialFuture;
}

/// TCP, as every server but a simulated one uses it.
#[derive(Debug, Clone, Copy, Default)]
pub struct TcpDialer;

impl Dialer for TcpDialer {
    fn dial(&self, address: &str) -> DialFuture {
        let address = address.to_owned();
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            prepare(&stream)?;
            Ok(Box::new(stream) as Box<dyn Duplex>)
        })
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE_AFTER)
        .with_interval(KEEPALIVE_EVERY)
        .with_retries(KEEPALIVES);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_machine_that_is_gone_is_noticed_though_nobody_speaks() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        prepare(&stream).unwrap();
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap(), KEEPALIVE_AFTER);
        assert_eq!(socket.tcp_keepalive_retries().unwrap(), KEEPALIVES);
    }
}
