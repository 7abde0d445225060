//! One request on its way: checked, given its route, passed on, answered.

mod api;
mod game;
mod handshake;

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::header::STRICT_TRANSPORT_SECURITY;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::{LengthLimitError, Limited};
use hyper::body::Body as _;
use hyper::upgrade::OnUpgrade;
use ipnet::IpNet;
use tokio::task::JoinHandle;

use crate::budget::Budget;
use crate::group::Group;
use crate::headers::{self, Client};
use crate::notes::{self, Noted};
use crate::owners::Owners;
use crate::refusal::Refusal;
use crate::route::Route;
use crate::traces::Traces;
use crate::tunnels::Tunnels;
use crate::upstream::UpstreamError;
use crate::{forwarded, http2, key, screen};

/// Time for an answer to a request without a body: the slowest is a list over a full database.
const ANSWER_MAX: Duration = Duration::from_secs(15);
/// Time for an answer to a request with a body, which has to arrive first: a server gives it 60 s.
const ANSWER_WITH_BODY_MAX: Duration = Duration::from_secs(75);

/// What an operator may set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether clients speak TLS to this proxy.
    pub https: bool,
    /// Bytes of a request's body.
    pub body_bytes_max: u64,
    /// Networks of proxies in front of this one, whose word about the client is taken.
    pub trusted: Vec<IpNet>,
    /// What clients are told to do about HTTPS from now on, as `Strict-Transport-Security`.
    pub hsts: Option<HeaderValue>,
    /// Whether every request is logged.
    pub access_log: bool,
}

/// The proxy. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Proxy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    games: Group,
    apis: Group,
    owners: Owners,
    budget: Budget,
    tunnels: Tunnels,
    traces: Traces,
    /// Requests to APIs so far; what the two that are compared are drawn by.
    drawn: AtomicU64,
}

impl Proxy {
    /// A proxy before `games` and `apis`.
    #[must_use]
    pub fn new(games: Group, apis: Group, settings: Settings) -> Self {
        Self(Arc::new(Inner {
            settings,
            tunnels: games.tunnels().clone(),
            games,
            apis,
            owners: Owners::default(),
            budget: Budget::default(),
            traces: Traces::default(),
            drawn: AtomicU64::default(),
        }))
    }

    /// Closes all tunnels, spread over `within`, so that their clients come back one after the other.
    pub fn close_tunnels(&self, within: Duration) -> JoinHandle<()> {
        self.0.tunnels.close_in_time(within)
    }

    async fn answer(self, mut request: Request<Body>) -> Response<Body> {
        let settings = &self.0.settings;
        let peer = request
            .extensions_mut()
            .remove::<ConnectInfo<SocketAddr>>()
            .map_or((Ipv4Addr::UNSPECIFIED, 0).into(), |ConnectInfo(peer)| peer);
        let upgrade = hyper::upgrade::on(&mut request);
        let (mut parts, body) = request.into_parts();
        http2::as_http1(&mut parts);
        let is_trusted = forwarded::is_trusted(peer.ip(), &settings.trusted);
        self.0.traces.adopt(&mut parts.headers, is_trusted);
        let client = forwarded::client(peer, settings.https, &parts.headers, &settings.trusted);
        let route = Route::of(parts.uri.path());
        let socket = screen::wants_socket(&parts.headers);
        let noted = Noted::new(&parts, route, client.address, socket, settings.access_log);
        let passed = match screen::check(&parts) {
            Ok(()) => self.pass_on(parts, body, upgrade, route, client).await,
            Err(refusal) => Err(refusal),
        };
        let mut response = passed.unwrap_or_else(|refusal| {
            notes::refused(refusal);
            refusal.into_response()
        });
        if let Some(hsts) = settings.hsts.as_ref().filter(|_| client.https) {
            response
                .headers_mut()
                .insert(STRICT_TRANSPORT_SECURITY, hsts.clone());
        }
        noted.answered(&response);
        response
    }

    async fn pass_on(
        &self,
        mut parts: Parts,
        body: Body,
        upgrade: OnUpgrade,
        route: Route,
        client: Client,
    ) -> Result<Response<Body>, Refusal> {
        let has_body = !body.is_end_stream();
        let body = self.limited(body)?;
        match route {
            Route::Game => {
                let code = key::parse(parts.uri.query().unwrap_or_default()).map_err(Refusal::Key)?;
                if screen::is_handshake(&parts, has_body)? {
                    self.tunnel(code, parts, client, upgrade).await
                } else {
                    prepare(&mut parts, route, client);
                    self.ask_game(code, Request::from_parts(parts, body)).await
                }
            }
            Route::Store | Route::Page => {
                prepare(&mut parts, route, client);
                self.ask_api(Request::from_parts(parts, body)).await
            }
        }
    }

    fn limited(&self, body: Body) -> Result<Body, Refusal> {
        let bytes_max = self.0.settings.body_bytes_max;
        let announced = body.size_hint();
        if announced.lower() > bytes_max {
            return Err(Refusal::TooLarge(bytes_max));
        }
        if announced.exact().is_some() {
            return Ok(body);
        }
        Ok(Body::new(Limited::new(
            body,
            usize::try_from(bytes_max).unwrap_or(usize::MAX),
        )))
    }

    /// What the client is told when a server's answer did not come.
    fn refusal(&self, error: &UpstreamError) -> Refusal {
        if is_too_large(error) {
            return Refusal::TooLarge(self.0.settings.body_bytes_max);
        }
        match error {
            UpstreamError::Connect(..) => Refusal::NoServer,
            UpstreamError::Broken(_) => Refusal::Broken,
            UpstreamError::Late => Refusal::Late,
        }
    }
}

/// Whether it was the body's own limit that ended the request.
fn is_too_large(error: &UpstreamError) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Turns a client's request into one for a server.
fn prepare(parts: &mut Parts, route: Route, client: Client) {
    headers::for_server(&mut parts.headers, client, parts.version);
    parts.uri = server_uri(&parts.uri, route);
    parts.version = http::Version::HTTP_11;
}

/// The path as the server knows it, without scheme and authority.
fn server_uri(uri: &Uri, route: Route) -> Uri {
    let path = match route {
        Route::Game => crate::route::game_path(uri.path()),
        Route::Store | Route::Page => uri.path(),
    };
    let whole = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    // A part of a valid path is a valid path.
    whole
        .parse::<PathAndQuery>()
        .map_or_else(|_| Uri::default(), Uri::from)
}

impl tower::Service<Request<Body>> for Proxy {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answering = self.clone().answer(request);
        Box::pin(async move { Ok(answering.await) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_sees_its_own_path_and_the_query_as_it_came() {
        for (uri, route, seen) in [
            (
                "/game/watch?g=K7Q2MX&a=%20;b",
                Route::Game,
                "/watch?g=K7Q2MX&a=%20;b",
            ),
            ("/game?g=K7Q2MX", Route::Game, "/?g=K7Q2MX"),
            ("/game/watch?", Route::Game, "/watch?"),
            (
                "http://quiz.example/game/%2e%2e/x?g=K7Q2MX",
                Route::Game,
                "/%2e%2e/x?g=K7Q2MX",
            ),
            ("/store/quizzes?after=1", Route::Store, "/store/quizzes?after=1"),
            ("/", Route::Page, "/"),
        ] {
            assert_eq!(server_uri(&uri.parse().unwrap(), route).to_string(), seen);
        }
    }
}
