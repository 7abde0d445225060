//! A quiz as Moodle's GIFT text.
//!
//! GIFT has no time limits, so these are left out; several right answers are told by weights when all of them are to be ticked,
//! and as full answers when one of them is enough.

use std::fmt::Write as _;

use protocol::quiz::{Choice, Question, QuestionKind, QuizDocument};

use super::ExportError;

/// Writes the quiz.
///
/// # Errors
/// When a question cannot be said in GIFT.
pub(crate) fn write(quiz: &QuizDocument) -> Result<String, ExportError> {
    // Importers take a category for a name. A slash of the name is doubled; with a path before it, one at its beginning could not
    // be told from the path's.
    let mut out = format!("$CATEGORY: {}\n\n", escaped(&quiz.title).replace('/', "//"));
    for (question, number) in quiz.questions.iter().zip(1..) {
        out.push_str("[plain]");
        out.push_str(&escaped(&question.text));
        out.push_str(" {");
        block(&mut out, question, number)?;
        out.push_str("}\n\n");
    }
    Ok(out)
}

fn block(out: &mut String, question: &Question, number: usize) -> Result<(), ExportError> {
    if let Some(truth) = truth(question) {
        out.push_str(if truth { "TRUE" } else { "FALSE" });
        return Ok(());
    }
    let right = question.choices.iter().filter(|choice| choice.correct).count();
    let all_to_be_ticked = question.kind == QuestionKind::Multiple && right > 1;
    if right == question.choices.len() && !all_to_be_ticked {
        return Err(ExportError::AllRight { question: number });
    }
    for choice in &question.choices {
        out.push_str("\n\t");
        match (choice.correct, all_to_be_ticked) {
            // A weight even where it is the usual one: a text may begin with what looks like one.
            (true, false) => out.push_str("=%100%"),
            (true, true) => weight(out, right),
            (false, false) => out.push_str("~%0%"),
            // Ticking everything must not be right.
            (false, true) => out.push_str("~%-100%"),
        }
        out.push_str("[plain]");
        out.push_str(&escaped(&choice.text));
    }
    out.push('\n');
    Ok(())
}

/// An equal part of all, in percent.
fn weight(out: &mut String, parts: usize) {
    let parts = u32::try_from(parts).unwrap_or(u32::MAX);
    // Writing into a String does not fail.
    let _written = write!(out, "~%{:.5}%", 100.0 / f64::from(parts));
}

/// Which it is, of a statement with the usual two words; with others they would be lost.
fn truth(question: &Question) -> Option<bool> {
    match (question.kind, question.choices.as_slice()) {
        (QuestionKind::TrueFalse, [Choice { text: yes, correct }, Choice { text: no, .. }])
            if yes == "True" && no == "False" =>
        {
            Some(*correct)
        }
        (QuestionKind::TrueFalse | QuestionKind::Single | QuestionKind::Multiple, _) => None,
    }
}

/// Makes every character literal. A line's end becomes `\n`, since a blank line would end the item.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '~' | '=' | '#' | '{' | '}' | ':' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            // Importers take it for a line's end.
            '\r' => {}
            c => out.push(c),
        }
    }
    out
}
