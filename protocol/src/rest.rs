//! Bodies of the HTTP API under `/store`, of the game server's HTTP calls under `/game`, and of the internal calls that a
//! game server makes to the API. The body of `POST /internal/results` is a [`GameResult`].

use serde::{Deserialize, Serialize};

use crate::ids::{GameCode, GameId, QuizId, ShareId, TeacherId};
use crate::player::Phase;
use crate::quiz::QuizDocument;
use crate::result::{GameResult, GameSettings};

/// `application/problem+json` (RFC 9457): the body of every refused HTTP call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Stable code, kebab-case; clients choose words by it.
    pub code: String,
    /// HTTP status.
    pub status: u16,
    /// Short English name of the kind of problem.
    pub title: String,
    /// One clear English sentence: what, where, and what to do.
    pub detail: String,
}

/// `POST /auth/register`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisterRequest {
    /// E-mail address, the sign-in name.
    #[cfg_attr(feature = "schema", schemars(email))]
    pub email: String,
    /// Password, 8 to 256 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 8, max = 256), extend("format" = "password")))]
    pub password: String,
    /// Name to show, 1 to 80 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 80)))]
    pub name: String,
}

/// `POST /auth/login`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoginRequest {
    /// E-mail address.
    #[cfg_attr(feature = "schema", schemars(email))]
    pub email: String,
    /// Password.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "password")))]
    pub password: String,
}

/// Answer to register, login and refresh. The refresh token travels in an `HttpOnly` cookie beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionResponse {
    /// Access token, to be sent as `Authorization: Bearer`.
    pub access_token: String,
    /// Its life in seconds.
    pub expires_in_s: u64,
    /// The account.
    pub user: User,
}

/// `GET /users/me`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct User {
    /// The account.
    pub id: TeacherId,
    /// E-mail address.
    pub email: String,
    /// Name to show.
    pub name: String,
}

/// `DELETE /users/me`: the account with everything that belongs to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeleteAccountRequest {
    /// The password, once more: a page that was left open must not be enough.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "password")))]
    pub password: String,
}

/// `POST /auth/reset-request`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResetRequest {
    /// E-mail address of the account.
    #[cfg_attr(feature = "schema", schemars(email))]
    pub email: String,
}

/// `POST /auth/reset`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResetPasswordRequest {
    /// From the link.
    pub token: String,
    /// The new password, 8 to 256 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 8, max = 256), extend("format" = "password")))]
    pub password: String,
}

/// A page of a list, in the list's own order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Key of the next page, for `?after=`; none on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A row of `GET /quizzes`, newest change first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuizSummary {
    /// The quiz.
    pub id: QuizId,
    /// Title.
    pub title: String,
    /// Questions.
    pub questions: u32,
    /// Last change, Unix milliseconds.
    pub updated_ms: u64,
}

/// `GET /quizzes/{id}`, and the answer to `POST /quizzes` and `PUT /quizzes/{id}` (whose bodies are a `QuizDocument`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuizResponse {
    /// The quiz.
    pub id: QuizId,
    /// Grows by one with every change; `PUT` sends it back as `If-Match` and is refused when it is stale.
    pub version: u32,
    /// Last change, Unix milliseconds.
    pub updated_ms: u64,
    /// The document.
    pub quiz: QuizDocument,
}

/// `GET /quizzes/{id}/signed`: the document that a page holds, so that a game can start while the API is away.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignedQuizResponse {
    /// The signed document.
    pub signed: String,
    /// Its life in seconds.
    pub expires_in_s: u64,
}

/// `POST /quizzes/{id}/share`, and `GET` of the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShareResponse {
    /// Under which every teacher who knows it can see and copy the quiz.
    pub share: ShareId,
}

/// `GET /shared/{id}`: a quiz that somebody shares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedQuizResponse {
    /// Name of who shares it.
    pub by: String,
    /// Last change, Unix milliseconds.
    pub updated_ms: u64,
    /// The document as it is now.
    pub quiz: QuizDocument,
}

/// Answer to `POST /quizzes/import?filename=…` (body: the file's bytes).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportResponse {
    /// The new quiz; none when nothing could be imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiz: Option<QuizSummary>,
    /// Format found.
    pub format: ImportFormat,
    /// Questions imported.
    pub imported: u32,
    /// Items left out, in file order.
    pub skipped: Vec<SkippedItem>,
    /// Things that were changed to fit, in file order.
    pub notes: Vec<SkippedItem>,
}

/// File formats that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ImportFormat {
    /// Moodle GIFT text.
    Gift,
    /// Kahoot spreadsheet template.
    Kahoot,
    /// A quiz document of ours, as an export writes it.
    Json,
}

/// An item of an imported file and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedItem {
    /// Its name, or the beginning of its text.
    pub name: String,
    /// Where it stands: "line 12", "row 9", "cell C9".
    pub place: String,
    /// Why, as one sentence.
    pub reason: String,
}

/// `POST /game/games?g=CODE`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CreateGameRequest {
    /// A stored quiz's id, or the signed document.
    pub quiz: QuizSource,
    /// Chosen by the client at random, at most 64 characters; a repeated create with it returns the same game.
    pub key: String,
    /// Settings.
    #[serde(default)]
    pub settings: GameSettings,
}

