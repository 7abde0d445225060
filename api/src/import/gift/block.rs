//! The answer block: which type of question it makes, and its answers.

use protocol::quiz::CHOICES_MAX;

use super::syntax;

/// Weight of an answer that is fully right, in percent.
pub(super) const FULL_PERCENT: f64 = 100.0;

/// What a block asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Block<'t> {
    /// `{T}`, `{FALSE}`.
    TrueFalse {
        /// The statement is true.
        correct: bool,
        /// It has feedback.
        feedback: bool,
    },
    /// Answers to choose from, at most [`CHOICES_MAX`].
    Choices(Vec<Answer<'t>>),
    /// More answers than can be shown.
    TooMany(usize),
    /// A type that is not imported, as the reason for leaving the item out.
    Unsupported(&'static str),
}

/// One answer.
#[derive(Debug, PartialEq)]
pub(super) struct Answer<'t> {
    /// The text as written, with a format tag of its own if it has one.
    pub(super) text: &'t str,
    /// Credit in percent, negative for a penalty.
    pub(super) percent: f64,
    /// It has feedback.
    pub(super) feedback: bool,
    /// Marked with `=`, not `~`.
    equals: bool,
    /// White space, or the block's beginning, stands before the mark.
    apart: bool,
}

impl Answer<'_> {
    /// Whether it alone gives full credit in a single-choice question.
    pub(super) fn is_full(&self) -> bool {
        self.equals && self.percent >= FULL_PERCENT
    }
}

/// Parses a block without its braces. Tells also whether it has general feedback (`####`).
///
/// # Errors
/// The reason when the block is malformed.
pub(super) fn parse(block: &str) -> Result<(Block<'_>, bool), String> {
    let (body, general) = match syntax::find_mark(block, "####") {
        Some(at) => (block[..at].trim(), !block[at + 4..].trim().is_empty()),
        None => (block.trim(), false),
    };
    Ok((kind(body)?, general))
}

fn kind(body: &str) -> Result<Block<'_>, String> {
    if body.is_empty() {
        return Ok(Block::Unsupported("Essay questions are not supported yet."));
    }
    if body.starts_with('#') {
        return Ok(Block::Unsupported("Numeric questions are not supported yet."));
    }
    let (statement, feedback) = split_feedback(body);
    if let Some(correct) = truth(statement) {
        return Ok(Block::TrueFalse { correct, feedback });
    }
    let Some(first) = syntax::find(body, b"~=") else {
        return Err("Its answer block has no answers: each begins with = or ~.".to_owned());
    };
    if !body[..first].trim().is_empty() {
        return Err("Its answer block has text before the first answer.".to_owned());
    }
    let (mut count, mut tildes, mut arrows) = (0_usize, 0_usize, 0_usize);
    for answer in Answers::new(body) {
        count += 1;
        tildes += usize::from(!answer.equals);
        arrows += usize::from(syntax::find_mark(answer.text, "->").is_some());
    }
    if tildes == 0 {
        return Ok(Block::Unsupported(if arrows > 0 {
            "Matching questions are not supported yet."
        } else {
            "Short-answer questions are not supported yet."
        }));
    }
    if count > CHOICES_MAX {
        return Ok(Block::TooMany(count));
    }
    Ok(Block::Choices(Answers::new(body).collect()))
}

fn truth(statement: &str) -> Option<bool> {
    let is = |word: &str| statement.eq_ignore_ascii_case(word);
    if is("T") || is("TRUE") {
        Some(true)
    } else {
        (is("F") || is("FALSE")).then_some(false)
    }
}

/// Whether an answer began at a `=` that stands inside of a word while other marks stand apart: then it may have been
/// meant literally, as in `~x=5`.
pub(super) fn has_glued_equals(answers: &[Answer<'_>]) -> bool {
    answers.iter().skip(1).any(|answer| answer.apart) && answers.iter().any(|a| a.equals && !a.apart)
}

/// An answer without its feedback, and whether it has some. The `#` of a character reference (`&#39;`) begins none.
fn split_feedback(text: &str) -> (&str, bool) {
    let mut at = 0;
    while let Some(offset) = syntax::find(&text[at..], b"#") {
        at += offset;
        if !is_reference(text, at) {
            return (text[..at].trim(), !text[at + 1..].trim().is_empty());
        }
        at += 1;
    }
    (text.trim(), false)
}

/// Whether the `#` at byte `at` is that of `&#1234;` or `&#x12ab;`.
fn is_reference(text: &str, at: usize) -> bool {
    /// Digits of the highest code point, 1114111.
    const DIGITS_MAX: usize = 7;
    if !text[..at].ends_with('&') {
        return false;
    }
    let digits = text[at + 1..].trim_start_matches(['x', 'X']);
    let len = digits
        .bytes()
        .take(DIGITS_MAX + 1)
        .take_while(u8::is_ascii_hexdigit)
        .count();
    (1..=DIGITS_MAX).contains(&len) && digits[len..].starts_with(';')
}

/// `%50%`, `%-33.333%`, also with a decimal comma, and what follows.
fn split_percent(text: &str) -> (Option<f64>, &str) {
    let parts = text.strip_prefix('%').and_then(|rest| rest.split_once('%'));
    let percent = parts.and_then(|(number, rest)| {
        let number = number.trim().replace(',', ".");
        let digits = number.strip_prefix('-').unwrap_or(&number);
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        number
            .parse()
            .ok()
            .filter(|_| plain)
            .map(|percent| (percent, rest))
    });
    percent.map_or((None, text), |(percent, rest)| (Some(percent), rest))
}

/// Iterates over the answers of a block that begins with one.
struct Answers<'t> {
    body: &'t str,
    /// The next answer's mark.
    at: Option<usize>,
}

impl<'t> Answers<'t> {
    fn new(body: &'t str) -> Self {
        Self {
            body,
            at: syntax::find(body, b"~="),
        }
    }
}

impl<'t> Iterator for Answers<'t> {
    type Item = Answer<'t>;

    fn next(&mut self) -> Option<Answer<'t>> {
        let mut mark = self.at?;
        let before = self.body[..mark].chars().next_back();
        let apart = before.is_none_or(char::is_whitespace);
        // Some tools write `~=` for a right answer.
        if self.body[mark..].starts_with("~=") {
            mark += 1;
        }
        let equals = self.body.as_bytes()[mark] == b'=';
        let start = mark + 1;
        self.at = syntax::find(&self.body[start..], b"~=").map(|offset| start + offset);
        let content = self.body[start..self.at.unwrap_or(self.body.len())].trim();
        let (percent, content) = split_percent(content);
        let (text, feedback) = split_feedback(content);
        let percent = percent.unwrap_or(if equals { FULL_PERCENT } else { 0.0 });
        Some(Answer {
            text,
            percent,
            feedback,
            equals,
            apart,
        })
    }
}

#[cfg(test)]
mod tests;
