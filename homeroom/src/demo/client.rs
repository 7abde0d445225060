//! The demo's own account, acting through the product's routes as any client would.

use std::time::Duration;

use anyhow::{Context, bail};
use axum::Router;
use axum::body::Body;
use http::header::{AUTHORIZATION, CONTENT_TYPE, SET_COOKIE};
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::BodyExt;
use protocol::ids::{CODE_LEN, GameCode, QuizId};
use protocol::quiz::QuizDocument;
use protocol::rest::{
    CreateGameRequest, LoginRequest, Problem, QuizResponse, QuizSource, RegisterRequest, SessionResponse,
};
use protocol::result::GameSettings;
use rand::Rng;
use tower::ServiceExt;

/// The account's address; the domain is reserved and receives no mail.
const EMAIL: &str = "demo@homeroom.invalid";
/// Codes to try before giving up; two in a row that are taken are already next to impossible.
const CODES: u32 = 5;
/// Largest answer read, in bytes: the sample quiz with room to spare.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// A route that does not answer within this time is broken.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The demo's account.
pub(super) struct Client {
    product: Router,
    password: String,
    quiz: QuizId,
}

/// A game opened for a visitor.
pub(super) struct Visit {
    /// Its code.
    pub(super) code: GameCode,
    /// The cookie that signs the visitor in as the demo's account.
    pub(super) cookie: HeaderValue,
}

impl Client {
    /// Registers the account and stores its quiz.
    pub(super) async fn sign_up(product: Router, document: &QuizDocument) -> anyhow::Result<Self> {
        let password = format!("{:032x}", draw());
        let register = RegisterRequest {
            email: EMAIL.to_owned(),
            password: password.clone(),
            name: "Demo teacher".to_owned(),
        };
        let (session, _cookie) =
            ask::<SessionResponse>(&product, "/store/auth/register", None, &register).await?;
        let token = session.access_token;
        let (quiz, _) = ask::<QuizResponse>(&product, "/store/quizzes", Some(&token), document).await?;
        Ok(Self {
            product,
            password,
            quiz: quiz.id,
        })
    }

    /// Signs in and creates a game.
    pub(super) async fn open_game(&self) -> anyhow::Result<Visit> {
        let login = LoginRequest {
            email: EMAIL.to_owned(),
            password: self.password.clone(),
        };
        let (session, cookie) =
            ask::<SessionResponse>(&self.product, "/store/auth/login", None, &login).await?;
        let cookie = cookie.context("signing in set no cookie")?;
        for _ in 0..CODES {
            let code = draw_code();
            let create = CreateGameRequest {
                quiz: QuizSource::Id(self.quiz),
                key: format!("demo-{:032x}", draw()),
                settings: GameSettings::default(),
            };
            let path = format!("/game/games?g={code}");
            match ask::<serde_json::Value>(&self.product, &path, Some(&session.access_token), &create).await {
                Ok(_) => return Ok(Visit { code, cookie }),
                Err(error) if error.downcast_ref::<Taken>().is_some() => {}
                Err(error) => return Err(error),
            }
        }
        bail!("{CODES} codes in a row were taken")
    }
}

/// The one refusal that is worth another try.
#[derive(Debug, thiserror::Error)]
#[error("the code is taken")]
struct Taken;

async fn ask<T: serde::de::DeserializeOwned>(
    product: &Router,
    path: &str,
    token: Option<&str>,
    body: &impl serde::Serialize,
) -> anyhow::Result<(T, Option<HeaderValue>)> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(CONTENT_TYPE, "application/json");
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.body(Body::from(serde_json::to_vec(body)?))?;
    let answer = tokio::time::timeout(ANSWER_TIMEOUT, product.clone().oneshot(request)).await??;
    let (status, cookie) = (answer.status(), answer.headers().get(SET_COOKIE).cloned());
    let bytes = http_body_util::Limited::new(answer.into_body(), ANSWER_BYTES_MAX)
        .collect()
        .await;
    let bytes = bytes.map_err(|e| anyhow::anyhow!("{path}: {e}"))?.to_bytes();
    match status {
        StatusCode::CONFLICT => Err(Taken.into()),
        status if status.is_success() => {
            Ok((serde_json::from_slice(&bytes).context(path.to_owned())?, cookie))
        }
        status => {
            let detail = serde_json::from_slice::<Problem>(&bytes)
                .map(|p| p.detail)
                .unwrap_or_default();
            bail!("{path} answered {status}: {detail}")
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the demo is a client, and clients draw codes and keys at random"
)]
fn draw() -> u128 {
    rand::rng().random()
}

fn draw_code() -> GameCode {
    let bytes = draw().to_le_bytes();
    GameCode::from_positions(std::array::from_fn::<u8, CODE_LEN, _>(|i| bytes[i]))
}
