//! What has to exist before a class can play: a teacher, a quiz, a game.

use super::ScenarioError;
use crate::client::{Http, HttpError, Targets};
use crate::plan::Plan;
use crate::sys::clock;
use crate::wire::{self, CreateGame, CreatedGame, Register, Report, Session, StoredQuiz};

/// Codes drawn before giving up; with a million codes a second draw is rare.
const CODES_MAX: u32 = 20;
const PASSWORD: &str = "a long enough password for a load test";

/// A teacher with a stored quiz.
#[derive(Debug)]
pub struct Teacher {
    email: String,
    token: String,
    quiz: String,
}

/// A game in its lobby.
#[derive(Debug)]
pub struct Lobby {
    /// The game, for its report.
    pub game: String,
    /// The code to join with.
    pub code: String,
}

#[derive(serde::Serialize)]
struct Login<'a> {
    email: &'a str,
    password: &'a str,
}

impl Teacher {
    /// Registers a new teacher, `number` within this run, and stores the first `questions` of the reference quiz.
    ///
    /// # Errors
    /// A call failed or was refused.
    pub fn register(targets: &Targets, number: u32, questions: u16) -> Result<Self, ScenarioError> {
        // Accounts outlive a run, so their names carry its time and process.
        let email = format!(
            "load-{}-{}-{number}@example.org",
            clock::unix_ms(),
            std::process::id()
        );
        let body = Register {
            email: &email,
            password: PASSWORD,
            name: "Load Teacher",
        };
        let http = targets.store_http();
        let session: Session = http.post_json(&targets.store_path("/auth/register"), None, &body)?;
        let quiz: StoredQuiz = http.post_json(
            &targets.store_path("/quizzes"),
            Some(&session.access_token),
            &wire::reference_document(questions),
        )?;
        Ok(Self {
            email,
            token: session.access_token,
            quiz: quiz.id,
        })
    }

    /// The access token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Signs in again: a long game outlives an access token.
    ///
    /// # Errors
    /// The call failed or was refused.
    pub fn sign_in_again(&mut self, targets: &Targets) -> Result<(), ScenarioError> {
        let body = Login {
            email: &self.email,
            password: PASSWORD,
        };
        let path = targets.store_path("/auth/login");
        let session: Session = targets.store_http().post_json(&path, None, &body)?;
        self.token = session.access_token;
        Ok(())
    }

    /// Opens the game of `class`, drawing codes until one is free.
    ///
    /// # Errors
    /// A call failed, no code is free, or the game may hold fewer players than the class has.
    pub fn open_lobby(&self, targets: &Targets, plan: &Plan, class: u32) -> Result<Lobby, ScenarioError> {
        let alphabet = crate::sys::small(wire::CODE_ALPHABET.len());
        for attempt in 0..CODES_MAX {
            let code = wire::code(plan.code_positions(class, attempt, alphabet));
            let path = targets.game_path(&format!("/games?g={code}"));
            let key = format!("{}-{class}-{attempt}", self.email);
            let http: Http = targets.game_http(&code);
            let response = http.post(&path, Some(&self.token), &CreateGame::of_stored(&self.quiz, &key))?;
            if response.status == 409 {
                continue;
            }
            let created: CreatedGame = response.read("POST", &path)?;
            let size = plan.size(class);
            if let Some(players_max) = created.players_max.filter(|&max| max < size) {
                return Err(ScenarioError::RoomTooSmall { players_max, size });
            }
            return Ok(Lobby {
                game: created.game,
                code,
            });
        }
        Err(ScenarioError::NoCode(CODES_MAX))
    }

    /// The saved result of `lobby`'s game; none when it is not saved yet.
    ///
    /// # Errors
    /// The call failed, or was refused for another reason.
    pub fn report(&self, targets: &Targets, lobby: &Lobby) -> Result<Option<Report>, HttpError> {
        let path = targets.store_path(&format!("/games/{}/report", lobby.game));
        let response = targets.store_http().get(&path, Some(&self.token))?;
        if response.status == 404 {
            return Ok(None);
        }
        response.read("GET", &path).map(Some)
    }
}
