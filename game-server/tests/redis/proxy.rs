//! A small TCP proxy that does to a connection what networks do.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// What happens to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weather {
    /// They pass.
    Fair,
    /// Answers come late by this much.
    Slow(Duration),
    /// Requests pass, answers vanish.
    AnswersLost,
}

/// A proxy to a server on this machine, gone with the value.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    weather: watch::Sender<Weather>,
    /// Connections older than this count are cut.
    cuts: watch::Sender<u64>,
    /// Bytes of answers that vanished.
    lost: watch::Sender<usize>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own_port = listener.local_addr().unwrap().port();
        let (weather, weather_seen) = watch::channel(Weather::Fair);
        let (cuts, cuts_seen) = watch::channel(0);
        let lost = watch::Sender::new(0);
        let losing = lost.clone();
        let accepting = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else {
                    continue;
                };
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                let mut cuts = cuts_seen.clone();
                cuts.mark_unchanged();
                let (weather, lost) = (weather_seen.clone(), losing.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        () = tunnel(client, server, weather, lost) => {}
                        _ = cuts.changed() => {}
                    }
                });
            }
        });
        Self {
            port: own_port,
            weather,
            cuts,
            lost,
            accepting,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }

    /// Waits until an answer has vanished, of all since the proxy began.
    pub(crate) async fn until_lost(&self) {
        self.lost.subscribe().wait_for(|lost| *lost > 0).await.unwrap();
    }

    /// Closes all connections.
    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn tunnel(
    client: TcpStream,
    server: TcpStream,
    weather: watch::Receiver<Weather>,
    lost: watch::Sender<usize>,
) {
    let (client_in, client_out) = client.into_split();
    let (server_in, server_out) = server.into_split();
    let (_, fair) = watch::channel(Weather::Fair);
    tokio::select! {
        () = copy(client_in, server_out, fair, lost.clone()) => {}
        () = copy(server_in, client_out, weather, lost) => {}
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    weather: watch::Receiver<Weather>,
    lost: watch::Sender<usize>,
) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match from.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(read) => read,
        };
        let now = *weather.borrow();
        match now {
            Weather::Fair => {}
            Weather::Slow(by) => sleep(by).await,
            Weather::AnswersLost => {
                lost.send_modify(|lost| *lost += read);
                continue;
            }
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
