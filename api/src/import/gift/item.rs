//! One GIFT item to a question, or to the reason why not.

use protocol::quiz::{Choice, Question, QuestionKind, TIME_MS_DEFAULT};

use super::block::{self, Answer, Block};
use super::scan::RawItem;
use super::syntax::{self, Layout};
use crate::import::html::{self, Markup};
use crate::import::report::{self, Report};
use crate::import::text;

/// Stands where an answer is missing from a sentence.
const GAP: &str = "____";

/// What imported items had that questions do not carry; noted once a file, since most items of a file have it.
#[derive(Debug, Default)]
pub(super) struct Features {
    feedback_count: usize,
    feedback_line: usize,
}

impl Features {
    pub(super) fn note(&self, report: &mut Report) {
        if self.feedback_count > 0 {
            let (count, word) = match self.feedback_count {
                1 => (1, "question"),
                count => (count, "questions"),
            };
            let reason = format!("The feedback of {count} imported {word} is not carried over.");
            report.note("Feedback", format_args!("line {}", self.feedback_line), reason);
        }
    }
}

/// An item's parts.
struct Parts<'t> {
    title: Option<String>,
    markup: Markup,
    stem: &'t str,
    block: &'t str,
    tail: &'t str,
}

/// A question and what is to be noted of it once it is taken.
struct Draft {
    question: Question,
    notes: Vec<String>,
    feedback: bool,
}

/// Imports an item.
pub(super) fn import(raw: &RawItem, report: &mut Report, features: &mut Features) {
    let (title, rest) = syntax::split_title(&raw.text);
    let title = title.map(|title| text::one_line(&syntax::unescape(title, Layout::Keep)));
    let title = title.filter(|title| !title.is_empty());
    let (markup, rest) = syntax::split_markup(rest);
    let markup = markup.unwrap_or(Markup::Mixed);
    let stem = &rest[..syntax::find(rest, b"{").unwrap_or(rest.len())];
    let name = title
        .clone()
        .unwrap_or_else(|| text::one_line(&plain(stem, markup, Layout::Keep).text));
    let place = format_args!("line {}", raw.line);
    let draft = split(title, markup, stem, rest).and_then(question);
    match draft {
        Err(reason) => report.skip(&name, place, reason),
        Ok(draft) => {
            if !report.take(&name, place, draft.question) {
                return;
            }
            for note in draft.notes {
                report.note(&name, place, note);
            }
            if draft.feedback {
                features.feedback_count += 1;
                if features.feedback_line == 0 {
                    features.feedback_line = raw.line;
                }
            }
        }
    }
}

/// Splits what follows title and format tag around its answer block.
fn split<'t>(
    title: Option<String>,
    markup: Markup,
    stem: &'t str,
    rest: &'t str,
) -> Result<Parts<'t>, String> {
    let Some(after) = rest.get(stem.len() + 1..) else {
        return Err("Descriptions (text without an answer block) are not supported yet.".to_owned());
    };
    let Some(end) = syntax::find(after, b"}") else {
        return Err("Its answer block is not closed with }.".to_owned());
    };
    let (block, tail) = (&after[..end], &after[end + 1..]);
    if syntax::find(block, b"{").is_some() {
        return Err("There is a { inside of its answer block; a literal one is written \\{.".to_owned());
    }
    if syntax::find(tail, b"{").is_some() {
        return Err("It has more than one answer block; a literal { is written \\{.".to_owned());
    }
    Ok(Parts {
        title,
        markup,
        stem,
        block,
        tail,
    })
}

