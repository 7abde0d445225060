//! A server that echoes, and the clients before it: bare sockets and one frame, so that what is measured is not ours.

use std::io::Result;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The example of RFC 6455: any key would do.
const ASK: &[u8] = b"GET /game/watch?g=K7Q2MX HTTP/1.1\r\nhost: quiz.example\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const SWITCH: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
const READY: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
/// Bytes of a message: a frame for a class.
const MESSAGE_BYTES: usize = 250;
/// Handshakes at once.
const AT_ONCE: usize = 32;
/// Tasks that send messages in turn, each on tunnels of its own.
const SENDERS: u32 = 100;
/// Longest head that is read.
const HEAD_BYTES_MAX: usize = 4 * 1024;

/// The server, on a thread of its own.
pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
}

impl Backend {
    pub(crate) fn start() -> Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        std::thread::spawn(move || runtime.block_on(serve(listener)));
        Ok(Self { address })
    }
}

async fn serve(listener: std::net::TcpListener) -> Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(echo(stream));
    }
}

/// Heads are answered, whatever they are; after an upgrade everything comes back.
async fn echo(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let head = head(&mut stream).await?;
        // Health checks and calls.
        if !head
            .to_ascii_lowercase()
            .windows(18)
            .any(|w| w == b"upgrade: websocket")
        {
            stream.write_all(READY).await?;
            continue;
        }
        stream.write_all(SWITCH).await?;
        let mut buffer = [0; MESSAGE_BYTES];
        loop {
            let read = stream.read(&mut buffer).await?;
            if read == 0 {
                return Ok(());
            }
            stream.write_all(buffer.get(..read).unwrap_or_default()).await?;
        }
    }
}

async fn head(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 || head.len() > HEAD_BYTES_MAX {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}

/// A handshake that has to be accepted.
pub(crate) async fn shake(stream: &mut TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    stream.write_all(ASK).await?;
    if head(stream).await?.starts_with(b"HTTP/1.1 101") {
        Ok(())
    } else {
        Err(std::io::ErrorKind::ConnectionRefused.into())
    }
}

/// What became of messages.
pub(crate) struct Delays {
    /// The 95th percentile of the time to their echoes.
    pub(crate) p95: Duration,
    /// How many there were, echoes included.
    pub(crate) messages: u32,
    /// Still open.
    pub(crate) tunnels: Vec<TcpStream>,
}

/// What is done to each proxy.
pub(crate) struct Load {
    pub(crate) pairs: u32,
    pub(crate) rate: u32,
    pub(crate) long: Duration,
}

impl Load {
    pub(crate) async fn tunnels(&self, at: SocketAddr) -> Result<Vec<TcpStream>> {
        let mut tunnels = Vec::new();
        self.more_tunnels(at, &mut tunnels, self.pairs).await?;
        Ok(tunnels)
    }

    /// Opens `count` more.
    pub(crate) async fn more_tunnels(
        &self,
        at: SocketAddr,
        tunnels: &mut Vec<TcpStream>,
        count: u32,
    ) -> Result<()> {
        for _ in 0..count {
            let mut stream = TcpStream::connect(at).await?;
            shake(&mut stream).await?;
            tunnels.push(stream);
        }
        Ok(())
    }

    /// Sends messages at the rate, each on the next tunnel, and measures how long their echoes take.
    pub(crate) async fn delays(&self, mut tunnels: Vec<TcpStream>) -> Result<Delays> {
        let seconds = u32::try_from(self.long.as_secs()).unwrap_or(u32::MAX);
        let per_sender = usize::try_from(self.rate / SENDERS * seconds).unwrap_or(usize::MAX);
        let every = Duration::from_secs(1) * SENDERS / self.rate;
        let count = usize::try_from(SENDERS).unwrap_or(usize::MAX);
        let share = tunnels.len().div_ceil(count).max(1);
        let mut senders = JoinSet::new();
        // One after the other, or all of them would send at once, again and again.
        let mut begin = Instant::now() + every;
        while !tunnels.is_empty() {
            let own = tunnels.split_off(tunnels.len().saturating_sub(share));
            senders.spawn(send(own, begin, every, per_sender));
            begin += every / SENDERS;
        }
        let mut all = Vec::new();
        while let Some(delays) = senders.join_next().await {
            let (delays, own) = delays.map_err(std::io::Error::other)??;
            all.extend(delays);
            tunnels.extend(own);
        }
        all.sort_unstable();
        Ok(Delays {
            p95: all.get(all.len() * 95 / 100).copied().unwrap_or_default(),
            messages: u32::try_from(2 * all.len()).unwrap_or(u32::MAX),
            tunnels,
        })
    }

    /// Connects, shakes hands and leaves, again and again; how often that went well.
    pub(crate) async fn handshakes(&self, at: SocketAddr, long: Duration) -> Result<u32> {
        let (count, over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let mut clients = JoinSet::new();
        for _ in 0..AT_ONCE {
            let (count, over) = (Arc::clone(&count), Arc::clone(&over));
            clients.spawn(async move {
                while !over.load(Ordering::Relaxed) {
                    let mut stream = TcpStream::connect(at).await?;
                    shake(&mut stream).await?;
                    // Reset, or this end would wait in TIME_WAIT and run out of ports.
                    stream.set_zero_linger()?;
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Result::Ok(())
            });
        }
        let end = Instant::now() + long;
        tokio::time::sleep_until(end).await;
        let shaken = count.load(Ordering::Relaxed);
        over.store(true, Ordering::Relaxed);
        while let Some(ended) = clients.join_next().await {
            ended.map_err(std::io::Error::other)??;
        }
        Ok(shaken)
    }
}

/// Sends `count` messages from `begin` on, one after the other's echo at the earliest, and returns how long each took.
async fn send(
    mut tunnels: Vec<TcpStream>,
    begin: Instant,
    every: Duration,
    count: usize,
) -> Result<(Vec<Duration>, Vec<TcpStream>)> {
    let (mut delays, many) = (Vec::new(), tunnels.len());
    let mut due = begin;
    for number in 0..count {
        // When the echo before came too late, from when this one was due, so that it pays for that; else from when it is sent, since it
        // is no proxy's fault how late a timer fires.
        let sent = if Instant::now() >= due {
            due
        } else {
            tokio::time::sleep_until(due).await;
            Instant::now()
        };
        let Some(stream) = tunnels.get_mut(number % many) else {
            break;
        };
        let mut message = [0x55; MESSAGE_BYTES];
        stream.write_all(&message).await?;
        stream.read_exact(&mut message).await?;
        delays.push(sent.elapsed());
        due += every;
    }
    Ok((delays, tunnels))
}
