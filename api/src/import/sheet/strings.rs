//! The texts of a workbook: shared ones, and the runs that make one text.

use super::xml::{Event, Name, Xml};
use crate::import::ImportError;

/// All shared texts, one after the other: a text of its own for each of a million empty ones would take 24 MB.
#[derive(Debug, Default)]
pub(super) struct Strings {
    all: String,
    ends: Vec<usize>,
}

impl Strings {
    /// Reads the part. The count it claims is not looked at.
    ///
    /// # Errors
    /// As [`Xml::next`].
    pub(super) fn read(part: &mut Xml<'_>) -> Result<Self, ImportError> {
        let mut strings = Self::default();
        let mut reader = TextReader::default();
        loop {
            match part.next()? {
                Event::Start(name, _) => reader.start(name),
                Event::End(Name::SharedItem) => {
                    strings.all.push_str(&std::mem::take(&mut reader).finish());
                    strings.ends.push(strings.all.len());
                }
                Event::End(name) => reader.end(name),
                Event::Text(text) => reader.push(&text),
                Event::Eof => return Ok(strings),
            }
        }
    }

    /// The text of that number, from 0.
    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied()
            .unwrap_or(0);
        self.all.get(start..end)
    }
}

/// Joins the runs of a formatted text, without the reading aids of East Asian scripts.
#[derive(Debug, Default)]
pub(super) struct TextReader {
    text: String,
    in_text: bool,
    in_phonetic: bool,
}

impl TextReader {
    pub(super) fn start(&mut self, name: Name) {
        self.set(name, true);
    }

    pub(super) fn end(&mut self, name: Name) {
        self.set(name, false);
    }

    fn set(&mut self, name: Name, inside: bool) {
        if name == Name::Text {
            self.in_text = inside;
        } else if name == Name::PhoneticRun {
            self.in_phonetic = inside;
        }
    }

    /// Adds text, if it is within an element for it.
    pub(super) fn push(&mut self, text: &str) {
        if self.in_text && !self.in_phonetic {
            self.text.push_str(text);
        }
    }

    /// The whole text.
    pub(super) fn finish(self) -> String {
        if self.text.contains("_x") {
            unescape(&self.text)
        } else {
            self.text
        }
    }
}

/// Resolves `_x000D_`, by which the format writes characters that XML cannot hold. Others than text stay as written.
pub(super) fn unescape(text: &str) -> String {
    /// Bytes of `_xHHHH_`.
    const LEN: usize = 7;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let hex = rest
            .get(2..6)
            .filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = hex.filter(|_| rest.as_bytes().get(LEN - 1) == Some(&b'_'));
        let c = code
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .and_then(char::from_u32);
        let (c, len) = c.map_or(('_', 1), |c| (c, LEN));
        // A carriage return comes with the line feed that follows it.
        if c != '\r' {
            out.push(c);
        }
        rest = &rest[len..];
    }
    out.push_str(rest);
    out
}
