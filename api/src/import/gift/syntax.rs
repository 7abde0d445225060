//! GIFT's escapes, titles and format tags.

use crate::import::html::Markup;

/// Characters that a backslash makes literal, the backslash included.
const ESCAPED: &str = "~=#{}:\\";

/// The first byte of `text` that is one of `wanted` (all ASCII) and not escaped.
pub(super) fn find(text: &str, wanted: &[u8]) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'\\' {
            at += 1;
        } else if wanted.contains(byte) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The first unescaped place where `mark` stands.
pub(super) fn find_mark(text: &str, mark: &str) -> Option<usize> {
    let first = mark.as_bytes().first().copied()?;
    let mut at = 0;
    while let Some(offset) = text.get(at..).and_then(|rest| find(rest, &[first])) {
        at += offset;
        if text[at..].starts_with(mark) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Whether the text begins with `::title::`.
pub(super) fn is_titled(text: &str) -> bool {
    split_title(text).0.is_some()
}

/// The title, as written, and what follows it.
pub(super) fn split_title(text: &str) -> (Option<&str>, &str) {
    let Some(rest) = text.trim_start().strip_prefix("::") else {
        return (None, text);
    };
    match find_mark(rest, "::") {
        Some(end) => (Some(rest[..end].trim()), &rest[end + 2..]),
        None => (None, text),
    }
}

/// The format tag at the beginning of a text, and the rest.
pub(super) fn split_markup(text: &str) -> (Option<Markup>, &str) {
    const TAGS: [(&str, Markup); 4] = [
        ("html", Markup::Html),
        ("markdown", Markup::Mixed),
        ("moodle", Markup::Mixed),
        ("plain", Markup::Plain),
    ];
    let parts = text
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    let tag = parts.and_then(|(name, rest)| {
        TAGS.iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, markup)| (*markup, rest))
    });
    tag.map_or((None, text), |(markup, rest)| (Some(markup), rest))
}

/// What a line end in the file, as opposed to an escaped one, means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A line end, indentation included: stems.
    Keep,
    /// A line end without the next line's indentation, which only lines the file up: answers.
    Unindent,
}

/// Resolves the escapes. A backslash before any other character stands for itself.
pub(super) fn unescape(text: &str, layout: Layout) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('n')) => {
                chars.next();
                out.push('\n');
            }
            ('\\', Some(next)) if ESCAPED.contains(*next) => {
                out.push(*next);
                chars.next();
            }
            ('\n', _) if layout == Layout::Unindent => {
                out.push('\n');
                while chars.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
