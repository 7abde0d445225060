//! A liveness probe as a cluster's: one GET with a short limit, well when the status says so.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::measure::FaultKind;

/// An answer takes at most this time: as long as a probe's default in Kubernetes.
const LIMIT: Duration = Duration::from_secs(1);
/// Bytes of the answer that are looked at: the status line begins with them.
const STATUS: &[u8] = b"HTTP/1.1 2";

/// Whether `path` at `address` answers with success in time.
pub(super) fn is_well(address: SocketAddr, path: &str) -> bool {
    ask(address, path).unwrap_or(false)
}

/// Whether a probe of `path` counts as missed. One that could not be sent, for want of a port or descriptor of our own, says
/// nothing about the server.
pub(super) fn is_missed(address: SocketAddr, path: &str) -> bool {
    match ask(address, path) {
        Ok(well) => !well,
        Err(why) => !matches!(
            FaultKind::of_connect(&why),
            FaultKind::NoPort | FaultKind::NoDescriptor
        ),
    }
}

fn ask(address: SocketAddr, path: &str) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&address, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut head = [0; STATUS.len()];
    stream.read_exact(&mut head)?;
    Ok(head == STATUS)
}
