//! The few HTTP calls of a run, blocking, one connection each. They are never measured: players and hosts use
//! [`super::link`].

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::tls::Trust;

/// A call that takes longer has failed: registering hashes a password, saving a result writes to disk.
const CALL_MS_MAX: u64 = 15_000;
/// Largest answer read: a report of 500 players and 20 questions has about 1 MB.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Headers of an answer.
const HEADERS_MAX: usize = 64;

/// Where the servers are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name and port as given, for the `Host` header.
    pub host: String,
    /// Its address.
    pub address: SocketAddr,
    /// Whether it speaks TLS.
    pub is_tls: bool,
    /// Whose certificates are believed then; nobody's before [`Target::trusting`].
    pub trust: Option<Trust>,
}

impl Target {
    /// The same, with certificates to believe if it speaks TLS.
    #[must_use]
    pub fn trusting(self, trust: &Trust) -> Self {
        Self {
            trust: self.is_tls.then(|| trust.clone()),
            ..self
        }
    }
}

/// Why a target is refused.
#[derive(Debug, Error)]
pub enum TargetError {
    /// Another scheme.
    #[error("the target must begin with http:// or https://")]
    Scheme,
    /// A path or nothing after the scheme.
    #[error("the target must be http://HOST:PORT or https://HOST:PORT without a path")]
    Shape,
    /// The name is not known.
    #[error("the target's name {0} is not known")]
    Unknown(String),
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let (is_tls, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (None, Some(rest)) => (true, rest),
            (None, None) => return Err(TargetError::Scheme),
        };
        let host = rest.trim_end_matches('/');
        if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
            return Err(TargetError::Shape);
        }
        // The colons of an address in brackets are not a port's.
        let has_port = host.rsplit_once(']').map_or(host, |(_, rest)| rest).contains(':');
        let with_port = if has_port {
            host.to_owned()
        } else {
            format!("{host}:{}", if is_tls { 443 } else { 80 })
        };
        let mut addresses = with_port
            .to_socket_addrs()
            .map_err(|_| TargetError::Unknown(host.to_owned()))?;
        let address = addresses
            .next()
            .ok_or_else(|| TargetError::Unknown(host.to_owned()))?;
        Ok(Self {
            host: host.to_owned(),
            address,
            is_tls,
            trust: None,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http{}://{}", if self.is_tls { "s" } else { "" }, self.host)
    }
}

/// Why a call failed.
#[derive(Debug, Error)]
pub enum HttpError {
    /// No connection, or it broke.
    #[error("{call}: no answer")]
    Io {
        /// Method and path.
        call: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The answer is no HTTP.
    #[error("{call}: the answer is no HTTP")]
    Broken {
        /// Method and path.
        call: String,
    },
    /// Another status than asked for.
    #[error("{call}: status {status}: {detail}")]
    Status {
        /// Method and path.
        call: String,
        /// Status.
        status: u16,
        /// The server's sentence.
        detail: String,
    },
    /// The body is not what the call promises.
    #[error("{call}: unexpected body")]
    Body {
        /// Method and path.
        call: String,
        /// Where it differs.
        #[source]
        source: serde_json::Error,
    },
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Status.
    pub status: u16,
    /// Body.
    pub body: Vec<u8>,
}

/// HTTP calls to one target.
#[derive(Debug, Clone)]
pub struct Http {
    target: Target,
}

impl Http {
    /// Calls to `target`.
    #[must_use]
    pub const fn new(target: Target) -> Self {
        Self { target }
    }

    /// `GET path`, whatever the status.
    ///
    /// # Errors
    /// No answer, or no HTTP.
    pub fn get(&self, path: &str, token: Option<&str>) -> Result<Response, HttpError> {
        self.call("GET", path, token, &[])
    }

    /// `GET path`, 200 and a JSON body.
    ///
    /// # Errors
    /// As [`Http::get`], and another status or shape.
    pub fn get_json<T: DeserializeOwned>(&self, path: &str, token: Option<&str>) -> Result<T, HttpError> {
        self.get(path, token)?.read("GET", path)
    }

    /// `POST path` with a JSON body, whatever the status.
    ///
    /// # Errors
    /// No answer, or no HTTP.
    pub fn post(
        &self,
        path: &str,
        token: Option<&str>,
        body: &impl Serialize,
    ) -> Result<Response, HttpError> {
        let body = serde_json::to_vec(body).map_err(|source| HttpError::Body {
            call: format!("POST {path}"),
            source,
        })?;
        self.call("POST", path, token, &body)
    }

    /// `POST path` with a JSON body, a 2xx and a JSON body.
    ///
    /// # Errors
    /// As [`Http::post`], and another status or shape.
    pub fn post_json<T: DeserializeOwned>(
        &self,
        path: &str,
        token: Option<&str>,
        body: &impl Serialize,
    ) -> Result<T, HttpError> {
        self.post(path, token, body)?.read("POST", path)
    }

    fn call(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &[u8],
    ) -> Result<Response, HttpError> {
        let call = format!("{method} {path}");
        let answer = self
            .exchange(method, path, token, body)
            .map_err(|source| HttpError::Io {
                call: call.clone(),
                source,
            })?;
        parse_response(&answer).ok_or(HttpError::Broken { call })
    }

