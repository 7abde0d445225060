//! Accounts and sign-in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse, Response};
use protocol::claims::ACCESS_TOKEN_S;
use protocol::ids::TeacherId;
use protocol::rest::{DeleteAccountRequest, LoginRequest, RegisterRequest, SessionResponse, User};
use runtime::metrics::{Counter, inc};

use crate::admission::Class;
use crate::body;
use crate::cache::{View, Written};
use crate::config::{ACCOUNT_BODY_BYTES_MAX, NAME_CHARS, REFRESH_LIFE_MS, SESSIONS_MAX};
use crate::email::Email;
use crate::extract::{Admittance, OwnPage, Refresh, Renewal, SignIn, Teacher};
use crate::openapi::Verb::{Delete, Get, Post};
use crate::openapi::{About, Answers, Operation, REFRESH_COOKIE, Routes, Schemas};
use crate::password::{HashError, PASSWORD_CHARS, Verdict};
use crate::problem::{Kind, Refusal};
use crate::service::Api;
use crate::session::{Presented, RefreshToken, Session};
use crate::store::{Account, Inserted};
use crate::{plan, random, token};

/// How often a sign-in looks at the account: a second time when its password changed while the first was checked.
const LOOKS_MAX: u32 = 2;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .add(
            Some(Class::Entry),
            (Post, "/auth/register"),
            register,
            &About::new(
                "register",
                "Opens an account and signs in.",
                &[Kind::BadEmail, Kind::BadPassword, Kind::BadName, Kind::EmailTaken],
            ),
        )
        .add(
            Some(Class::Entry),
            (Post, "/auth/login"),
            login,
            &About::new("login", "Signs in.", &[Kind::BadCredentials]),
        )
        .add(
            Some(Class::Entry),
            (Post, "/auth/refresh"),
            refresh,
            &About::new(
                "refresh",
                "Gives a new access token and the next refresh token for the cookie.",
                &[Kind::SessionEnded],
            ),
        )
        .add(
            Some(Class::Entry),
            (Post, "/auth/logout"),
            logout,
            &About::new(
                "logout",
                "Ends the session of this browser; without one it does nothing.",
                &[],
            ),
        )
        .add(
            Some(Class::Read),
            (Get, "/users/me"),
            me,
            &About::new("me", "The account that is signed in.", &[]),
        )
        .add(
            Some(Class::Edit),
            (Delete, "/users/me"),
            delete_me,
            &About::new(
                "delete_account",
                "Deletes the account with its quizzes, games and sign-ins, for good.",
                &[Kind::BadCredentials],
            ),
        )
}

/// A session has begun or goes on: its access token, and the refresh token as a cookie.
pub(super) struct SignedIn<const STATUS: u16> {
    cookie: String,
    session: SessionResponse,
}

impl<const STATUS: u16> IntoResponse for SignedIn<STATUS> {
    fn into_response(self) -> Response {
        let cookie = AppendHeaders([(SET_COOKIE, self.cookie)]);
        let status = StatusCode::from_u16(STATUS).unwrap_or_default();
        (status, cookie, Json(self.session)).into_response()
    }
}

impl<const STATUS: u16> Answers for SignedIn<STATUS> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.of::<SessionResponse>();
        let headers = [("Set-Cookie", "The refresh token.")];
        operation.answer(STATUS, Some(("application/json", schema)), &headers);
    }
}

/// The session of this browser has ended, and its cookie goes.
pub(super) struct SignedOut {
    cookie: String,
}

impl IntoResponse for SignedOut {
    fn into_response(self) -> Response {
        let cookie = AppendHeaders([(SET_COOKIE, self.cookie)]);
        (StatusCode::NO_CONTENT, cookie).into_response()
    }
}

impl Answers for SignedOut {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.answer(204, None, &[("Set-Cookie", "Takes the refresh token away.")]);
    }
}

/// `POST /auth/register`.
pub(super) async fn register(
    State(api): State<Api>,
    _within: SignIn,
    Admittance(admitted): Admittance,
    body::Json(request): body::Json<RegisterRequest, ACCOUNT_BODY_BYTES_MAX>,
) -> Result<SignedIn<201>, Refusal> {
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
        Inserted::Yes => match start_session(&api, account, &hash).await? {
            Some(signed_in) => Ok(signed_in),
            // Somebody else, who reads this address's letters, has set another password since.
            None => Err(Refusal::EmailTaken),
        },
        Inserted::Refused | Inserted::NoTeacher => Err(Refusal::EmailTaken),
    }
}

