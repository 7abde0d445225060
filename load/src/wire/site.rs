//! What the API is asked for and answers beyond a game: sessions, quizzes by version, a teacher's history, and the calls of game servers.

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::{Deserialize, Serialize};

use super::QuizDocument;

/// Issuer and audience of a game server's token, and how long one is good, in seconds.
const ISSUER: &str = "homeroom";
const AUDIENCE: &str = "homeroom:service";
const TOKEN_S: u64 = 60;

/// What register and login answer, with whose it is.
#[derive(Debug, Deserialize)]
pub struct SignedIn {
    /// Access token.
    pub access_token: String,
    /// Whose.
    pub user: UserId,
}

/// A user's id.
#[derive(Debug, Deserialize)]
pub struct UserId {
    /// The id.
    pub id: String,
}

/// `POST /store/auth/login`.
#[derive(Debug, Serialize)]
pub struct Login<'a> {
    /// E-mail address.
    pub email: &'a str,
    /// Password.
    pub password: &'a str,
}

/// A stored quiz as a client that edits it needs it.
#[derive(Debug, Deserialize)]
pub struct QuizVersion {
    /// The quiz.
    pub id: String,
    /// The version to be changed.
    pub version: u32,
}

/// `GET /store/quiz-usage/history`, and what is read of it.
#[derive(Debug, Deserialize)]
pub struct History {
    items: Vec<HistoryDay>,
}

#[derive(Debug, Deserialize)]
struct HistoryDay {
    played: Played,
}

/// `GET /store/quiz-usage/dashboard`, and what is read of it.
#[derive(Debug, Deserialize)]
pub struct Dashboard {
    played: Played,
}

#[derive(Debug, Deserialize)]
struct Played {
    games: u64,
    answers: u64,
}

impl History {
    /// Games of all its days.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.items.iter().map(|day| day.played.games).sum()
    }

    /// Answers of all its days.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.items.iter().map(|day| day.played.answers).sum()
    }
}

impl Dashboard {
    /// Games.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.played.games
    }
}

/// A list, and what is read of it.
#[derive(Debug, Deserialize)]
pub struct Listed {
    /// Its rows.
    pub items: Vec<serde::de::IgnoredAny>,
}

/// `POST /internal/plan-check`.
#[derive(Debug, Serialize)]
pub struct PlanCheck<'a> {
    /// The teacher.
    pub teacher: &'a str,
    /// The stored quiz.
    pub quiz: &'a str,
}

/// `POST /internal/results`: a game that was played.
#[derive(Debug, Serialize)]
pub struct PlayedGame<'a> {
    /// The game.
    pub game: String,
    /// Its code.
    pub code: String,
    /// The teacher.
    pub teacher: &'a str,
    /// The stored quiz.
    pub quiz_id: &'a str,
    /// Its settings, the default ones.
    pub settings: Settings,
    /// The quiz as it was played.
    pub quiz: QuizDocument,
    /// When it was created, Unix milliseconds.
    pub created_ms: u64,
    /// When it ended, Unix milliseconds.
    pub ended_ms: u64,
    /// What happened to each question.
    pub questions: Vec<PlayedQuestion>,
    /// The players, best first.
    pub players: Vec<PlayedBy>,
}

/// Nothing chosen.
#[derive(Debug, Default, Serialize)]
pub struct Settings {}

/// A question that was played.
#[derive(Debug, Serialize)]
pub struct PlayedQuestion {
    /// Number, from 1.
    pub q: u16,
    /// Whether it was skipped.
    pub skipped: bool,
}

/// A player.
#[derive(Debug, Serialize)]
pub struct PlayedBy {
    /// Number, from 1.
    pub id: u32,
    /// Name.
    pub name: String,
    /// Place.
    pub rank: u32,
    /// Points.
    pub total: u32,
    /// Answers.
    pub answers: Vec<PlayedAnswer>,
}

/// An answer.
#[derive(Debug, Serialize)]
pub struct PlayedAnswer {
    /// Question number.
    pub q: u16,
    /// The choice.
    pub choices: [u8; 1],
    /// Time it took, in milliseconds.
    pub elapsed_ms: u32,
    /// Whether it was right.
    pub correct: bool,
    /// Points.
    pub points: u32,
}

/// Signs the calls of game servers.
#[derive(Clone)]
pub struct ServiceSigner(EncodingKey);

impl std::fmt::Debug for ServiceSigner {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServiceSigner")
    }
}

#[derive(Serialize)]
struct Claims {
    iss: &'static str,
    aud: &'static str,
    sub: &'static str,
    exp: u64,
}

impl ServiceSigner {
    /// Signs with the secret that game servers and APIs share; none when the library does not take it.
    #[must_use]
    pub fn new(secret: &[u8]) -> Option<Self> {
        EncodingKey::from_secret(secret).ok().map(Self)
    }

    /// A token that is good for a minute from the Unix second `now_s` on; none when it cannot be signed.
    #[must_use]
    pub fn token(&self, now_s: u64) -> Option<String> {
        let claims = Claims {
            iss: ISSUER,
            aud: AUDIENCE,
            sub: "load",
            exp: now_s.saturating_add(TOKEN_S),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_three_parts_and_no_secret_shows() {
        let signer = ServiceSigner::new(b"0123456789abcdef0123456789abcdef").expect("a secret");
        let token = signer.token(1_000).expect("a token");
        assert_eq!(token.split('.').count(), 3);
        assert_eq!(format!("{signer:?}"), "ServiceSigner");
    }

    #[test]
    fn histories_are_added_up() {
        let history: History = serde_json::from_str(
            r#"{"days":30,"items":[{"day_ms":1,"played":{"games":2,"players":3,"answers":9,"right":1}},{"day_ms":0,"played":{"games":1,"answers":4}}]}"#,
        )
        .expect("a history");
        assert_eq!((history.games(), history.answers()), (3, 13));
    }
}
