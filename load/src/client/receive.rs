//! Reading a socket together with the moment at which the kernel had the bytes, so that a busy harness does not make the
//! servers look slow.

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

use mio::net::TcpStream;
use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;

use crate::sys::clock::{self, Stamp, WallOffset};

/// Buffers for reading, shared by all sockets.
#[derive(Debug)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    control: Vec<u8>,
    offset: WallOffset,
    /// Keeps the kernel stamping: it begins a moment after the first socket asked and ends with the last, so without this
    /// one the first reads of a run would have no stamp. Held for its drop; none where it cannot be had.
    _keeper: Option<UdpSocket>,
    /// Reads without a stamp of the kernel; the harness's own clock stands in.
    pub(super) unstamped: u64,
    /// Reads with one.
    pub(super) stamped: u64,
}

/// Bytes that were read.
#[derive(Debug)]
pub(super) struct Received<'a> {
    /// The bytes; none at the end of the stream.
    pub(super) bytes: &'a [u8],
    /// When the kernel had the last of them.
    pub(super) arrived: Stamp,
    /// Whether more may be waiting.
    pub(super) filled: bool,
}

/// Asks the kernel to stamp what arrives at `stream`.
pub(super) fn ask_for_stamps(stream: &TcpStream) -> io::Result<()> {
    Ok(setsockopt(stream, sockopt::ReceiveTimestampns, &true)?)
}

fn keeper() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    Ok(socket)
}

impl Inbox {
    /// Buffers of which the larger holds `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            bytes: vec![0; bytes],
            control: cmsg_space!(TimeSpec),
            offset: WallOffset::now(),
            _keeper: keeper().ok(),
            unstamped: 0,
            stamped: 0,
        }
    }

    /// Looks at both clocks again: the wall clock, which the kernel stamps with, may be slewed. The Unix second at `now`.
    pub(super) fn look_at_clocks(&mut self, now: Stamp) -> u64 {
        self.offset = WallOffset::now();
        self.offset.unix_s(now)
    }

    /// Reads once.
    pub(super) fn receive(&mut self, stream: &TcpStream) -> io::Result<Received<'_>> {
        let Self {
            bytes,
            control,
            offset,
            unstamped,
            stamped,
            ..
        } = self;
        let (n, stamp) = {
            let mut parts = [IoSliceMut::new(bytes)];
            let message = recvmsg::<()>(stream.as_raw_fd(), &mut parts, Some(control), MsgFlags::empty())?;
            let stamp = message.cmsgs().ok().and_then(|mut all| {
                all.find_map(|one| {
                    if let ControlMessageOwned::ScmTimestampns(at) = one {
                        Some(at)
                    } else {
                        None
                    }
                })
            });
            (message.bytes, stamp)
        };
        let now = clock::now();
        let arrived = match stamp.and_then(|at| offset.stamp(at.tv_sec(), at.tv_nsec())) {
            Some(at) => {
                *stamped += 1;
                // A step of the wall clock must not put an arrival into the future.
                at.min(now)
            }
            None => {
                // The end of a stream has no bytes and no stamp.
                *unstamped += u64::from(n > 0);
                now
            }
        };
        Ok(Received {
            bytes: &bytes[..n],
            arrived,
            filled: n == bytes.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_kernels_stamp_is_when_the_bytes_came_and_not_when_they_were_read() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("port");
        let connected =
            std::net::TcpStream::connect(listener.local_addr().expect("address")).expect("connected");
        let (mut peer, _) = listener.accept().expect("accepted");
        let stream = TcpStream::from_std(connected);
        ask_for_stamps(&stream).expect("option");
        // The first stamp of a machine may be missing: the kernel turns stamping on a moment after it was asked to.
        let mut inbox = Inbox::new(64);
        let mut found = None;
        for _attempt in 0..100 {
            let before = clock::now();
            peer.write_all(b"x").expect("written");
            let sent = clock::now();
            clock::pause_ms(5);
            inbox.look_at_clocks(sent);
            let received = inbox.receive(&stream).expect("read");
            assert_eq!(received.bytes, b"x");
            assert!(
                received.arrived.plus_ms(1) >= before,
                "arrived before it was sent"
            );
            if received.arrived < sent.plus_ms(3) {
                found = Some(received.arrived);
                break;
            }
        }
        assert!(found.is_some(), "no stamp of the kernel: {inbox:?}");
    }
}
