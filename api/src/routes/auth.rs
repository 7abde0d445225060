//! Accounts and sign-in.

use axum::Json;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{AppendHeaders, IntoResponse};
use protocol::claims::ACCESS_TOKEN_S;
use protocol::ids::TeacherId;
use protocol::rest::{LoginRequest, RegisterRequest, SessionResponse, User};
use runtime::metrics::{Counter, inc};

use crate::body;
use crate::cache::{View, Written};
use crate::config::{ACCOUNT_BODY_BYTES_MAX, REFRESH_LIFE_MS, SESSIONS_MAX};
use crate::email::Email;
use crate::extract::{Admittance, OwnPage, SignIn, Teacher, cookie};
use crate::password::{HashError, PASSWORD_CHARS, Verdict};
use crate::problem::Refusal;
use crate::service::Api;
use crate::session::{Presented, RefreshToken, Session};
use crate::store::{Account, Inserted};
use crate::{plan, random, token};

/// The cookie that carries the refresh token.
const COOKIE: &str = "homeroom_refresh";
/// Characters of a name.
const NAME_CHARS: std::ops::RangeInclusive<usize> = 1..=80;

type Cookies = AppendHeaders<[(HeaderName, String); 1]>;
type SignedIn = (Cookies, Json<SessionResponse>);

/// `POST /auth/register`.
pub(super) async fn register(
    State(api): State<Api>,
    _within: SignIn,
    Admittance(admitted): Admittance,
    body::Json(request): body::Json<RegisterRequest, ACCOUNT_BODY_BYTES_MAX>,
) -> Result<(StatusCode, SignedIn), Refusal> {
    let email = Email::parse(&request.email).map_err(|error| Refusal::BadEmail(error.to_string()))?;
    let name = name(&request.name)?;
    let chars = request.password.chars().count();
    if !PASSWORD_CHARS.contains(&chars) {
        return Err(Refusal::BadPassword(chars));
    }
    // Asked before hashing, which is dear; the insert has the last word.
    if api.store.account_by_email(email.as_str()).await?.is_some() {
        return Err(Refusal::EmailTaken);
    }
    let hash = admitted.pause(api.hasher.hash(request.password)).await??;
    let id = TeacherId(random::id().map_err(Refusal::internal)?);
    let account = Account {
        id,
        email: email.as_str().to_owned(),
        name,
    };
    match api
        .store
        .insert_account(&account, &hash, api.clock.now_ms())
        .await?
    {
        Inserted::Yes => Ok((StatusCode::CREATED, start_session(&api, account).await?)),
        Inserted::Refused => Err(Refusal::EmailTaken),
    }
}

/// `POST /auth/login`. An unknown address and a wrong password look and cost the same.
pub(super) async fn login(
    State(api): State<Api>,
    _within: SignIn,
    Admittance(admitted): Admittance,
    body::Json(request): body::Json<LoginRequest, ACCOUNT_BODY_BYTES_MAX>,
) -> Result<SignedIn, Refusal> {
    // No account has a longer one, and hashing it would only cost.
    if request.password.chars().count() > *PASSWORD_CHARS.end() {
        return Err(Refusal::BadCredentials);
    }
    let known = match Email::parse(&request.email) {
        Ok(email) => api.store.account_by_email(email.as_str()).await?,
        Err(_) => None,
    };
    let (account, hash) = known.unzip();
    let verdict = admitted
        .pause(api.hasher.verify(request.password, hash))
        .await??;
    let Some(account) = account.filter(|_| verdict != Verdict::Wrong) else {
        inc(Counter::LoginsRefusedTotal);
        return Err(Refusal::BadCredentials);
    };
    if let Verdict::RightRehashed(hash) = verdict {
        api.store.replace_hash(account.id, &hash).await?;
    }
    start_session(&api, account).await
}

