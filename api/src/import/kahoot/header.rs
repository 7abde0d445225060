//! Finding the template's header row and what its columns are, by their texts, in the languages of the template.

use crate::import::sheet::Row;
use crate::import::text;

/// Most answers of a template, in Kahoot's variants of it.
pub(super) const ANSWERS_MAX: u32 = 6;

const QUESTION: [&str; 8] = [
    "question", "frage", "pregunta", "pergunta", "domanda", "vraag", "pytanie", "fråga",
];
const ANSWER: [&str; 10] = [
    "answer",
    "antwort",
    "respuesta",
    "resposta",
    "réponse",
    "reponse",
    "risposta",
    "antwoord",
    "odpowiedź",
    "svar",
];
const TIME: [&str; 7] = ["time", "zeit", "tiempo", "tempo", "temps", "tijd", "czas"];
const CORRECT: [&str; 8] = [
    "correct", "richtig", "korrekt", "bonne", "corret", "juist", "poprawn", "rätt",
];

/// The template's columns, from 0.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) question: u32,
    /// The number in the header and its column, in that number's order.
    pub(super) answers: Vec<(u32, u32)>,
    pub(super) time: Option<u32>,
    pub(super) correct: u32,
}

/// What a header's text says.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    Question,
    Answer(u32),
    Time,
    Correct,
}

impl Columns {
    /// The columns, if the row is a header: a question, two answers or more, and the correct ones.
    pub(super) fn find(row: &Row) -> Option<Self> {
        let (mut question, mut time, mut correct) = (None, None, None);
        let mut answers: Vec<(u32, u32)> = Vec::new();
        for (column, value) in &row.cells {
            match meaning(value.as_text()) {
                Some(Meaning::Question) => question = question.or(Some(*column)),
                Some(Meaning::Answer(number)) if answers.iter().all(|(known, _)| *known != number) => {
                    answers.push((number, *column));
                }
                Some(Meaning::Time) => time = time.or(Some(*column)),
                Some(Meaning::Correct) => correct = correct.or(Some(*column)),
                Some(Meaning::Answer(_)) | None => {}
            }
        }
        answers.sort_unstable();
        if answers.len() < 2 {
            return None;
        }
        Some(Self {
            question: question?,
            answers,
            time,
            correct: correct?,
        })
    }
}

fn meaning(header: &str) -> Option<Meaning> {
    /// Longer texts are the template's instructions, which speak of questions and answers too.
    const HEADER_CHARS_MAX: usize = 100;
    let header = text::one_line(header).to_lowercase();
    if header.chars().nth(HEADER_CHARS_MAX).is_some() {
        return None;
    }
    // "Correct answer(s)", "Respuesta(s) correcta(s)" and "Time limit" before the words they share with others.
    if CORRECT.iter().any(|word| header.contains(word)) {
        return Some(Meaning::Correct);
    }
    if let Some(rest) = ANSWER.iter().find_map(|word| header.strip_prefix(word)) {
        let digits: String = rest
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        return digits
            .parse()
            .ok()
            .filter(|n| (1..=ANSWERS_MAX).contains(n))
            .map(Meaning::Answer);
    }
    if QUESTION.iter().any(|word| header.starts_with(word)) {
        return Some(Meaning::Question);
    }
    TIME.iter()
        .any(|word| header.contains(word))
        .then_some(Meaning::Time)
}
