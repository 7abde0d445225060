//! Bodies of the HTTP calls that the harness makes.

use serde::{Deserialize, Serialize};

use crate::plan;

/// `POST /store/auth/register`.
#[derive(Debug, Serialize)]
pub struct Register<'a> {
    /// E-mail address.
    pub email: &'a str,
    /// Password.
    pub password: &'a str,
    /// Name to show.
    pub name: &'a str,
}

/// What register and login answer.
#[derive(Debug, Deserialize)]
pub struct Session {
    /// Access token.
    pub access_token: String,
}

/// A quiz as teachers store it.
#[derive(Debug, Serialize)]
pub struct QuizDocument {
    title: String,
    questions: Vec<Question>,
}

#[derive(Debug, Serialize)]
struct Question {
    kind: &'static str,
    text: String,
    choices: Vec<Choice>,
    time_ms: u32,
}

#[derive(Debug, Serialize)]
struct Choice {
    text: String,
    correct: bool,
}

/// The first `questions` questions of the reference quiz.
#[must_use]
pub fn reference_document(questions: u16) -> QuizDocument {
    let question = |q| Question {
        kind: "single",
        text: plan::reference_stem(q),
        choices: (0..plan::CHOICES)
            .map(|c| Choice {
                text: plan::reference_choice(q, c),
                correct: c == plan::reference_correct(q),
            })
            .collect(),
        time_ms: plan::TIME_MS,
    };
    QuizDocument {
        title: "Reference quiz".to_owned(),
        questions: (1..=questions).map(question).collect(),
    }
}

/// Answer to `POST /store/quizzes`.
#[derive(Debug, Deserialize)]
pub struct StoredQuiz {
    /// The quiz.
    pub id: String,
}

/// `POST /game/games?g=CODE`.
#[derive(Debug, Serialize)]
pub struct CreateGame<'a> {
    /// The quiz.
    pub quiz: QuizSource<'a>,
    /// Makes a repeated create return the same game.
    pub key: &'a str,
}

/// Where the questions come from.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuizSource<'a> {
    /// A stored quiz.
    Id(&'a str),
}

impl<'a> CreateGame<'a> {
    /// A game of a stored quiz with the default settings.
    #[must_use]
    pub const fn of_stored(quiz: &'a str, key: &'a str) -> Self {
        Self {
            quiz: QuizSource::Id(quiz),
            key,
        }
    }
}

/// Answer to a create.
#[derive(Debug, Deserialize)]
pub struct CreatedGame {
    /// The game, for its report.
    pub game: String,
    /// Players it may hold.
    pub players_max: Option<u32>,
}

/// `GET /game/status?g=CODE`.
#[derive(Debug, Deserialize)]
pub struct Status {
    /// Players.
    pub players: u32,
}

/// The body of a refusal.
#[derive(Debug, Deserialize)]
pub struct Problem {
    /// Stable code.
    pub code: Option<String>,
    /// One sentence.
    pub detail: Option<String>,
}

/// `GET /store/games/{id}/report`.
#[derive(Debug, Deserialize)]
pub struct Report {
    result: GameResult,
}

#[derive(Debug, Deserialize)]
struct GameResult {
    players: Vec<PlayerRow>,
    #[serde(default)]
    questions: Vec<QuestionRow>,
}

#[derive(Debug, Deserialize)]
struct QuestionRow {
    q: u16,
    #[serde(default)]
    skipped: bool,
}

impl Report {
    /// The ranked players.
    #[must_use]
    pub fn players(&self) -> &[PlayerRow] {
        &self.result.players
    }

    /// Questions that count for nobody: skipped, or open when the host ended the playing.
    #[must_use]
    pub fn skipped(&self) -> Vec<u16> {
        let skipped = self.result.questions.iter().filter(|row| row.skipped);
        skipped.map(|row| row.q).collect()
    }
}

/// A player in a report.
#[derive(Debug, Clone, Deserialize)]
pub struct PlayerRow {
    /// The player.
    pub id: u32,
    /// Name.
    pub name: String,
    /// Place.
    pub rank: u32,
    /// Points.
    pub total: u32,
    /// Accepted answers.
    pub answers: Vec<AnswerRow>,
}

/// An answer in a report.
#[derive(Debug, Clone, Deserialize)]
pub struct AnswerRow {
    /// Question number, from 1.
    pub q: u16,
    /// The choices, from 0.
    pub choices: Vec<u8>,
    /// Time from opening to arrival at the server, in milliseconds.
    pub elapsed_ms: u32,
    /// Whether it was correct.
    pub correct: bool,
    /// Points earned.
    pub points: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_one_correct_choice_a_question() {
        let json = serde_json::to_value(reference_document(20)).expect("plain data");
        let questions = json["questions"].as_array().expect("questions");
        assert_eq!(questions.len(), 20);
        for question in questions {
            let choices = question["choices"].as_array().expect("choices");
            assert_eq!(choices.iter().filter(|c| c["correct"] == true).count(), 1);
        }
    }

    #[test]
    fn a_report_is_read() {
        let report: Report = serde_json::from_str(
            r#"{"result":{"game":"x","players":[{"id":1,"name":"A","rank":1,"total":900,"answers":[{"q":1,"choices":[2],"elapsed_ms":4,"correct":true,"points":900}]}],"questions":[{"q":1,"skipped":false},{"q":2,"skipped":true}]},"questions":[]}"#,
        )
        .expect("report");
        assert_eq!(report.skipped(), [2]);
        assert_eq!(report.players()[0].answers[0].points, 900);
        let create = serde_json::to_string(&CreateGame::of_stored("7", "k")).expect("plain data");
        assert_eq!(create, r#"{"quiz":{"id":"7"},"key":"k"}"#);
    }
}
