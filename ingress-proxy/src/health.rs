//! Asking servers whether they are ready, on their admin listeners.
//!
//! A server that says no (it drains, it starts) is asked last from then on; one that says nothing twice as well. The first yes
//! brings it back. What connections of clients meet is counted by [`Upstream`] itself. Readiness only orders servers: an
//! owner is followed wherever it is.

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

use crate::upstream::Upstream;

/// How often a server is asked.
const EVERY: Duration = Duration::from_secs(1);
/// Time for its answer.
const PATIENCE: Duration = Duration::from_millis(900);
/// Silences in a row until it counts as gone: one may be a lost packet.
const SILENCES_MAX: u32 = 2;

/// What a server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Yes,
    No,
    Nothing,
}

/// Asks `server` for as long as somebody else holds it; ends at once when it has no port to ask at.
pub(crate) async fn watch(server: Arc<Upstream>) {
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
    let mut silences = 0;
    loop {
        due.tick().await;
        let said = within(PATIENCE, ask(address)).await;
        let Some(server) = server.upgrade() else {
            return;
        };
        if let Some(ready) = judge(said, &mut silences)
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

/// What is known after one more answer; none when it is too early to say.
fn judge(said: Said, silences: &mut u32) -> Option<bool> {
    match said {
        Said::Yes => {
            *silences = 0;
            Some(true)
        }
        Said::No => {
            *silences = 0;
            Some(false)
        }
        Said::Nothing => {
            *silences = silences.saturating_add(1);
            (*silences >= SILENCES_MAX).then_some(false)
        }
    }
}

async fn within(patience: Duration, asking: impl Future<Output = Option<StatusCode>>) -> Said {
    match tokio::time::timeout(patience, asking).await {
        Ok(Some(StatusCode::OK)) => Said::Yes,
        Ok(Some(_)) => Said::No,
        Ok(None) | Err(_) => Said::Nothing,
    }
}

async fn ask(address: SocketAddr) -> Option<StatusCode> {
    let stream = TcpStream::connect(address).await.ok()?;
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
        let mut silences = 0;
        let mut said = |said| judge(said, &mut silences);
        assert_eq!(said(Said::Nothing), None);
        assert_eq!(said(Said::Nothing), Some(false));
        assert_eq!(said(Said::Nothing), Some(false));
        assert_eq!(said(Said::Yes), Some(true));
        assert_eq!(said(Said::Nothing), None);
        assert_eq!(said(Said::No), Some(false));
        assert_eq!(said(Said::Nothing), None);
        assert_eq!(said(Said::Yes), Some(true));
    }
}
