//! Which format a file has, by its content alone; known formats that are not imported yet are refused by name.

use serde::de::IgnoredAny;

use super::document::Document;
use super::gift::Gift;
use super::kahoot::Kahoot;
use super::{ImportError, Parser, text};

/// Characters looked at for the marks of XML and HTML dialects, which stand in the first element.
const HEAD_CHARS: usize = 4_096;

/// Zip archives and empty ones.
const ZIP_MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// Compound files: Office documents before 2007, and new ones inside a password's encryption.
const OLE_MAGIC: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];

/// The parser for a file.
///
/// # Errors
/// When no parser knows the content.
pub(super) fn detect(bytes: &[u8]) -> Result<Box<dyn Parser + '_>, ImportError> {
    if ZIP_MAGICS.iter().any(|magic| bytes.starts_with(magic)) {
        return Ok(Box::new(Kahoot::new(bytes)));
    }
    if bytes.starts_with(OLE_MAGIC) {
        return Err(ole(bytes));
    }
    for (magic, name) in [
        (b"%PDF".as_slice(), "a PDF document"),
        (b"{\\rtf", "a rich text document"),
        (b"\x89PNG", "a picture"),
        (b"\xFF\xD8\xFF", "a picture"),
    ] {
        if bytes.starts_with(magic) {
            return Err(ImportError::Unsupported { name });
        }
    }
    let text = text::decode(bytes).ok_or(ImportError::Unknown)?;
    if text.trim().is_empty() {
        return Err(ImportError::Empty);
    }
    if let Some(document) = Document::read(&text) {
        return Ok(Box::new(document));
    }
    if let Some(name) = other_text_format(&text) {
        return Err(ImportError::Unsupported { name });
    }
    let gift = Gift::new(text);
    if gift.is_plausible() {
        Ok(Box::new(gift))
    } else {
        Err(ImportError::Unknown)
    }
}

/// A compound file: an encrypted workbook holds its stream's name in UTF-16.
fn ole(bytes: &[u8]) -> ImportError {
    let name: Vec<u8> = "EncryptedPackage"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    if bytes.windows(name.len()).any(|window| window == name) {
        ImportError::Encrypted
    } else {
        ImportError::Unsupported {
            name: "an Office document in the format before 2007 (.xls, .doc)",
        }
    }
}

/// The name of a text format that is no GIFT.
fn other_text_format(text: &str) -> Option<&'static str> {
    let head = text.trim_start();
    if head.starts_with('<') {
        return markup(head);
    }
    if head.starts_with(['{', '[']) {
        return json(head);
    }
    if is_open_trivia(text) {
        return Some("an Open Trivia text");
    }
    if is_aiken(text) {
        return Some("Aiken text");
    }
    is_csv(head).then_some("a CSV table")
}

/// XML and HTML by their first element. Other markup is left to GIFT, whose questions may begin with a tag.
fn markup(head: &str) -> Option<&'static str> {
    let head: String = head
        .chars()
        .take(HEAD_CHARS)
        .collect::<String>()
        .to_ascii_lowercase();
    let xml = head.starts_with("<?xml");
    let has = |mark: &str| head.contains(mark);
    if has("<questestinterop") {
        Some("QTI 1.2")
    } else if has("<qti-assessment-item") || has("<qti-assessment-test") {
        Some("QTI 3")
    } else if has("<assessmentitem") || has("<assessmenttest") {
        Some("QTI 2")
    } else if has("<manifest") && (xml || has("imscp")) {
        Some("the manifest of a QTI package")
    } else if has("<quiz>") && (xml || has("<question")) {
        Some("Moodle XML")
    } else if head.starts_with("<!doctype html") || head.starts_with("<html") {
        Some("an HTML page")
    } else {
        xml.then_some("an XML file")
    }
}

/// JSON, when it is valid or looks too much like it to be anything else.
fn json(head: &str) -> Option<&'static str> {
    let opening = head.strip_prefix(['{', '['])?.trim_start();
    let looks = head.starts_with('{') && opening.starts_with('"')
        || head.starts_with('[') && opening.starts_with('{');
    if !looks && serde_json::from_str::<IgnoredAny>(head).is_err() {
        return None;
    }
    let has = |key: &str| head.contains(key);
    if has("\"response_code\"") && has("\"results\"") || has("\"incorrect_answers\"") {
        Some("Open Trivia JSON")
    } else if has("\"exportVersion\"") && has("\"quiz\"") || has("\"questionList\"") {
        Some("ARSnova JSON")
    } else {
        Some("a JSON file")
    }
}

/// OpenTriviaQA: `#Q question`, then `^ answer`.
fn is_open_trivia(text: &str) -> bool {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("#Q "));
    lines.next().is_some()
        && lines
            .take_while(|line| !line.trim().is_empty())
            .any(|line| line.starts_with("^ "))
}

/// Aiken: option lines `A) …` or `A. …`, then `ANSWER: A`.
fn is_aiken(text: &str) -> bool {
    let mut options = 0_usize;
    for line in text.lines() {
        let line = line.trim();
        let bytes = line.as_bytes();
        let letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
        if letter(0) && matches!(bytes.get(1), Some(b')' | b'.')) {
            options += 1;
        } else if options >= 2
            && line
                .strip_prefix("ANSWER:")
                .is_some_and(|key| key.trim().len() == 1)
        {
            return true;
        } else {
            options = 0;
        }
    }
    false
}

/// A table whose first line names at least two columns of a quiz.
fn is_csv(head: &str) -> bool {
    const WORDS: [&str; 7] = [
        "question", "answer", "option", "correct", "type", "time", "points",
    ];
    let first = head.lines().next().unwrap_or_default().to_lowercase();
    if first.contains(['{', '}']) || first.starts_with("//") || first.starts_with("::") {
        return false;
    }
    [',', ';', '\t'].into_iter().any(|separator| {
        let named = first
            .split(separator)
            .filter(|cell| WORDS.iter().any(|word| cell.contains(word)))
            .count();
        first.matches(separator).count() >= 2 && named >= 2
    })
}

#[cfg(test)]
mod tests;
