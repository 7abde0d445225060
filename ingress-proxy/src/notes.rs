//! What is counted and logged of every request.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use http::request::Parts;
use http::{Method, Response, Version};
use runtime::metrics::{self, Counter, Histogram};
use tokio::time::Instant;

use crate::admit::Asked;
use crate::key::KeyError;
use crate::refusal::Refusal;
use crate::route::Route;
use crate::traces;
use crate::upstream::Upstream;

/// Bytes of a path that are logged.
const PATH_BYTES_MAX: usize = 200;

/// In an answer's extensions: who gave it.
#[derive(Debug, Clone)]
pub(crate) struct ServedBy(pub(crate) Arc<Upstream>);

/// A request, from its head to its answer's head.
pub(crate) struct Noted {
    begun: Instant,
    line: Option<Line>,
}

/// What the access log tells of it. The query stays out: it may hold tokens.
struct Line {
    method: Method,
    path: String,
    client: IpAddr,
    route: &'static str,
    http: Version,
    trace: String,
}

impl Noted {
    /// A request that has come. `logged` says whether there is an access log.
    pub(crate) fn new(parts: &Parts, asked: Asked, logged: bool) -> Self {
        metrics::inc(match (asked.route, asked.socket) {
            (Route::Game, false) => Counter::ProxyGameRequestsTotal,
            (Route::Game, true) => Counter::ProxySocketRequestsTotal,
            (Route::Store, _) => Counter::ProxyStoreRequestsTotal,
            (Route::Page, _) => Counter::ProxyPageRequestsTotal,
        });
        let line = || Line {
            method: parts.method.clone(),
            // A path is ASCII, so it can be cut anywhere.
            path: parts.uri.path().chars().take(PATH_BYTES_MAX).collect(),
            client: asked.client.address,
            route: asked.route.name(),
            http: parts.version,
            trace: traces::id(&parts.headers),
        };
        Self {
            begun: Instant::now(),
            line: logged.then(line),
        }
    }

    /// Its answer.
    pub(crate) fn answered(self, response: &Response<Body>) {
        let took = self.begun.elapsed();
        metrics::record(Histogram::ProxyRequestSeconds, took);
        let served_by = response.extensions().get::<ServedBy>();
        if let Some(ServedBy(server)) = served_by {
            server.metrics().answered();
        }
        let Some(line) = self.line else {
            return;
        };
        tracing::info!(
            target: "access",
            method = %line.method,
            path = line.path,
            status = response.status().as_u16(),
            route = line.route,
            server = served_by.map(|ServedBy(server)| server.name()),
            client = %line.client,
            http = ?line.http,
            trace = line.trace,
            took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        );
    }
}

/// Counts a request that the proxy answers itself.
pub(crate) fn refused(refusal: Refusal) {
    metrics::inc(match refusal {
        Refusal::Key(KeyError::Missing) => Counter::ProxyKeysMissingTotal,
        Refusal::Key(KeyError::Empty) => Counter::ProxyKeysEmptyTotal,
        Refusal::Key(KeyError::Repeated) => Counter::ProxyKeysRepeatedTotal,
        Refusal::Key(KeyError::Malformed) => Counter::ProxyKeysMalformedTotal,
        Refusal::Host
        | Refusal::Target
        | Refusal::TransferCoding
        | Refusal::Method
        | Refusal::Handshake
        | Refusal::HandshakeVersion
        | Refusal::TooLarge(_)
        | Refusal::BrokenBody
        | Refusal::LateBody
        | Refusal::Loop => Counter::ProxyRefusedTotal,
        Refusal::NoServer => Counter::ProxyNoServerTotal,
        Refusal::Busy => Counter::ProxyBusyTotal,
        Refusal::Moving => Counter::ProxyMovingTotal,
        Refusal::Broken => Counter::ProxyBrokenTotal,
        Refusal::Late => Counter::ProxyLateTotal,
    });
}