    fn exchange(&self, method: &str, path: &str, token: Option<&str>, body: &[u8]) -> io::Result<Vec<u8>> {
        let limit = Duration::from_millis(CALL_MS_MAX);
        let stream = TcpStream::connect_timeout(&self.target.address, limit)?;
        stream.set_read_timeout(Some(limit))?;
        stream.set_write_timeout(Some(limit))?;
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
            self.target.host
        );
        if let Some(token) = token {
            head.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        if method == "POST" {
            head.push_str(&format!(
                "Content-Type: application/json\r\nContent-Length: {}\r\n",
                body.len()
            ));
        }
        head.push_str("\r\n");
        let request = [head.as_bytes(), body].concat();
        match (&self.target.trust, self.target.is_tls) {
            (Some(trust), true) => exchanged(trust.over(&self.target.host, stream)?, &request),
            (None, true) => Err(io::Error::other("no certificates to believe were given")),
            (_, false) => exchanged(stream, &request),
        }
    }
}

/// Sends a request and reads to the end of the stream.
#[expect(
    clippy::disallowed_methods,
    reason = "read through take(ANSWER_BYTES_MAX), and nothing is inflated"
)]
fn exchanged(mut stream: impl Read + Write, request: &[u8]) -> io::Result<Vec<u8>> {
    stream.write_all(request)?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    Ok(answer)
}

impl Response {
    /// This answer as the failure of `call`.
    #[must_use]
    pub fn refusal(&self, call: String) -> HttpError {
        let problem: Option<crate::wire::Problem> = serde_json::from_slice(&self.body).ok();
        let detail = problem
            .and_then(|p| p.detail.or(p.code))
            .unwrap_or_else(|| "no reason given".to_owned());
        HttpError::Status {
            call,
            status: self.status,
            detail,
        }
    }

    /// Reads the JSON body of a 2xx answer to `method path`.
    ///
    /// # Errors
    /// Another status, with the server's sentence, or another shape.
    pub fn read<T: DeserializeOwned>(&self, method: &str, path: &str) -> Result<T, HttpError> {
        let call = format!("{method} {path}");
        if !(200..300).contains(&self.status) {
            return Err(self.refusal(call));
        }
        serde_json::from_slice(&self.body).map_err(|source| HttpError::Body { call, source })
    }
}

fn parse_response(bytes: &[u8]) -> Option<Response> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let Ok(httparse::Status::Complete(end)) = response.parse(bytes) else {
        return None;
    };
    let status = response.code?;
    let rest = &bytes[end..];
    let header = |name: &str| {
        let found = response
            .headers
            .iter()
            .find(|h| h.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok()
    };
    let body = if header("transfer-encoding").is_some_and(|v| v.eq_ignore_ascii_case("chunked")) {
        unchunk(rest)?
    } else if let Some(length) = header("content-length") {
        rest.get(..length.trim().parse().ok()?)?.to_vec()
    } else {
        rest.to_vec()
    };
    Some(Response { status, body })
}

/// Joins the chunks of a body; none when its end is missing.
fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let Ok(httparse::Status::Complete((start, length))) = httparse::parse_chunk_size(rest) else {
            return None;
        };
        if length == 0 {
            return Some(body);
        }
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        body.extend_from_slice(rest.get(start..end)?);
        rest = rest.get(end..)?.strip_prefix(b"\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_checked() {
        let target: Target = "http://127.0.0.1:8080/".parse().expect("target");
        assert_eq!(
            (target.host.as_str(), target.address.port()),
            ("127.0.0.1:8080", 8080)
        );
        assert_eq!(target.to_string(), "http://127.0.0.1:8080");
        let ports = [
            "http://[::1]",
            "http://[::1]:8080",
            "http://127.0.0.1",
            "https://127.0.0.1",
        ]
        .map(|text| text.parse::<Target>().expect("target").address.port());
        assert_eq!(ports, [80, 8_080, 80, 443]);
        for bad in [
            "127.0.0.1:80",
            "https://",
            "ftp://x",
            "http://",
            "http://127.0.0.1:80/game",
            "http://127.0.0.1:99999",
        ] {
            assert!(bad.parse::<Target>().is_err(), "{bad}");
        }
    }

    #[test]
    fn bodies_are_read_by_length_chunks_or_end() {
        let body = |text: &str| {
            parse_response(text.as_bytes()).map(|r| (r.status, String::from_utf8_lossy(&r.body).into_owned()))
        };
        assert_eq!(
            body("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
            Some((200, "ok".to_owned()))
        );
        assert_eq!(body("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok"), None);
        assert_eq!(
            body("HTTP/1.1 404 Not Found\r\n\r\ngone"),
            Some((404, "gone".to_owned()))
        );
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
        assert_eq!(body(chunked), Some((200, "abcd".to_owned())));
        assert_eq!(body(&chunked[..chunked.len() - 5]), None);
        assert_eq!(body("garbage"), None);
    }

    #[test]
    fn a_refusal_carries_the_servers_sentence() {
        let response = Response {
            status: 409,
            body: br#"{"code":"code-taken","detail":"Draw again."}"#.to_vec(),
        };
        assert_eq!(
            response.refusal("POST /x".to_owned()).to_string(),
            "POST /x: status 409: Draw again."
        );
    }
}
