//! Bytes to text, and small text tools of all parsers.

/// Part of control characters above which bytes are no text: one in this many. Real text has none but tabs, line
/// ends and, seldom, a form feed.
const CONTROL_SHARE: usize = 100;

/// Decodes a text file: byte order marks of UTF-8 and UTF-16 first, then UTF-8, then windows-1252, which old editors
/// write. Line ends of all kinds become `\n`. None when the bytes are no text.
pub(super) fn decode(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8_or_1252(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8_or_1252(bytes),
    };
    let controls = text
        .chars()
        .filter(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0C'))
        .count();
    let binary = text.contains('\0') || controls > text.len() / CONTROL_SHARE;
    (!binary).then(|| unify_line_ends(&text))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    // An odd last byte is the rest of a cut file.
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// UTF-8 when it is valid, or when its multi-byte characters outnumber the invalid bytes (a file pasted together or
/// cut off); those bytes, and any other file, are read as windows-1252.
fn utf8_or_1252(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let (mut multibyte, mut invalid) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        multibyte += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    if multibyte <= invalid {
        return bytes.iter().map(|b| windows_1252(*b)).collect();
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|b| windows_1252(*b)));
    }
    text
}

/// The characters of windows-1252 from 0x80 to 0x9F, as the WHATWG Encoding Standard has them.
const WINDOWS_1252_HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// One byte of windows-1252.
pub(super) fn windows_1252(byte: u8) -> char {
    let high = byte
        .checked_sub(0x80)
        .and_then(|offset| WINDOWS_1252_HIGH.get(usize::from(offset)));
    high.copied().unwrap_or_else(|| char::from(byte))
}

/// `\r\n` and `\r` become `\n`.
fn unify_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut after_cr = false;
    for c in text.chars() {
        match c {
            '\r' => out.push('\n'),
            '\n' if after_cr => {}
            _ => out.push(c),
        }
        after_cr = c == '\r';
    }
    out
}

/// Plain text made presentable without changing what it says: control characters go, lines lose white space at
/// their ends, the whole loses it at both, and no more than one blank line stays between two others.
pub(super) fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = 0_usize;
    for line in text.lines() {
        let line = line.trim_end();
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank > 0 { "\n\n" } else { "\n" });
        }
        blank = 0;
        let line = if out.is_empty() { line.trim_start() } else { line };
        out.extend(line.chars().filter(|c| !c.is_control() || *c == '\t'));
    }
    out.truncate(out.trim_end().len());
    out
}

/// Text on one line: white space and control characters between words become one space.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::new();
    for word in text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
    {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// At most `chars_max` characters; a longer text ends in `…`.
pub(super) fn clip(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// A file name without its extensions: `term 2.gift.txt` is `term 2`. What is no extension of ours or of an editor
/// stays, since titles contain dots.
pub(super) fn without_extensions(filename: &str) -> &str {
    const EXTENSIONS: [&str; 6] = ["gift", "txt", "text", "xlsx", "xlsm", "json"];
    let mut stem = filename;
    while let Some((rest, extension)) = stem.rsplit_once('.') {
        if !EXTENSIONS
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
        {
            break;
        }
        stem = rest;
    }
    stem
}

#[cfg(test)]
mod tests;
