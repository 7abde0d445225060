//! Requests to the APIs: to the less loaded of two, to another one when that cannot be reached.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use http::{Request, Response, StatusCode};
use runtime::metrics::{self, Counter};

use super::{ANSWER_MAX, ANSWER_WITH_BODY_MAX, Proxy};
use crate::headers;
use crate::notes::ServedBy;
use crate::refusal::Refusal;
use crate::replay::Replay;
use crate::upstream::Upstream;
use protocol::placement;

/// Servers asked at most for one request, when connections fail.
const ASKED_MAX: usize = 3;

impl Proxy {
    /// An HTTP call to an API.
    pub(super) async fn ask_api(&self, request: Request<Body>) -> Result<Response<Body>, Refusal> {
        self.0.budget.earn();
        let mut replay = Replay::new(request, 0).await?;
        let patience = if replay.has_body() {
            ANSWER_WITH_BODY_MAX
        } else {
            ANSWER_MAX
        };
        let mut why = Refusal::NoServer;
        let mut repeated = false;
        for server in self.candidates() {
            let Some(request) = replay.take() else {
                return Err(why);
            };
            match server.send(request, patience).await {
                // Nobody asked for another protocol.
                Ok(response) if response.status() == StatusCode::SWITCHING_PROTOCOLS => {
                    return Err(Refusal::Broken);
                }
                Ok(mut response) => {
                    headers::for_client(response.headers_mut());
                    response.extensions_mut().insert(ServedBy(server));
                    return Ok(response);
                }
                Err((error, unsent)) => {
                    why = self.refusal(&error);
                    if why.is_no_servers() {
                        return Err(why);
                    }
                    server.metrics().failed();
                    // What nobody has seen may go to another one at once; what somebody may have begun with only once, and
                    // not when it was slowness that ended it.
                    if unsent.is_none() {
                        let again = !repeated && replay.is_idempotent() && why == Refusal::Broken;
                        if !(again && self.0.budget.spend()) {
                            return Err(why);
                        }
                        repeated = true;
                        metrics::inc(Counter::ProxyRetriesTotal);
                    }
                    metrics::inc(Counter::ProxyServersPassedOverTotal);
                    replay.unsent(unsent);
                }
            }
        }
        Err(why)
    }

    /// Whom to ask: the less loaded of two that are drawn, then the others, those that are not ready last.
    fn candidates(&self) -> Vec<Arc<Upstream>> {
        let draw = self.0.drawn.fetch_add(1, Ordering::Relaxed);
        let mut candidates: Vec<_> = self.0.apis.now().all().to_vec();
        // As good as chance, and needs no source of it.
        let number = draw.to_string();
        candidates
            .sort_by_cached_key(|server| (!server.is_ready(), placement::weight(server.name(), &number)));
        if let [first, second, ..] = candidates.as_mut_slice()
            && second.is_ready()
            && second.in_flight() < first.in_flight()
        {
            std::mem::swap(first, second);
        }
        candidates.truncate(ASKED_MAX);
        candidates
    }
}
