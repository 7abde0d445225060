//! `POST /games?g=`: starts a game. Idempotent by the teacher and the key that the client chose.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use game_core::{Game, Settings};
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use protocol::claims::{QuizClaims, TeacherClaims};
use protocol::ids::QuizId;
use protocol::quiz::QuizDocument;
use protocol::rest::{CreateGameRequest, CreateGameResponse, QuizSource};
use runtime::metrics::{self, Counter};

use super::game_key::GameKey;
use crate::actor::mailbox::GameHandle;
use crate::backoffice::BackofficeError;
use crate::cluster::{self, Free};
use crate::convert;
use crate::facts::{FIRST_EPOCH, Facts};
use crate::opening::{self, Opened, Reached};
use crate::problem::Refusal;
use crate::registry::Begun;
use crate::server::Shared;
use crate::tokens::SIGNED_QUIZ_BYTES_MAX;

/// Largest body. The largest quiz takes 0.8 MB in a script of one byte a character and a third more when it is signed; in a script
/// of two bytes twice that.
const BODY_BYTES_MAX: usize = SIGNED_QUIZ_BYTES_MAX;
/// Time to send it: the largest one on a line of 0.5 Mbit/s.
const BODY_READ_MAX: Duration = Duration::from_secs(60);
/// Longest wait for another create with the same key or code.
const HOLD_MAX: Duration = Duration::from_secs(5);
/// Characters of a client's key.
const KEY_CHARS_MAX: usize = 64;
/// Games that a teacher may have before their podium at this server while the API cannot be asked: as many as it lets one start
/// in a minute. Who holds a token of a quarter of an hour must not fill a server.
const UNCHECKED_GAMES_MAX: usize = 20;
/// When to come back after that, in seconds: a lobby or two are given up by then.
const UNCHECKED_RETRY_S: u64 = 60;

pub(super) async fn create(
    State(shared): State<Arc<Shared>>,
    GameKey(code): GameKey,
    request: Request,
) -> Result<Response, Refusal> {
    let teacher = authenticate(&shared, request.headers())?;
    if shared.is_stopping() {
        return Err(Refusal::stopping());
    }
    let request = read(request).await?;
    if let Some(game) = shared.registry.by_key(teacher.sub, &request.key) {
        return Ok(answer(StatusCode::OK, &game));
    }
    if !shared.registry.has_room() {
        return Err(Refusal::server_full());
    }
    // Whether the code is free is told last, to who has a game to start: codes cannot be tried for nothing.
    let CreateGameRequest { quiz, key, settings } = request;
    let granted = grant(&shared, &teacher, quiz).await?;
    let quiz = playable(&granted.quiz)?;
    let rules = Settings {
        scoring: convert::scoring_to_core(settings.scoring),
        players_max: granted.players_max,
    };
    let game = Game::new(quiz, rules);
    let facts = Facts {
        game: shared.ambient.game(),
        code,
        teacher: teacher.sub,
        key,
        quiz_id: granted.quiz_id,
        quiz: Arc::new(granted.quiz),
        settings,
        players_max: game.settings().players_max,
        created_ms: shared.ambient.unix_ms(),
        epoch: FIRST_EPOCH,
        is_rewound: false,
    };
    // A large future, and one create in a hundred requests.
    Box::pin(start(&shared, game, facts)).await
}

async fn start(shared: &Shared, game: Game, facts: Facts) -> Result<Response, Refusal> {
    let (code, teacher, id) = (facts.code, facts.teacher, facts.game);
    let reached = Reached::now(shared);
    let opening = match hold(shared, &facts).await? {
        Begun::New(opening) => opening,
        Begun::Same(handle) => return Ok(answer(StatusCode::OK, &handle)),
        Begun::CodeTaken => return Err(code_taken()),
        Begun::Full => return Err(Refusal::server_full()),
        Begun::Busy => return Err(Refusal::journal_unavailable()),
    };
    if let Some(cluster) = &shared.cluster {
        match cluster::is_free(cluster, &reached.run, code).await {
            Free::Yes => {}
            Free::No => return Err(code_taken()),
            Free::Unknown => return Err(Refusal::journal_unavailable()),
        }
    }
    // The API, or another create, may have been waited for.
    if shared.is_stopping() {
        return Err(Refusal::stopping());
    }
    match opening::open_new(shared, &reached, opening, game, facts).await {
        Ok(Opened::New(handle)) => {
            tracing::info!(game = %id, %teacher, "game created");
            Ok(answer(StatusCode::CREATED, &handle))
        }
        Ok(Opened::Same(handle)) => Ok(answer(StatusCode::OK, &handle)),
        Ok(Opened::CodeTaken) => Err(code_taken()),
        Err(error) => {
            tracing::warn!(%code, error = &error as &dyn std::error::Error, "a game could not be created");
            Err(Refusal::journal_unavailable())
        }
    }
}

/// Holds the code and the key; waits for another create with the same ones.
async fn hold(shared: &Shared, facts: &Facts) -> Result<Begun, Refusal> {
    let holding = async {
        loop {
            let opened = shared.registry.opened();
            match shared
                .registry
                .begin(facts.code, facts.teacher, facts.key.clone())
            {
                Begun::Busy => opened.await,
                begun @ (Begun::New(_) | Begun::Same(_) | Begun::CodeTaken | Begun::Full) => return begun,
            }
        }
    };
    tokio::time::timeout(HOLD_MAX, holding)
        .await
        .map_err(|_elapsed| Refusal::journal_unavailable())
}

fn answer(status: StatusCode, game: &GameHandle) -> Response {
    let body = CreateGameResponse {
        game: game.game(),
        code: game.code(),
        players_max: game.players_max(),
    };
    (status, Json(body)).into_response()
}

