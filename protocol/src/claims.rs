//! Claims of the tokens that cross a process border. Every token pins one algorithm and requires `exp`, `aud`, `iss`.

use serde::{Deserialize, Serialize};

use crate::ids::{GameId, PlayerId, QuizId, TeacherId};
use crate::quiz::QuizDocument;

/// Issuer of every token.
pub const ISSUER: &str = "homeroom";
/// Audience of a teacher's access token (EdDSA, signed by the API, 15 min).
pub const AUDIENCE_TEACHER: &str = "homeroom:teacher";
/// Audience of a signed quiz document (EdDSA, signed by the API).
pub const AUDIENCE_QUIZ: &str = "homeroom:quiz";
/// `typ` of a signed quiz document's header (RFC 8725, section 3.11): beside its audience it is told from every other token by what
/// is read first.
pub const TYPE_QUIZ: &str = "homeroom-quiz+jwt";
/// Audience of a player's resume token (HS256, signed and read by game servers).
pub const AUDIENCE_PLAYER: &str = "homeroom:player";
/// Audience of a read-only screen ticket (HS256, signed and read by game servers).
pub const AUDIENCE_SCREEN: &str = "homeroom:screen";
/// Audience of a game server's token for the API's internal calls (HS256, signed by game servers, read by the API).
pub const AUDIENCE_SERVICE: &str = "homeroom:service";
/// Audience of a game server's token for other game servers (HS256, signed and read by game servers).
pub const AUDIENCE_PEER: &str = "homeroom:peer";
/// Clock leeway when a token is checked, in seconds.
pub const LEEWAY_S: u64 = 5;
/// Life of an access token, in seconds.
pub const ACCESS_TOKEN_S: u64 = 15 * 60;
/// Life of a signed quiz document, in seconds: a school day, so that a prepared host page starts without the API.
pub const SIGNED_QUIZ_S: u64 = 12 * 60 * 60;

/// Life of a service token, in seconds: signed anew for every call, so it only has to outlive one and the clocks' difference.
pub const SERVICE_TOKEN_S: u64 = 60;

/// A teacher's access token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeacherClaims {
    /// Issuer, [`ISSUER`].
    pub iss: String,
    /// Audience, [`AUDIENCE_TEACHER`].
    pub aud: String,
    /// The teacher.
    pub sub: TeacherId,
    /// Expiry, Unix seconds.
    pub exp: u64,
    /// Players a game of this teacher may hold, by plan: lets a game start while the API is down.
    pub players_max: u32,
}

/// A quiz document signed by the API for one teacher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuizClaims {
    /// Issuer, [`ISSUER`].
    pub iss: String,
    /// Audience, [`AUDIENCE_QUIZ`].
    pub aud: String,
    /// The teacher it was signed for.
    pub sub: TeacherId,
    /// Expiry, Unix seconds.
    pub exp: u64,
    /// The stored quiz.
    pub quiz_id: QuizId,
    /// The document.
    pub quiz: QuizDocument,
}

/// A player's resume token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerClaims {
    /// Issuer, [`ISSUER`].
    pub iss: String,
    /// Audience, [`AUDIENCE_PLAYER`].
    pub aud: String,
    /// The game.
    pub g: GameId,
    /// The player.
    pub p: PlayerId,
    /// When it joined, in milliseconds of the game's own time.
    pub j: u64,
    /// The epoch in which it joined or came back: an id whose joining was lost is given again in a later one.
    pub e: u32,
    /// Tells the run of the servers' storage that had the game when this was signed from other runs; empty when unknown. Whether a
    /// game that is nowhere has ended or was lost depends on it.
    #[serde(default)]
    pub s: String,
    /// Expiry, Unix seconds.
    pub exp: u64,
}

/// A read-only screen ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenClaims {
    /// Issuer, [`ISSUER`].
    pub iss: String,
    /// Audience, [`AUDIENCE_SCREEN`].
    pub aud: String,
    /// The game.
    pub g: GameId,
    /// As in [`PlayerClaims`].
    #[serde(default)]
    pub s: String,
    /// Expiry, Unix seconds.
    pub exp: u64,
}

/// A game server's token for one internal call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceClaims {
    /// Issuer, [`ISSUER`].
    pub iss: String,
    /// Audience, [`AUDIENCE_SERVICE`].
    pub aud: String,
    /// Name of the calling process, for the API's log.
    pub sub: String,
    /// Expiry, Unix seconds.
    pub exp: u64,
}