fn question(parts: Parts<'_>) -> Result<Draft, String> {
    let (block, general_feedback) = block::parse(parts.block)?;
    let mut draft = match block {
        Block::TrueFalse { correct, feedback } => Draft {
            question: Question {
                kind: QuestionKind::TrueFalse,
                text: String::new(),
                choices: [("True", correct), ("False", !correct)]
                    .map(|(text, correct)| Choice {
                        text: text.to_owned(),
                        correct,
                    })
                    .into(),
                time_ms: TIME_MS_DEFAULT,
            },
            notes: Vec::new(),
            feedback,
        },
        Block::Choices(answers) => choices(&answers, parts.markup)?,
        Block::Unsupported(reason) => return Err(reason.to_owned()),
        Block::TooMany(count) => return Err(report::choices_reason(count)),
    };
    draft.feedback |= general_feedback;
    // A statement has no word missing, whatever follows its block.
    let gap = if draft.question.kind == QuestionKind::TrueFalse || parts.tail.trim().is_empty() {
        ""
    } else {
        GAP
    };
    let stem = plain(
        &format!("{}{gap}{}", parts.stem, parts.tail),
        parts.markup,
        Layout::Keep,
    );
    if stem.media {
        draft
            .notes
            .insert(0, "Its image or other media is not carried over.".to_owned());
    }
    let missing = stem.text.trim().is_empty() || stem.text.trim() == GAP;
    draft.question.text = match parts.title {
        Some(title) if missing => {
            draft
                .notes
                .insert(0, "It has no text, so its title is its text.".to_owned());
            title
        }
        _ => stem.text,
    };
    Ok(draft)
}

/// Escapes resolved, markup reduced, white space tidied.
fn plain(raw: &str, markup: Markup, layout: Layout) -> html::Reduced {
    let reduced = html::reduce(&syntax::unescape(raw, layout), markup);
    html::Reduced {
        text: text::tidy(&reduced.text),
        media: reduced.media,
    }
}

/// Choices with their weights: with a full answer (`=`) among them one is chosen and each full answer is correct;
/// without, several positive weights mean that all of them are to be ticked.
fn choices(answers: &[Answer<'_>], question_markup: Markup) -> Result<Draft, String> {
    let mut notes = Vec::new();
    let mut media = false;
    let has_full = answers.iter().any(Answer::is_full);
    let positive = |answer: &&Answer<'_>| answer.percent > 0.0;
    let kind = if !has_full && answers.iter().filter(positive).count() > 1 {
        QuestionKind::Multiple
    } else {
        QuestionKind::Single
    };
    let mut choices = Vec::with_capacity(answers.len());
    for answer in answers {
        let (markup, raw) = syntax::split_markup(answer.text);
        let reduced = plain(raw, markup.unwrap_or(question_markup), Layout::Unindent);
        media |= reduced.media;
        let correct = if has_full {
            answer.is_full()
        } else {
            answer.percent > 0.0
        };
        choices.push(Choice {
            text: reduced.text,
            correct,
        });
    }
    if media {
        notes.push("An image or other media in its answers is not carried over.".to_owned());
    }
    if let Some(note) = weights_note(answers, has_full) {
        notes.push(note.to_owned());
    }
    if block::has_glued_equals(answers) {
        let note =
            "One of its answers begins at a = without white space before it; a literal one is written \\=.";
        notes.push(note.to_owned());
    }
    let question = Question {
        kind,
        text: String::new(),
        choices,
        time_ms: TIME_MS_DEFAULT,
    };
    Ok(Draft {
        question,
        notes,
        feedback: answers.iter().any(|answer| answer.feedback),
    })
}

/// What the weights say beyond right and wrong, which a question cannot carry.
fn weights_note(answers: &[Answer<'_>], has_full: bool) -> Option<&'static str> {
    let positive = || {
        answers
            .iter()
            .map(|answer| answer.percent)
            .filter(|percent| *percent > 0.0)
    };
    if has_full && positive().any(|percent| percent < block::FULL_PERCENT) {
        return Some("Its answers with partial credit count as wrong.");
    }
    let (least, most) = positive().fold((f64::MAX, 0.0), |(least, most), p| (p.min(least), p.max(most)));
    // Files round thirds and the like to one to seven decimals.
    let uneven = most - least > 0.5;
    let partial = positive().count() == 1 && most < block::FULL_PERCENT;
    (!has_full && (uneven || partial)).then_some("Its answers' different weights are not carried over.")
}
