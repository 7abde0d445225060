//! One request on its way: checked, given its route, passed on, answered.

mod api;
mod game;
mod handshake;
mod share;

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
use http::{HeaderValue, Request, Response};
use http_body_util::{LengthLimitError, Limited};
use hyper::body::Body as _;
use hyper::upgrade::OnUpgrade;
use ipnet::IpNet;
use runtime::http::Lane;
use tokio::task::JoinHandle;

use crate::admit::{self, Asked, To};
use crate::budget::Budget;
use crate::group::Group;
use crate::notes::{self, Noted};
use crate::owners::Owners;
use crate::refusal::Refusal;
use crate::traces::Traces;
use crate::tunnels::Tunnels;
use crate::upstream::UpstreamError;
use share::Share;

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
    /// Requests of HTTP/2 that are answered at once beside one of each connection, all connections together.
    pub http2_requests_max: usize,
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
    share: Share,
    traces: Traces,
    /// Requests to APIs so far; what the two that are compared are drawn by.
    drawn: AtomicU64,
}

impl Proxy {
    /// A proxy before `games` and `apis`.
    #[must_use]
    pub fn new(games: Group, apis: Group, settings: Settings) -> Self {
        Self(Arc::new(Inner {
            share: Share::new(settings.http2_requests_max),
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
        let (https, trusted) = (settings.https, &settings.trusted);
        let lane = parts.extensions.remove::<Lane>();
        let asked = admit::look(&mut parts, peer, https, trusted, &self.0.traces);
        let noted = Noted::new(&parts, asked, settings.access_log);
        let passed = self.pass_on(parts, body, upgrade, asked, lane).await;
        let mut response = passed.unwrap_or_else(|refusal| {
            notes::refused(refusal);
            refusal.into_response()
        });
        if let Some(hsts) = settings.hsts.as_ref().filter(|_| asked.client.https) {
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
        asked: Asked,
        lane: Option<Lane>,
    ) -> Result<Response<Body>, Refusal> {
        let to = admit::admit(&mut parts, asked, !body.is_end_stream())?;
        let body = self.limited(body)?;
        let place = match lane {
            Some(lane) => Some(self.0.share.take(&lane).await?),
            None => None,
        };
        let response = match to {
            To::Socket(code) => self.tunnel(code, parts, upgrade).await,
            To::Game(code) => self.ask_game(code, Request::from_parts(parts, body)).await,
            To::Api => self.ask_api(Request::from_parts(parts, body)).await,
        }?;
        Ok(match place {
            Some(place) => share::held(response, place),
            None => response,
        })
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
            UpstreamError::Exhausted(error) => {
                tracing::error!(%error, "this process can open no more connections");
                Refusal::Busy
            }
            // What hyper calls the user's is the body, which came from the client.
            UpstreamError::Broken(error) if error.is_user() => Refusal::BrokenBody,
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
