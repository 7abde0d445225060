//! Asking servers whether they are ready, on their admin listeners.
//!
//! A server that says no (it drains, it starts) is asked last from then on; one that says nothing twice as well. The first yes
//! brings it back. What connections of clients meet is counted by [`Upstream`] itself. Readiness only orders servers: an
//! owner is followed wherever it is.
//!
//! A server that could be reached and cannot any more, for as long as others wait before they take its games, is gone with its
//! machine or its network. Its tunnels are closed then: their clients would learn of it only by asking into the silence themselves.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::MissedTickBehavior;

use crate::tunnels::Tunnels;
use crate::upstream::{Upstream, is_ours};

/// How often a server is asked.
const EVERY: Duration = Duration::from_secs(1);
/// Time for its answer.
const PATIENCE: Duration = Duration::from_millis(900);
/// Silences in a row until it counts as gone: one may be a lost packet.
const SILENCES_MAX: u32 = 2;

/// Times in a row that a server cannot even be connected to until its tunnels are given up: the life of a game server's lease, after
/// which others take its games over. A server that is only slow takes connections.
const UNREACHED_MAX: u32 = 5;
/// Its tunnels are closed over this time, so that their clients do not all come back at once.
const CLOSE_WITHIN: Duration = Duration::from_millis(500);

/// What a server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Yes,
    No,
    Nothing,
    /// It cannot be connected to.
    Unreached,
}

/// What is known of a server by what it said.
#[derive(Debug, Default)]
struct Judge {
    silences: u32,
    unreached: u32,
    /// It has been reached since its tunnels were given up last, or ever.
    was_reached: bool,
}

/// Asks `server` for as long as somebody else holds it; ends at once when it has no port to ask at.
pub(crate) async fn watch(server: Arc<Upstream>, tunnels: Tunnels) {
    let Some(port) = server.member().probe_port else {
        return;
    };
    let address = SocketAddr::new(server.member().address.ip(), port);
    let server = {
        let held = Arc::downgrade(&server);
        drop(server);
        held
    };
    let mut due = tokio::time::interval(EVERY);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut judge = Judge::default();
    loop {
        due.tick().await;
        let heard = hear(address).await;
        let Some(server) = server.upgrade() else {
            return;
        };
        let Some(said) = heard else {
            // Nothing was learnt. To take all servers for gone would close every tunnel there is.
            continue;
        };
        let ready = judge.readiness_after(said);
        server.set_silent(judge.silences >= SILENCES_MAX);
        if judge.gives_up() {
            tracing::warn!(server = server.name(), "unreachable; its tunnels are closed");
            // In the background, as it is asked again meanwhile.
            tokio::spawn(tunnels.clone().close_of(Arc::clone(&server), CLOSE_WITHIN));
        }
        if let Some(ready) = ready
            && ready != server.says_ready()
        {
            if ready {
                tracing::info!(server = server.name(), "ready");
            } else {
                tracing::warn!(server = server.name(), ?said, "not ready");
            }
            server.set_ready(ready);
        }
    }
}

impl Judge {
    /// Whether it is ready after one more answer; none when it is too early to say.
    fn readiness_after(&mut self, said: Said) -> Option<bool> {
        match said {
            Said::Yes | Said::No => {
                *self = Self {
                    was_reached: true,
                    ..Self::default()
                };
                Some(said == Said::Yes)
            }
            Said::Nothing | Said::Unreached => {
                self.silences = self.silences.saturating_add(1);
                self.unreached = match said {
                    Said::Unreached => self.unreached.saturating_add(1),
                    Said::Yes | Said::No | Said::Nothing => 0,
                };
                (self.silences >= SILENCES_MAX).then_some(false)
            }
        }
    }

    /// Whether its tunnels are to be given up now; once for each time that it goes.
    fn gives_up(&mut self) -> bool {
        self.unreached >= UNREACHED_MAX && std::mem::take(&mut self.was_reached)
    }
}

/// What the server says that listens at `address`; none when this process cannot ask.
async fn hear(address: SocketAddr) -> Option<Said> {
    match tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => Some(within(PATIENCE, ask(address, stream)).await),
        Ok(Err(error)) => failure(&error),
        Err(_) => Some(Said::Unreached),
    }
}

/// What a connection that fails says of the server: nothing when it is this process that has no descriptor left.
fn failure(error: &std::io::Error) -> Option<Said> {
    (!is_ours(error)).then_some(Said::Unreached)
}

async fn within(patience: Duration, asking: impl Future<Output = Option<StatusCode>>) -> Said {
    match tokio::time::timeout(patience, asking).await {
        Ok(Some(StatusCode::OK)) => Said::Yes,
        Ok(Some(_)) => Said::No,
        Ok(None) | Err(_) => Said::Nothing,
    }
}

async fn ask(address: SocketAddr, stream: TcpStream) -> Option<StatusCode> {
    let (mut sender, connection) = http1::handshake::<_, Empty<Bytes>>(TokioIo::new(stream))
        .await
        .ok()?;
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = http::Uri::from_static("/ready");
    let headers = request.headers_mut();
    headers.insert(header::HOST, HeaderValue::try_from(address.to_string()).ok()?);
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    let answer = sender.send_request(request);
    tokio::pin!(answer, connection);
    tokio::select! {
        answer = &mut answer => answer.ok().map(|answer| answer.status()),
        // The end of the connection comes with the answer, or instead of it.
        _ = &mut connection => answer.await.ok().map(|answer| answer.status()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_and_two_silences_count_and_a_yes_brings_it_back() {
        let mut judge = Judge::default();
        let mut said = |said| judge.readiness_after(said);
        assert_eq!(said(Said::Nothing), None);
        assert_eq!(said(Said::Nothing), Some(false));
        assert_eq!(said(Said::Nothing), Some(false));
        assert_eq!(said(Said::Yes), Some(true));
        assert_eq!(said(Said::Nothing), None);
        assert_eq!(said(Said::No), Some(false));
        assert_eq!(said(Said::Nothing), None);
        assert_eq!(said(Said::Yes), Some(true));
    }

    #[test]
    fn a_want_of_descriptors_says_nothing_of_a_server() {
        let refused = std::io::ErrorKind::ConnectionRefused.into();
        assert_eq!(failure(&refused), Some(Said::Unreached));
        let no_descriptor = std::io::Error::from_raw_os_error(24);
        assert_eq!(failure(&no_descriptor), None);
    }

    #[test]
    fn tunnels_are_given_up_once_and_only_of_a_server_that_was_reached() {
        let mut judge = Judge::default();
        let mut after = |said, times: u32| {
            let gives_up = |_| {
                judge.readiness_after(said);
                judge.gives_up()
            };
            (0..times).map(gives_up).filter(|gives_up| *gives_up).count()
        };
        // The port for questions is closed, and the server well.
        assert_eq!(after(Said::Unreached, 20), 0);
        assert_eq!(after(Said::Yes, 1), 0);
        assert_eq!(after(Said::Nothing, 20), 0, "slow, or stopped");
        assert_eq!(after(Said::Unreached, UNREACHED_MAX - 1), 0);
        assert_eq!(after(Said::Unreached, 20), 1);
        assert_eq!(after(Said::No, 1), 0);
        assert_eq!(after(Said::Unreached, UNREACHED_MAX), 1);
    }
}
