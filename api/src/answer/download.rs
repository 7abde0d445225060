//! An answer that the browser keeps as a file.

use axum::body::Bytes;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// A file. Its name is a title and an extension.
pub(crate) struct Download {
    pub(crate) media_type: &'static str,
    pub(crate) title: String,
    pub(crate) extension: &'static str,
    pub(crate) bytes: Bytes,
}

impl IntoResponse for Download {
    fn into_response(self) -> Response {
        let mut response = self.bytes.into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        let disposition = disposition(&self.title, self.extension);
        // All of it is printable ASCII.
        if let Ok(disposition) = HeaderValue::from_str(&disposition) {
            headers.insert(CONTENT_DISPOSITION, disposition);
        }
        response
    }
}

/// The name in full for browsers (RFC 8187), and one of plain letters for everything else.
fn disposition(title: &str, extension: &str) -> String {
    let name = file_name(title);
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || " -_.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    let whole = format!("{name}.{extension}");
    let encoded: String = whole
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect();
    format!("attachment; filename=\"{plain}.{extension}\"; filename*=UTF-8''{encoded}")
}

/// A title without what no file system takes, and without what would hide or forge an extension.
fn file_name(title: &str) -> String {
    /// Characters of a name: every file system takes 255 bytes.
    const CHARS_MAX: usize = 60;
    let forged =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let name: String = title
        .chars()
        .filter(|c| !c.is_control() && !forged(*c))
        .map(|c| if "/\\:*?\"<>|".contains(c) { '-' } else { c })
        .take(CHARS_MAX)
        .collect();
    let name = name.trim_matches(|c: char| c.is_whitespace() || c == '.');
    if name.is_empty() {
        "homeroom".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_twice_and_hide_nothing() {
        assert_eq!(
            disposition("Äpfel & \"Birnen\"", "gift"),
            "attachment; filename=\"_pfel _ -Birnen-.gift\"; filename*=UTF-8''%C3%84pfel%20%26%20-Birnen-.gift"
        );
        assert_eq!(file_name("../../etc/passwd\r\nX: y"), "-..-etc-passwdX- y");
        assert_eq!(file_name("quiz\u{202e}fdp."), "quizfdp");
        assert_eq!(file_name(" . "), "homeroom");
        assert_eq!(file_name(&"ü".repeat(200)).chars().count(), 60);
    }
}
