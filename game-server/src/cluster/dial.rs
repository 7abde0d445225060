//! How a server reaches another one: over TCP, unless the simulation carries the bytes.

use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

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
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Duplex>)
        })
    }
}