/// `POST /auth/refresh`: the cookie's token for a new access token, and the next refresh token.
pub(super) async fn refresh(
    State(api): State<Api>,
    _page: OwnPage,
    headers: HeaderMap,
) -> Result<SignedIn, Refusal> {
    let presented = cookie(&headers, COOKIE)
        .and_then(RefreshToken::parse)
        .ok_or(Refusal::SessionEnded)?;
    let session = api
        .store
        .session(presented.session())
        .await?
        .ok_or(Refusal::SessionEnded)?;
    let now_ms = api.clock.now_ms();
    let token = match session.judge(&presented.hash(), now_ms) {
        Presented::Fresh => presented,
        Presented::Grace => presented.successor(&api.keys).map_err(Refusal::internal)?,
        Presented::Current => {
            let next = presented.successor(&api.keys).map_err(Refusal::internal)?;
            let advanced = Session {
                current: next.hash(),
                previous: Some(session.current),
                issued_ms: now_ms,
                expires_ms: now_ms.saturating_add(REFRESH_LIFE_MS),
                ..session
            };
            // False when another tab was faster: it stored the very same successor.
            api.store.advance_session(&advanced, &session.current).await?;
            next
        }
        Presented::Expired => return Err(Refusal::SessionEnded),
        Presented::Reused => {
            inc(Counter::RefreshReusedTotal);
            tracing::warn!(teacher = %session.teacher, "a replaced refresh token was presented; the session is ended");
            api.store.delete_session(session.id).await?;
            return Err(Refusal::SessionEnded);
        }
    };
    let account = api
        .store
        .account(session.teacher)
        .await?
        .ok_or(Refusal::SessionEnded)?;
    signed_in(&api, account, &token)
}

/// `POST /auth/logout`: ends the session of this browser. Without one it does nothing.
pub(super) async fn logout(
    State(api): State<Api>,
    _page: OwnPage,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Refusal> {
    if let Some(token) = cookie(&headers, COOKIE).and_then(RefreshToken::parse) {
        let hash = token.hash();
        let session = api.store.session(token.session()).await?;
        if let Some(session) = session.filter(|s| s.current == hash || s.previous == Some(hash)) {
            api.store.delete_session(session.id).await?;
        }
    }
    Ok((
        StatusCode::NO_CONTENT,
        AppendHeaders([(SET_COOKIE, set_cookie(&api, "", 0))]),
    ))
}

/// `GET /users/me`.
pub(super) async fn me(State(api): State<Api>, Teacher(id): Teacher) -> Result<Written, Refusal> {
    let read = async {
        let account = api.store.account(id).await?.ok_or(Refusal::TokenInvalid)?;
        Ok(user(account))
    };
    api.remembered(id, View::Me, read).await
}

async fn start_session(api: &Api, account: Account) -> Result<SignedIn, Refusal> {
    let id = random::id().map_err(Refusal::internal)?;
    let secret = random::bytes().map_err(Refusal::internal)?;
    let token = RefreshToken::first(&api.keys, id, secret).map_err(Refusal::internal)?;
    let now_ms = api.clock.now_ms();
    let session = Session {
        id,
        teacher: account.id,
        current: token.hash(),
        previous: None,
        issued_ms: now_ms,
        expires_ms: now_ms.saturating_add(REFRESH_LIFE_MS),
    };
    api.store.insert_session(&session, now_ms, SESSIONS_MAX).await?;
    signed_in(api, account, &token)
}

fn signed_in(api: &Api, account: Account, refresh: &RefreshToken) -> Result<SignedIn, Refusal> {
    let access_token = token::sign_access(&api.keys, account.id, plan::free().players_max, api.clock.now_s())
        .map_err(Refusal::internal)?;
    let cookies = AppendHeaders([(
        SET_COOKIE,
        set_cookie(api, refresh.as_str(), REFRESH_LIFE_MS / 1000),
    )]);
    Ok((
        cookies,
        Json(SessionResponse {
            access_token,
            expires_in_s: ACCESS_TOKEN_S,
            user: user(account),
        }),
    ))
}

fn set_cookie(api: &Api, value: &str, max_age_s: u64) -> String {
    let secure = if api.config.public_url_is_https {
        "; Secure"
    } else {
        ""
    };
    let prefix = &api.config.mount_prefix;
    format!("{COOKIE}={value}; Path={prefix}/auth; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}")
}

fn user(account: Account) -> User {
    User {
        id: account.id,
        email: account.email,
        name: account.name,
    }
}

fn name(typed: &str) -> Result<String, Refusal> {
    let name = typed.trim();
    let fine = NAME_CHARS.contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fine {
        Ok(name.to_owned())
    } else {
        Err(Refusal::BadName)
    }
}

impl From<HashError> for Refusal {
    fn from(error: HashError) -> Self {
        match error {
            HashError::Busy => Self::Busy,
            HashError::Random(_) | HashError::Hash(_) | HashError::Stopped(_) => Self::internal(error),
        }
    }
}