pub(super) fn authenticate(shared: &Shared, headers: &HeaderMap) -> Result<TeacherClaims, Refusal> {
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = header
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .ok_or_else(Refusal::unauthorized)?;
    shared
        .keys
        .teacher(token)
        .map_err(|_invalid| Refusal::unauthorized())
}

async fn read(request: Request) -> Result<CreateGameRequest, Refusal> {
    let body = tokio::time::timeout(BODY_READ_MAX, Bytes::from_request(request, &()))
        .await
        .map_err(|_elapsed| Refusal::body_timeout())?;
    let body = body.map_err(|rejection| {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "body-too-large",
                "Body too large",
                format!(
                    "The body may have {BODY_BYTES_MAX} bytes. Use the quiz's id instead of the document."
                ),
            )
        } else {
            Refusal::bad_request("bad-body", "The body could not be read. Try again.")
        }
    })?;
    let request: CreateGameRequest = serde_json::from_slice(&body).map_err(|error| {
        Refusal::bad_request(
            "bad-body",
            format!("The body is not what starts a game: {error}."),
        )
    })?;
    if request.key.is_empty() || request.key.chars().count() > KEY_CHARS_MAX {
        return Err(Refusal::bad_request(
            "bad-key",
            format!("The key needs 1 to {KEY_CHARS_MAX} characters."),
        ));
    }
    Ok(request)
}

/// Permission to start, with the questions.
struct Granted {
    players_max: u32,
    quiz_id: QuizId,
    quiz: QuizDocument,
}

async fn grant(shared: &Shared, teacher: &TeacherClaims, source: QuizSource) -> Result<Granted, Refusal> {
    let (id, held) = match source {
        QuizSource::Id(id) => (id, None),
        QuizSource::Signed(signed) => {
            let claims = held_quiz(shared, teacher, &signed)?;
            (claims.quiz_id, Some(claims.quiz))
        }
    };
    let checked = shared.backoffice.plan_check(teacher.sub, Some(id)).await;
    match (checked, held) {
        (Ok(granted), _) => {
            let (quiz_id, quiz) = granted.quiz.ok_or_else(no_such_quiz)?;
            Ok(Granted {
                players_max: granted.players_max,
                quiz_id,
                quiz,
            })
        }
        (Err(BackofficeError::Unavailable(error)), Some(quiz)) => {
            tracing::warn!(error = &*error as &dyn std::error::Error, "plan check by token");
            unchecked(shared, teacher)?;
            Ok(Granted {
                players_max: teacher.players_max,
                quiz_id: id,
                quiz,
            })
        }
        (Err(error), _) => Err(refusal_of(error)),
    }
}

/// What the teacher's page holds in case that the API cannot be asked. While it can, only the quiz's id counts: it has the quiz as
/// it is now.
fn held_quiz(shared: &Shared, teacher: &TeacherClaims, signed: &str) -> Result<QuizClaims, Refusal> {
    let claims = shared.keys.quiz(signed).ok();
    claims.filter(|claims| claims.sub == teacher.sub).ok_or_else(|| {
        Refusal::bad_request(
            "bad-signed-quiz",
            "The signed quiz is invalid, expired or another teacher's. Open the quiz again.",
        )
    })
}

/// Lets a game start by what its teacher holds: the class is waiting, and the token says what the plan allowed minutes ago.
fn unchecked(shared: &Shared, teacher: &TeacherClaims) -> Result<(), Refusal> {
    if shared.registry.playing(teacher.sub) >= UNCHECKED_GAMES_MAX {
        let detail = format!(
            "You have {UNCHECKED_GAMES_MAX} games that are not over, which is as many as one may have while the quiz library cannot be reached. End one."
        );
        return Err(Refusal::too_many_games(detail, UNCHECKED_RETRY_S));
    }
    metrics::inc(Counter::GameStartsUncheckedTotal);
    Ok(())
}

fn playable(quiz: &QuizDocument) -> Result<Arc<game_core::Quiz>, Refusal> {
    let refusal = |reason: String| {
        Refusal::bad_request(
            "quiz-not-playable",
            format!("This quiz cannot be played: {reason}."),
        )
    };
    quiz.validate().map_err(|error| refusal(error.to_string()))?;
    convert::quiz_to_core(quiz).map_err(|error| refusal(error.to_string()))
}

fn refusal_of(error: BackofficeError) -> Refusal {
    match error {
        BackofficeError::Refused { code, detail } => {
            Refusal::new(StatusCode::FORBIDDEN, code, "Forbidden", detail)
        }
        BackofficeError::TooMany {
            detail,
            retry_after_s,
        } => Refusal::too_many_games(detail, retry_after_s),
        BackofficeError::NotFound => no_such_quiz(),
        // Said of results only.
        BackofficeError::Superseded => Refusal::api_unavailable(),
        BackofficeError::Unavailable(error) => {
            tracing::warn!(error = &*error as &dyn std::error::Error, "plan check failed");
            Refusal::api_unavailable()
        }
    }
}

fn no_such_quiz() -> Refusal {
    Refusal::new(
        StatusCode::NOT_FOUND,
        "no-such-quiz",
        "Not found",
        "There is no such quiz in your library.",
    )
}

fn code_taken() -> Refusal {
    Refusal::new(
        StatusCode::CONFLICT,
        "code-taken",
        "Conflict",
        "Another game has this code. Draw another one.",
    )
}

/// The body limit of this route.
pub(super) fn body_limit() -> DefaultBodyLimit {
    DefaultBodyLimit::max(BODY_BYTES_MAX)
}
