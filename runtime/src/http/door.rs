//! Opening and closing a listener without turning anybody away, also when another process takes over at the same address.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::Instant;

/// Connections that may wait to be accepted: all clients of a process, who come back in the same moment when their network
/// does, or when the process that they were at has died. Who finds no room is dropped, and the client's system tries again
/// after 1 s and after 3 s: of 9,300 clients that came to two processes at once, 8,000 attempts were lost with the 1,024 that
/// are usual. Linux allows no more than `net.core.somaxconn`, 4,096 unless raised.
const BACKLOG: u32 = 16_384;
/// How long a listener stays open once new connections go to its successor: those whose handshake has begun here need a round
/// trip, on a Slow 3G line 2 s.
const HANDOVER: Duration = Duration::from_secs(2);

/// Binds a listener. With `shared`, another process may listen at the same address at the same time: a new release starts
/// before the old one stops, and nobody finds the door closed. Two at once, no more.
///
/// # Errors
/// When the address cannot be bound.
pub fn bind(address: SocketAddr, shared: bool) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // As `TcpListener::bind` does: connections of the process before may still be closing.
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(shared)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Closes a listener once everybody who was waiting to be accepted has been given to `admit`: closing resets the others.
pub(super) async fn close(listener: TcpListener, shared: bool, mut admit: impl FnMut(TcpStream, SocketAddr)) {
    if shared && send_to_successor(&listener) {
        let end = Instant::now() + HANDOVER;
        while let Ok(Ok((tcp, peer))) = tokio::time::timeout_at(end, listener.accept()).await {
            admit(tcp, peer);
        }
    }
    // The system is asked itself, because the runtime may not have heard of the last ones yet.
    let Ok(listener) = listener.into_std() else {
        return;
    };
    // No more than the system holds, or a flood would keep the listener open.
    for _ in 0..BACKLOG {
        let Ok((tcp, peer)) = listener.accept() else {
            return;
        };
        let usable = tcp.set_nonblocking(true).and_then(|()| TcpStream::from_std(tcp));
        if let Ok(tcp) = usable {
            admit(tcp, peer);
        }
    }
}

/// Makes the system give new connections to the listener that was bound second. With one alone, or when this is the second,
/// nothing changes. Whether the system can do that.
#[cfg(target_os = "linux")]
fn send_to_successor(listener: &TcpListener) -> bool {
    use nix::libc::{BPF_K, BPF_RET, sock_filter, sock_fprog};
    use nix::sys::socket::{setsockopt, sockopt::AttachReusePortCbpf};

    /// Position among the listeners at the address, from 0 in the order of binding.
    const SECOND: u32 = 1;
    let Ok(code) = u16::try_from(BPF_RET | BPF_K) else {
        return false;
    };
    // One instruction: return the position. One that does not exist leaves the choice as it was.
    let mut instruction = sock_filter {
        code,
        jt: 0,
        jf: 0,
        k: SECOND,
    };
    let program = sock_fprog {
        len: 1,
        filter: &raw mut instruction,
    };
    setsockopt(listener, AttachReusePortCbpf, &program).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn send_to_successor(_listener: &TcpListener) -> bool {
    false
}
