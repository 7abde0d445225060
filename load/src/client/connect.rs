//! Connecting without waiting, from an address of this machine's that the caller may choose: servers tell clients apart by theirs.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV4};
use std::os::fd::AsRawFd as _;

use mio::net::TcpStream;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, SockaddrStorage, bind, connect as connect_socket,
    setsockopt, socket, sockopt,
};

/// Begins to connect to `address`, from `own` if it is given.
///
/// # Errors
/// No descriptor, no port, or no such address.
pub(super) fn connect(address: SocketAddr, own: Option<IpAddr>) -> io::Result<TcpStream> {
    match own {
        None => TcpStream::connect(address),
        Some(IpAddr::V4(own)) => connect_from(SocketAddrV4::new(own, 0), address),
        Some(IpAddr::V6(_)) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// The port is chosen when the other side is known, so that each address has all ports for each server.
fn connect_from(own: SocketAddrV4, address: SocketAddr) -> io::Result<TcpStream> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&socket, sockopt::IpBindAddressNoPort, &true)?;
    bind(socket.as_raw_fd(), &SockaddrIn::from(own))?;
    match connect_socket(socket.as_raw_fd(), &SockaddrStorage::from(address)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(why) => return Err(why.into()),
    }
    Ok(TcpStream::from_std(std::net::TcpStream::from(socket)))
}
