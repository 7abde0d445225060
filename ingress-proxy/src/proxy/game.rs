//! Requests about one game: to whoever holds it, to the next in order when a server cannot be reached, and where a 421 points.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use protocol::ids::GameCode;
use runtime::metrics::{self, Counter};
use tokio::time::Instant;

use super::{ANSWER_MAX, ANSWER_WITH_BODY_MAX, Proxy};
use crate::course::Course;
use crate::headers::{self, FOLLOWS, OWNER, UNREACHABLE};
use crate::members::Members;
use crate::notes::ServedBy;
use crate::refusal::Refusal;
use crate::replay::Replay;
use crate::upstream::{Upstream, UpstreamError};

/// Time after which no further server is asked: a phone tries again by itself then.
const SEARCH_MAX: Duration = Duration::from_secs(6);
/// Bytes of a body that is kept until it is known which server takes it: as many as a head may have, since a slow client holds them
/// for a minute. A game is created with 200 bytes, and a quiz of 20 questions has 8 KiB; a larger one is sent to one server only.
const KEPT_BODY_BYTES: u64 = 16 * 1024;

/// The search for the server that holds a game.
pub(super) struct Search<'a> {
    proxy: &'a Proxy,
    code: GameCode,
    /// Who there was when it began.
    members: Members,
    course: Course<Named>,
    /// Owners that were named and are not among them: one has just come, or goes by another name here.
    unknown: Vec<String>,
    /// Whom placement would ask, as far as it is ready.
    first: Option<Named>,
    until: Instant,
}

/// A server, equal to those of the same name.
#[derive(Clone)]
pub(super) struct Named(pub(super) Arc<Upstream>);

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(proxy: &'a Proxy, code: GameCode) -> Self {
        let members = proxy.0.games.now();
        let ordered: Vec<Named> = members.ordered(code.as_str()).into_iter().map(Named).collect();
        let remembered = proxy
            .0
            .owners
            .get(code)
            .and_then(|name| members.named(&name).cloned().map(Named))
            // Waiting for an owner that answers nothing would cost every phone a second.
            .filter(|owner| !owner.0.is_silent());
        Self {
            proxy,
            code,
            members,
            first: ordered.first().cloned(),
            course: Course::new(remembered, ordered),
            unknown: Vec::new(),
            until: Instant::now() + SEARCH_MAX,
        }
    }

    /// Whom to ask next; none when all were asked, or it takes too long.
    pub(super) fn ask(&mut self) -> Option<Named> {
        if Instant::now() >= self.until {
            return None;
        }
        self.course.ask()
    }

    /// Marks a request as one of a proxy that follows owners, and says whom it could not reach.
    pub(super) fn mark(&self, headers: &mut HeaderMap) {
        headers.insert(FOLLOWS, HeaderValue::from_static("1"));
        let unreachable = self.course.were_unreachable().iter();
        let names: Vec<&str> = unreachable
            .map(|server| server.0.name())
            .chain(self.unknown.iter().map(String::as_str))
            .collect();
        if let (false, Ok(names)) = (names.is_empty(), HeaderValue::try_from(names.join(", "))) {
            headers.insert(UNREACHABLE, names);
        }
    }

    pub(super) fn unreachable(&mut self, server: &Named) {
        server.0.metrics().failed();
        metrics::inc(Counter::ProxyServersPassedOverTotal);
        self.proxy.0.owners.forget(self.code);
        self.course.unreachable(server);
    }

    /// Whether an answer settles the search. A 421 sends it on; what cannot be followed is an error.
    pub(super) fn settles(
        &mut self,
        server: &Named,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<bool, Refusal> {
        let owners = &self.proxy.0.owners;
        if status != StatusCode::MISDIRECTED_REQUEST {
            let accepted = status == StatusCode::SWITCHING_PROTOCOLS || status.is_success();
            // Who was told of an owner that is not known here has passed the request on to it.
            if accepted && self.unknown.is_empty() && self.first.as_ref() != Some(server) {
                owners.remember(self.code, server.0.name());
            }
            // It stops, or has no place: whoever comes next asks where the game is by then.
            if status.is_server_error() {
                owners.forget(self.code);
            }
            return Ok(true);
        }
        owners.forget(self.code);
        let name = headers
            .get(OWNER)
            .and_then(|name| name.to_str().ok())
            .ok_or(Refusal::Moving)?;
        match self.members.named(name) {
            None if self.course.unknown(server.clone()) => {
                self.unknown.push(name.to_owned());
                Ok(false)
            }
            Some(owner) if self.course.follow(server.clone(), Named(Arc::clone(owner))) => {
                metrics::inc(Counter::ProxyOwnersFollowedTotal);
                Ok(false)
            }
            Some(_) | None => Err(Refusal::Moving),
        }
    }
}

impl Proxy {
    /// An HTTP call about a game.
    pub(super) async fn ask_game(
        &self,
        code: GameCode,
        request: Request<Body>,
    ) -> Result<Response<Body>, Refusal> {
        let mut replay = Replay::new(request, KEPT_BODY_BYTES).await?;
        let patience = if replay.has_body() {
            ANSWER_WITH_BODY_MAX
        } else {
            ANSWER_MAX
        };
        let mut search = Search::new(self, code);
        let mut why = Refusal::NoServer;
        while let Some(server) = search.ask() {
            // A long body went to a server that does not hold the game.
            let Some(mut request) = replay.take() else {
                return Err(why);
            };
            search.mark(request.headers_mut());
            match server.0.send(request, patience).await {
                // Nobody asked for another protocol.
                Ok(response) if response.status() == StatusCode::SWITCHING_PROTOCOLS => {
                    return Err(Refusal::Broken);
                }
                Ok(mut response) => {
                    if search.settles(&server, response.status(), response.headers())? {
                        headers::for_client(response.headers_mut());
                        response.extensions_mut().insert(ServedBy(server.0));
                        return Ok(response);
                    }
                    why = Refusal::Moving;
                }
                Err((error, unsent)) => {
                    why = self.refusal(&error);
                    if why.is_no_servers() {
                        return Err(why);
                    }
                    search.unreachable(&server);
                    let untouched = unsent.is_some() || matches!(error, UpstreamError::Connect(..));
                    replay.unsent(unsent);
                    if !(untouched || replay.is_idempotent()) {
                        return Err(why);
                    }
                }
            }
        }
        Err(why)
    }
}
