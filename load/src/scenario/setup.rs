//! What has to exist before a class can play: a teacher, a quiz, a game.

use super::ScenarioError;
use crate::client::{Http, HttpError, Targets};
use crate::plan::{Draw, Plan, Subject};
use crate::sys::clock;
use crate::wire::{self, CreateGame, CreatedGame, Login, Register, Report, Session, StoredQuiz};

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

/// Opens a game of the stored `quiz`, of which nobody but its teacher will hear; `number` within this run.
///
/// # Errors
/// The call failed or was refused; a code that is in use is another refusal.
pub(super) fn create_game(
    targets: &Targets,
    token: &str,
    quiz: &str,
    number: u32,
) -> Result<Lobby, HttpError> {
    // Codes of 700 million: those of two runs hardly ever meet.
    let draw = Draw::new(clock::unix_ms() ^ u64::from(std::process::id()) << 32);
    let alphabet = crate::sys::small(wire::CODE_ALPHABET.len());
    let symbol = |n: u32| draw.between((Subject::Code, number, n, 0), 0, alphabet - 1);
    let code = wire::code([symbol(0), symbol(1), symbol(2), symbol(3), symbol(4), symbol(5)]);
    let path = targets.game_path(&format!("/games?g={code}"));
    let key = format!("{}-{number}-{code}", std::process::id());
    let body = CreateGame::of_stored(quiz, &key);
    let game: CreatedGame = targets.game_http(&code).post_json(&path, Some(token), &body)?;
    Ok(Lobby {
        game: game.game,
        code,
    })
}
