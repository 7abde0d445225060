//! What handlers take out of a request's head: the teacher, ids, versions, query parameters, cookies.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::str::FromStr;

use axum::extract::{ConnectInfo, FromRequestParts, Path, Query};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, IF_MATCH, ORIGIN};
use axum::http::request::Parts;
use protocol::ids::TeacherId;
use runtime::forwarded;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::admission::Admitted;
use crate::config::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};
use crate::openapi::REFRESH_COOKIE;
use crate::problem::Refusal;
use crate::service::Api;
use crate::session::RefreshToken;
use crate::shared::Counted;
use crate::store::PageKey;
use crate::token::TokenError;

/// The signed-in teacher, by access token, within their own limit. Whether the account still exists is not asked here: a token lives 15 minutes.
pub(crate) struct Teacher(pub(crate) TeacherId);

impl FromRequestParts<Api> for Teacher {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        let value = parts.headers.get(AUTHORIZATION).ok_or(Refusal::TokenMissing)?;
        let (scheme, token) = value
            .to_str()
            .ok()
            .and_then(|text| text.split_once(' '))
            .ok_or(Refusal::TokenInvalid)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(Refusal::TokenMissing);
        }
        let claims = api.tokens.verify(&api.keys, token.trim(), api.clock.now_s());
        let teacher = match claims {
            Ok(claims) => claims.sub,
            Err(TokenError::Expired) => return Err(Refusal::TokenExpired),
            Err(TokenError::Invalid) => return Err(Refusal::TokenInvalid),
        };
        api.count(teacher, Counted::Requests)
            .await
            .map_err(Refusal::Quota)?;
        Ok(Self(teacher))
    }
}

/// An attempt to sign in or up, within what may come from its address. Whom it comes from is the peer, or whom a trusted proxy names;
/// a call within the process has no peer, and is nobody's.
pub(crate) struct SignIn;

impl FromRequestParts<Api> for SignIn {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        count_address(parts, api, Counted::SignIns).await.map(|()| Self)
    }
}

/// A browser that goes on with its session or ends it, within what may come from its address. Its cookie may be anything, and each costs a
/// look into the database.
pub(crate) struct Renewal;

impl FromRequestParts<Api> for Renewal {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        count_address(parts, api, Counted::Renewals).await.map(|()| Self)
    }
}

async fn count_address(parts: &Parts, api: &Api, counted: Counted) -> Result<(), Refusal> {
    let Some(&ConnectInfo(peer)) = parts.extensions.get::<ConnectInfo<SocketAddr>>() else {
        return Ok(());
    };
    let address = forwarded::address(peer.ip(), &parts.headers, &api.config.trusted_proxies);
    api.count_from(address, counted).await.map_err(Refusal::Quota)
}

/// Proves that no other site's page makes a call that lives by its cookie alone. `SameSite=Strict` keeps strangers out, but counts
/// every port of a host as one site, and old browsers do not know it. Programs send no origin.
pub(crate) struct OwnPage;

impl FromRequestParts<Api> for OwnPage {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        let mut origins = parts.headers.get_all(ORIGIN).iter();
        let own = match (origins.next(), origins.next()) {
            (None, _) => true,
            (Some(origin), None) => origin.to_str().is_ok_and(|origin| {
                let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
                let sent_to = origin.split_once("://").map(|(_, authority)| authority);
                (sent_to.is_some() && sent_to == host) || api.config.origins.iter().any(|own| own == origin)
            }),
            (Some(_), Some(_)) => false,
        };
        if own { Ok(Self) } else { Err(Refusal::Origin) }
    }
}

/// This request's admission, for what takes long and needs no database.
pub(crate) struct Admittance(pub(crate) Admitted);

impl FromRequestParts<Api> for Admittance {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _api: &Api) -> Result<Self, Refusal> {
        let admitted = parts.extensions.get::<Admitted>().cloned();
        admitted
            .map(Self)
            .ok_or_else(|| Refusal::internal("a route without admission"))
    }
}

/// The refresh token of the browser's cookie, if it has one that could be.
pub(crate) struct Refresh(pub(crate) Option<RefreshToken>);

impl FromRequestParts<Api> for Refresh {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _api: &Api) -> Result<Self, Infallible> {
        let token = cookie(&parts.headers, REFRESH_COOKIE).and_then(RefreshToken::parse);
        Ok(Self(token))
    }
}

/// The version that is to be changed, with or without the quotes of an entity tag.
pub(crate) struct IfMatch(pub(crate) u32);

impl FromRequestParts<Api> for IfMatch {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _api: &Api) -> Result<Self, Refusal> {
        let value = parts.headers.get(IF_MATCH).ok_or(Refusal::VersionMissing)?;
        value
            .to_str()
            .ok()
            .map(|text| text.trim().trim_matches('"'))
            .and_then(|text| text.parse().ok())
            .map(Self)
            .ok_or(Refusal::VersionMalformed)
    }
}

/// The id in the path, `{id}`.
pub(crate) struct Id<T>(pub(crate) T);

impl<T: FromStr> FromRequestParts<Api> for Id<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        let Path(text) = Path::<String>::from_request_parts(parts, api)
            .await
            .map_err(|_| Refusal::id(""))?;
        text.parse().map(Self).map_err(|_| Refusal::id(&text))
    }
}

/// Query parameters.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Api> for Params<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        match Query::<T>::from_request_parts(parts, api).await {
            Ok(Query(params)) => Ok(Self(params)),
            Err(rejection) => Err(Refusal::query(&rejection.body_text())),
        }
    }
}

/// `?after=&limit=` of a list.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct PageParams {
    /// The `next` of the page before.
    after: Option<String>,
    /// Rows of the page at most, 50 unless it is said.
    #[schemars(range(min = 1, max = PAGE_LIMIT_MAX))]
    limit: Option<u32>,
}

impl PageParams {
    /// As asked for beside other things.
    pub(crate) fn new(after: Option<String>, limit: Option<u32>) -> Self {
        Self { after, limit }
    }

    /// Rows asked for, within bounds.
    pub(crate) fn limit(&self) -> Result<u32, Refusal> {
        let limit = self.limit.unwrap_or(PAGE_LIMIT_DEFAULT);
        if (1..=PAGE_LIMIT_MAX).contains(&limit) {
            Ok(limit)
        } else {
            Err(Refusal::query(&format!(
                "limit is a number from 1 to {PAGE_LIMIT_MAX}"
            )))
        }
    }

    /// Where the page before ended.
    pub(crate) fn after(&self) -> Result<Option<PageKey>, Refusal> {
        let Some(text) = self.after.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let key = text.split_once('.').and_then(|(at_ms, id)| {
            Some(PageKey {
                at_ms: at_ms.parse().ok()?,
                id: Uuid::try_parse(id).ok()?,
            })
        });
        key.map(Some)
            .ok_or_else(|| Refusal::query(&"after is the \"next\" of the page before"))
    }
}

/// The text that [`PageParams::after`] reads.
pub(crate) fn page_key(at_ms: u64, id: Uuid) -> String {
    format!("{at_ms}.{}", id.simple())
}

/// The value of a cookie.
fn cookie<'a>(headers: &'a axum::http::HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}
