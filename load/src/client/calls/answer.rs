//! An answer's head and body, told apart as soon as both are there.

use httparse::Status;

/// Headers of an answer.
const HEADERS_MAX: usize = 64;
/// Bytes of an answer at most.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer<'a> {
    /// Status.
    pub status: u16,
    /// Seconds that the caller is asked to wait.
    pub retry_after_s: Option<u32>,
    /// What it sets as a cookie, without the attributes.
    pub cookie: Option<&'a str>,
    /// Body.
    pub body: &'a [u8],
}

/// What some bytes are so far.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed<'a> {
    /// Not all of an answer.
    Part,
    /// An answer, and whether the connection may be used again.
    Whole(Answer<'a>, bool),
    /// No answer of a kind that is read here.
    Broken,
}

/// Reads `bytes`, which begin with an answer. Bodies have a length or there is none: that is how the servers answer.
pub(super) fn parse(bytes: &[u8]) -> Parsed<'_> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let head_bytes = match response.parse(bytes) {
        Ok(Status::Complete(end)) => end,
        Ok(Status::Partial) => return Parsed::Part,
        Err(_) => return Parsed::Broken,
    };
    let Some(status) = response.code else {
        return Parsed::Broken;
    };
    let header = |name: &str| {
        let found = response
            .headers
            .iter()
            .find(|h| h.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok().map(str::trim)
    };
    let length = match header("content-length").map(str::parse::<usize>) {
        Some(Ok(length)) if length <= ANSWER_BYTES_MAX => length,
        Some(_) => return Parsed::Broken,
        None if status == 204 || status == 304 => 0,
        None => return Parsed::Broken,
    };
    let Some(body) = bytes.get(head_bytes..head_bytes.saturating_add(length)) else {
        return Parsed::Part;
    };
    let answer = Answer {
        status,
        retry_after_s: header("retry-after").and_then(|text| text.parse().ok()),
        cookie: header("set-cookie").and_then(|text| text.split(';').next()),
        body,
    };
    let closes = header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    // Nothing was asked that anything more could be the answer to.
    let is_all = bytes.len() == head_bytes + length;
    if is_all {
        Parsed::Whole(answer, !closes)
    } else {
        Parsed::Broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_body_is() {
        let text =
            "HTTP/1.1 503 X\r\nRetry-After: 2\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 3\r\n\r\nabc";
        for end in 0..text.len() {
            assert_eq!(parse(&text.as_bytes()[..end]), Parsed::Part, "{end}");
        }
        let Parsed::Whole(answer, true) = parse(text.as_bytes()) else {
            panic!("not read");
        };
        assert_eq!(
            (answer.status, answer.retry_after_s, answer.cookie, answer.body),
            (503, Some(2), Some("a=b"), &b"abc"[..])
        );
    }

    #[test]
    fn what_cannot_be_an_answer_is_none() {
        for text in [
            "garbage\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab",
        ] {
            assert_eq!(parse(text.as_bytes()), Parsed::Broken, "{text}");
        }
        let closing = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
        assert!(matches!(parse(closing.as_bytes()), Parsed::Whole(answer, false) if answer.status == 204));
    }
}
