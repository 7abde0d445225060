//! Threads that drive connections, each its own ones: for a service that has nothing to do but to move bytes.
//!
//! On one runtime of several threads a connection's task runs wherever there is room, and for each event one thread wakes another to
//! help. When an event costs a few microseconds the waking costs as much: a quarter of a proxy's CPU went into it.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Where connections are driven; clones are the same threads, which end with the last of them.
#[derive(Debug, Clone)]
pub struct Workers(Arc<Threads>);

#[derive(Debug)]
struct Threads {
    runtimes: Vec<Handle>,
    next: AtomicUsize,
    /// Dropped with this, they end the threads.
    _ends: Vec<oneshot::Sender<()>>,
}

impl Workers {
    /// Starts so many threads.
    ///
    /// # Errors
    /// When one cannot be started.
    pub fn start(count: NonZeroUsize) -> io::Result<Self> {
        let (mut runtimes, mut ends) = (Vec::new(), Vec::new());
        for number in 0..count.get() {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let (end, ended) = oneshot::channel::<()>();
            runtimes.push(runtime.handle().clone());
            ends.push(end);
            thread::Builder::new()
                .name(format!("connections-{number}"))
                .spawn(move || {
                    // An error means that nobody has these threads any more, which is what is waited for.
                    let _dropped = runtime.block_on(ended);
                })?;
        }
        Ok(Self(Arc::new(Threads {
            runtimes,
            next: AtomicUsize::new(0),
            _ends: ends,
        })))
    }

    /// The next in turn: connections of one kind cost about the same, and go on for long.
    fn next(&self) -> &Handle {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed) % self.0.runtimes.len();
        // The remainder is below the length.
        &self.0.runtimes[number]
    }

    /// Lets one of them drive `tcp`, and all that `connection` opens for it.
    ///
    /// # Errors
    /// When the socket cannot be watched by another thread: for want of memory or descriptors.
    pub(super) fn drive<F>(&self, tcp: TcpStream, connection: impl FnOnce(TcpStream) -> F) -> io::Result<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let tcp = tcp.into_std()?;
        let worker = self.next();
        let moved = {
            let _within = worker.enter();
            TcpStream::from_std(tcp)?
        };
        worker.spawn(connection(moved));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn connections_are_driven_by_all_of_them_in_turn_and_end_with_them() {
        let workers = Workers::start(NonZeroUsize::new(2).unwrap()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let drivers = Arc::new(Mutex::new(BTreeSet::new()));
        let mut clients = Vec::new();
        for _ in 0..4 {
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            clients.push(client);
            let (tcp, _peer) = listener.accept().await.unwrap();
            let drivers = Arc::clone(&drivers);
            let echo = |mut tcp: TcpStream| async move {
                let mut byte = [0];
                while tcp.read_exact(&mut byte).await.is_ok() {
                    let driver = thread::current().name().map(str::to_owned);
                    drivers.lock().unwrap().insert(driver);
                    tcp.write_all(&byte).await.unwrap();
                }
            };
            workers.drive(tcp, echo).unwrap();
        }
        for client in &mut clients {
            client.write_all(b"x").await.unwrap();
            let mut byte = [0];
            client.read_exact(&mut byte).await.unwrap();
            assert_eq!(byte, *b"x");
        }
        let expected = [Some("connections-0".to_owned()), Some("connections-1".to_owned())];
        assert_eq!(*drivers.lock().unwrap(), BTreeSet::from(expected));
        drop(workers);
        for client in &mut clients {
            let mut rest = Vec::new();
            client.read_to_end(&mut rest).await.unwrap();
            assert!(rest.is_empty());
        }
    }
}
