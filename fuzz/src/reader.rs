//! A reader of HTTP/1.1 that shares nothing with hyper: RFC 9112 as it is written, and every liberty that it allows is one flag.

/// How a request's body is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    None,
    Length(u64),
    Chunked,
}

/// A request as it stands in the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) method: String,
    /// Path and query: without scheme, authority and fragment.
    pub(crate) target: Vec<u8>,
    pub(crate) hosts: Vec<String>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) framing: Framing,
    /// There are a length and a coding.
    pub(crate) has_two_framings: bool,
    pub(crate) body: Vec<u8>,
}

/// Why there is no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRequest {
    /// The bytes end before it does; its head may be whole.
    Partial,
    /// It is none.
    Malformed(&'static str),
}

/// Reads requests one after the other.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// Takes what a server MAY take: empty lines before a request (2.2), lines that end with LF alone (2.2), white space around
    /// a chunk's size, extensions and trailers. And what ours takes: a length beside a coding (6.3, rule 3).
    lenient: bool,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8], lenient: bool) -> Self {
        Self { rest: bytes, lenient }
    }

    /// The next one with its body. After an error nothing more can be read.
    pub(crate) fn read(&mut self) -> Result<Read, NoRequest> {
        let mut read = self.head()?;
        read.body = match read.framing {
            Framing::None => Vec::new(),
            Framing::Length(bytes) => {
                let bytes = usize::try_from(bytes).map_err(|_| NoRequest::Partial)?;
                self.take(bytes)?.to_vec()
            }
            Framing::Chunked => self.chunks()?,
        };
        Ok(read)
    }

    /// The same up to the end of its head.
    pub(crate) fn head(&mut self) -> Result<Read, NoRequest> {
        while self.lenient && (self.rest.starts_with(b"\r\n") || self.rest.starts_with(b"\n")) {
            self.line()?;
        }
        let line = self.line()?;
        let (method, target, is_old) = request_line(line)?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            headers.push(header(line)?);
        }
        let values = |name: &str| -> Vec<&[u8]> {
            let same = headers.iter().filter(|(own, _)| own == name);
            same.map(|(_, value)| value.as_slice()).collect()
        };
        let (lengths, codings) = (values("content-length"), values("transfer-encoding"));
        let framing = self.framing(&lengths, &codings, is_old)?;
        let hosts: Vec<String> = values("host")
            .iter()
            .map(|host| String::from_utf8_lossy(host).into_owned())
            .collect();
        let target = origin_form(target, &hosts)?;
        if hosts.len() > 1 || (hosts.is_empty() && !is_old) {
            return Err(NoRequest::Malformed("hosts"));
        }
        Ok(Read {
            method: String::from_utf8_lossy(method).into_owned(),
            target,
            has_two_framings: !lengths.is_empty() && !codings.is_empty(),
            hosts,
            framing,
            headers,
            body: Vec::new(),
        })
    }

    fn framing(&self, lengths: &[&[u8]], codings: &[&[u8]], is_old: bool) -> Result<Framing, NoRequest> {
        match codings {
            [] => {}
            [coding] if coding.eq_ignore_ascii_case(b"chunked") && !is_old => {
                return if lengths.is_empty() || self.lenient {
                    Ok(Framing::Chunked)
                } else {
                    Err(NoRequest::Malformed("two framings"))
                };
            }
            _ => return Err(NoRequest::Malformed("coding")),
        }
        let Some(first) = lengths.first() else {
            return Ok(Framing::None);
        };
        let number = |digits: &[u8]| {
            let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            let text = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
            text.parse::<u64>().ok()
        };
        let all = lengths.iter().map(|length| number(length));
        let alike = all
            .clone()
            .all(|length| length.is_some() && length == number(first));
        match number(first) {
            Some(bytes) if alike && (lengths.len() == 1 || self.lenient) => Ok(Framing::Length(bytes)),
            Some(_) | None => Err(NoRequest::Malformed("length")),
        }
    }

    fn chunks(&mut self) -> Result<Vec<u8>, NoRequest> {
        let malformed = NoRequest::Malformed("chunk");
        let mut body = Vec::new();
        loop {
            let line = self.strict_line()?;
            let size = line.split(|b| *b == b';').next().unwrap_or_default();
            let has_extension = size.len() < line.len();
            let size = if self.lenient {
                without_blanks_behind(size)
            } else {
                size
            };
            if size.is_empty() || !size.iter().all(u8::is_ascii_hexdigit) {
                return Err(malformed);
            }
            if has_extension && !self.lenient {
                return Err(malformed);
            }
            let size = std::str::from_utf8(size)
                .ok()
                .and_then(|s| usize::from_str_radix(s, 16).ok());
            match size.ok_or(malformed)? {
                0 => break,
                size => body.extend_from_slice(self.take(size)?),
            }
            match self.rest {
                [b'\r', b'\n', ..] => self.rest = &self.rest[2..],
                [] | [b'\r'] => return Err(NoRequest::Partial),
                _ => return Err(malformed),
            }
        }
        while !self.until_crlf()?.is_empty() {
            if !self.lenient {
                return Err(NoRequest::Malformed("trailer"));
            }
        }
        Ok(body)
    }

    fn take(&mut self, bytes: usize) -> Result<&'a [u8], NoRequest> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or(NoRequest::Partial)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Up to CR LF, or LF alone where that is allowed.
    fn line(&mut self) -> Result<&'a [u8], NoRequest> {
        if !self.lenient {
            return self.strict_line();
        }
        let end = self
            .rest
            .iter()
            .position(|b| *b == b'\n')
            .ok_or(NoRequest::Partial)?;
        let line = self.take(end + 1)?;
        let line = &line[..end];
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }

    fn strict_line(&mut self) -> Result<&'a [u8], NoRequest> {
        let line = self.until_crlf()?;
        if line.contains(&b'\n') {
            return Err(NoRequest::Malformed("LF alone"));
        }
        Ok(line)
    }

    fn until_crlf(&mut self) -> Result<&'a [u8], NoRequest> {
        let end = self.rest.windows(2).position(|two| two == b"\r\n");
        let end = end.ok_or(NoRequest::Partial)?;
        Ok(&self.take(end + 2)?[..end])
    }
}