/// `POST /auth/login`. An unknown address and a wrong password look and cost the same.
pub(super) async fn login(
    State(api): State<Api>,
    _within: SignIn,
    Admittance(admitted): Admittance,
    body::Json(request): body::Json<LoginRequest, ACCOUNT_BODY_BYTES_MAX>,
) -> Result<SignedIn<200>, Refusal> {
    // No account has a longer one, and hashing it would only cost.
    if request.password.chars().count() > *PASSWORD_CHARS.end() {
        return Err(Refusal::BadCredentials);
    }
    let email = Email::parse(&request.email).ok();
    for _ in 0..LOOKS_MAX {
        let known = match &email {
            Some(email) => api.store.account_by_email(email.as_str()).await?,
            None => None,
        };
        let (account, hash) = known.unzip();
        let verify = api.hasher.verify(request.password.clone(), hash.clone());
        let verdict = admitted.pause(verify).await??;
        let Some((account, mut hash)) = account.zip(hash).filter(|_| verdict != Verdict::Wrong) else {
            break;
        };
        if let Verdict::RightRehashed(stronger) = verdict
            && api.store.replace_hash(account.id, &hash, &stronger).await?
        {
            hash = stronger;
        }
        if let Some(signed_in) = start_session(&api, account, &hash).await? {
            return Ok(signed_in);
        }
        // The hash is another one by now: of another password, or a stronger one of the same, by another sign-in at this moment.
    }
    inc(Counter::LoginsRefusedTotal);
    Err(Refusal::BadCredentials)
}

/// `POST /auth/refresh`: the cookie's token for a new access token, and the next refresh token.
pub(super) async fn refresh(
    State(api): State<Api>,
    _page: OwnPage,
    _within: Renewal,
    Refresh(presented): Refresh,
) -> Result<SignedIn<200>, Refusal> {
    let presented = presented.ok_or(Refusal::SessionEnded)?;
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
    _within: Renewal,
    Refresh(presented): Refresh,
) -> Result<SignedOut, Refusal> {
    if let Some(token) = presented {
        let hash = token.hash();
        let session = api.store.session(token.session()).await?;
        if let Some(session) = session.filter(|s| s.current == hash || s.previous == Some(hash)) {
            api.store.delete_session(session.id).await?;
        }
    }
    Ok(SignedOut {
        cookie: set_cookie(&api, "", 0),
    })
}

/// `GET /users/me`.
pub(super) async fn me(State(api): State<Api>, Teacher(id): Teacher) -> Result<Written<User>, Refusal> {
    let read = async {
        let account = api.store.account(id).await?.ok_or(Refusal::TokenInvalid)?;
        Ok(user(account))
    };
    api.remembered(id, View::Me, read).await
}

/// `DELETE /users/me`. Access tokens live on for up to 15 minutes, and find nothing any more.
pub(super) async fn delete_me(
    State(api): State<Api>,
    Teacher(id): Teacher,
    Admittance(admitted): Admittance,
    body::Json(request): body::Json<DeleteAccountRequest, ACCOUNT_BODY_BYTES_MAX>,
) -> Result<SignedOut, Refusal> {
    let account = api.store.account(id).await?.ok_or(Refusal::TokenInvalid)?;
    let known = api.store.account_by_email(&account.email).await?;
    let (_, hash) = known.ok_or(Refusal::TokenInvalid)?;
    if request.password.chars().count() > *PASSWORD_CHARS.end() {
        return Err(Refusal::BadCredentials);
    }
    let verify = api.hasher.verify(request.password, Some(hash));
    if admitted.pause(verify).await?? == Verdict::Wrong {
        inc(Counter::LoginsRefusedTotal);
        return Err(Refusal::BadCredentials);
    }
    let store = Arc::clone(&api.store);
    let deleted = api.changing(admitted, id, async move { store.delete_account(id).await });
    if deleted.await? {
        tracing::info!(teacher = %id, "an account was deleted by its teacher");
    }
    Ok(SignedOut {
        cookie: set_cookie(&api, "", 0),
    })
}

/// Begins a session, if `checked_hash` is still the hash of the account's password.
async fn start_session<const STATUS: u16>(
    api: &Api,
    account: Account,
    checked_hash: &str,
) -> Result<Option<SignedIn<STATUS>>, Refusal> {
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
    let begun = api
        .store
        .insert_session(&session, checked_hash, now_ms, SESSIONS_MAX);
    if !begun.await? {
        return Ok(None);
    }
    signed_in(api, account, &token).map(Some)
}

fn signed_in<const STATUS: u16>(
    api: &Api,
    account: Account,
    refresh: &RefreshToken,
) -> Result<SignedIn<STATUS>, Refusal> {
    let access_token = token::sign_access(&api.keys, account.id, plan::free().players_max, api.clock.now_s())
        .map_err(Refusal::internal)?;
    Ok(SignedIn {
        cookie: set_cookie(api, refresh.as_str(), REFRESH_LIFE_MS / 1000),
        session: SessionResponse {
            access_token,
            expires_in_s: ACCESS_TOKEN_S,
            user: user(account),
        },
    })
}

fn set_cookie(api: &Api, value: &str, max_age_s: u64) -> String {
    let secure = if api.config.public_url_is_https {
        "; Secure"
    } else {
        ""
    };
    let prefix = &api.config.mount_prefix;
    format!(
        "{REFRESH_COOKIE}={value}; Path={prefix}/auth; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}"
    )
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