/// Where a game's questions come from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum QuizSource {
    /// A stored quiz; the server asks the API for it.
    Id(QuizId),
    /// The signed document that the host page holds. The server asks the API as for its id, and plays the document only when the API
    /// cannot be reached.
    Signed(String),
}

/// Answer to `POST /game/games`: 201 for a new game, 200 for the same one again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CreateGameResponse {
    /// The game.
    pub game: GameId,
    /// Its code.
    pub code: GameCode,
    /// Players it may hold.
    pub players_max: u32,
}

/// `GET /game/status?g=CODE`: what a join page needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatusResponse {
    /// Phase.
    pub phase: Phase,
    /// Players.
    pub players: u32,
    /// Whether new players are refused.
    pub locked: bool,
}

/// A row of `GET /games`, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameSummary {
    /// The game.
    pub id: GameId,
    /// Title of the quiz as played.
    pub title: String,
    /// When the podium was reached, Unix milliseconds.
    pub ended_ms: u64,
    /// Players ranked.
    pub players: u32,
    /// Questions played.
    pub questions: u32,
}

/// `GET /games/{id}/report`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportResponse {
    /// The result as saved.
    pub result: GameResult,
    /// Per question, in playing order.
    pub questions: Vec<QuestionReport>,
}

/// One question of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionReport {
    /// Number, from 1.
    pub q: u16,
    /// Answers that contain each choice.
    pub histogram: Vec<u32>,
    /// Answers accepted.
    pub answered: u32,
    /// Correct answers.
    pub right: u32,
    /// Median time to answer in milliseconds; none when nobody answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<u32>,
}

/// `GET /quiz-usage/dashboard?days=30`: what a teacher's games came to, counted over whole days of UTC, today the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DashboardResponse {
    /// Days counted.
    pub days: u32,
    /// Where the first of them begins, Unix milliseconds.
    pub since_ms: u64,
    /// Quizzes in the library now.
    pub quizzes: u32,
    /// Games that ended in these days.
    pub played: UsageCount,
    /// The quizzes that were played most, at most ten.
    pub most_played: Vec<QuizUsage>,
}

/// Games, and what happened in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageCount {
    /// Games.
    pub games: u32,
    /// Players ranked in them; who played twice counts twice.
    pub players: u64,
    /// Accepted answers.
    pub answers: u64,
    /// Right ones among them.
    pub right: u64,
}

/// How much one quiz was played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuizUsage {
    /// The quiz.
    pub quiz: QuizId,
    /// Its title now; none when it was deleted since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its games.
    pub played: UsageCount,
    /// End of the last of them, Unix milliseconds.
    pub last_ms: u64,
}

/// `GET /quiz-usage/history?days=30`: the days on which games ended, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryResponse {
    /// Days looked at, as in a dashboard.
    pub days: u32,
    /// Where the first of them begins, Unix milliseconds.
    pub since_ms: u64,
    /// Those with games.
    pub items: Vec<UsageDay>,
}

/// A day of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageDay {
    /// Where it begins in UTC, Unix milliseconds.
    pub day_ms: u64,
    /// Its games.
    pub played: UsageCount,
}

/// A row of `GET /plans`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Stable name.
    pub id: String,
    /// Name to show.
    pub name: String,
    /// Players per game.
    pub players_max: u32,
    /// Stored quizzes.
    pub quizzes_max: u32,
}

/// `POST /internal/plan-check`: may this teacher start a game now?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCheckRequest {
    /// The teacher.
    pub teacher: TeacherId,
    /// The stored quiz that is to be played; the answer brings it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiz: Option<QuizId>,
}

/// Answer to a plan check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCheckResponse {
    /// Players the game may hold.
    pub players_max: u32,
    /// The quiz asked for; present exactly when one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiz: Option<QuizDocument>,
}

/// `POST /internal/games/epoch`: an epoch for the server that goes on with a game which another one may still hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReserveEpochRequest {
    /// The game.
    pub game: GameId,
    /// The highest epoch that the server knows of.
    pub above: u32,
}

/// Answer to the above.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReserveEpochResponse {
    /// The epoch reserved: results of lower ones are refused. None when the game has a result, and is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u32>,
}

/// `POST /internal/games/has-result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HasResultRequest {
    /// The game.
    pub game: GameId,
}

/// Answer to the above.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HasResultResponse {
    /// Whether the game has a result, or had one that its teacher deleted.
    pub has_result: bool,
}

/// Problem code of an internal call: another server goes on with the game, under an epoch that it reserved. Final for this epoch.
pub const SUPERSEDED_RESULT: &str = "superseded-result";
/// Problem code of an internal call: the account has gone. Final.
pub const UNKNOWN_TEACHER: &str = "unknown-teacher";
/// Problem code of an internal call: the teacher has no such quiz. Final.
pub const NO_SUCH_QUIZ: &str = "no-such-quiz";
/// Problem code of a call that its teacher has made as often as one may; `Retry-After` says when the next one is due.
pub const QUOTA_EXCEEDED: &str = "quota-exceeded";
/// Problem code of an internal call: another result of the game is stored. Final.
pub const DIFFERENT_RESULT: &str = "different-result";