fn without_blanks_behind(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

fn is_token(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b))
}

/// Method, target, and whether it is HTTP/1.0.
fn request_line(line: &[u8]) -> Result<(&[u8], &[u8], bool), NoRequest> {
    let words: Vec<&[u8]> = line.split(|b| *b == b' ').collect();
    match words[..] {
        [method, target, version] if is_token(method) && !target.is_empty() => {
            let is_old = match version {
                b"HTTP/1.1" => false,
                b"HTTP/1.0" => true,
                _ => return Err(NoRequest::Malformed("version")),
            };
            if target.iter().any(|b| *b <= b' ' || *b == 0x7f) {
                return Err(NoRequest::Malformed("target"));
            }
            Ok((method, target, is_old))
        }
        _ => Err(NoRequest::Malformed("request line")),
    }
}

/// Path and query of an origin-form or an absolute-form (3.2), whose authority has to be the host.
fn origin_form(target: &[u8], hosts: &[String]) -> Result<Vec<u8>, NoRequest> {
    let whole = target.split(|b| *b == b'#').next().unwrap_or_default();
    if whole.starts_with(b"/") {
        return Ok(whole.to_vec());
    }
    let text = std::str::from_utf8(whole).map_err(|_| NoRequest::Malformed("target"))?;
    let (_, rest) = text.split_once("://").ok_or(NoRequest::Malformed("target"))?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if hosts
        .first()
        .is_some_and(|host| !host.eq_ignore_ascii_case(authority))
    {
        return Err(NoRequest::Malformed("authority"));
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok(format!("{slash}{path}").into_bytes())
}

fn header(line: &[u8]) -> Result<(String, Vec<u8>), NoRequest> {
    let malformed = NoRequest::Malformed("header");
    let colon = line.iter().position(|b| *b == b':').ok_or(malformed)?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let value = without_blanks(value);
    let is_control = |b: &u8| (*b < b' ' && *b != b'\t') || *b == 0x7f;
    if !is_token(name) || value.iter().any(is_control) {
        return Err(malformed);
    }
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    Ok((name, value.to_vec()))
}

/// Without the optional white space around a value (RFC 9110, 5.6.3).
fn without_blanks(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
