//! What HTTP/2 says in another way than HTTP/1.1, in which servers are asked.

use http::header::{COOKIE, HOST};
use http::request::Parts;
use http::{HeaderValue, Version};

/// Gives a request of HTTP/2 the `Host` that its `:authority` stands for, and one `Cookie` out of the crumbs that a client may
/// make of it (RFC 9113, 8.2.3). What is wrong with it is left to `screen`.
pub(crate) fn as_http1(parts: &mut Parts) {
    if parts.version != Version::HTTP_2 {
        return;
    }
    if !parts.headers.contains_key(HOST)
        && let Some(authority) = parts.uri.authority()
        && let Ok(host) = HeaderValue::try_from(authority.as_str())
    {
        parts.headers.insert(HOST, host);
    }
    let crumbs: Vec<&[u8]> = parts
        .headers
        .get_all(COOKIE)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    if crumbs.len() > 1
        && let Ok(cookie) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..]))
    {
        parts.headers.insert(COOKIE, cookie);
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn the_authority_becomes_a_host_and_crumbs_one_cookie() {
        let parts = |version| {
            let request = Request::builder()
                .version(version)
                .uri("https://quiz.example/store/x")
                .header(COOKIE, "a=1")
                .header(COOKIE, "b=2; c=3");
            let mut parts = request.body(()).unwrap().into_parts().0;
            as_http1(&mut parts);
            parts
        };
        let two = parts(Version::HTTP_2);
        assert_eq!(two.headers[HOST], "quiz.example");
        assert_eq!(two.headers.get_all(COOKIE).iter().count(), 1);
        assert_eq!(two.headers[COOKIE], "a=1; b=2; c=3");
        let one = parts(Version::HTTP_11);
        assert!(!one.headers.contains_key(HOST));
        assert_eq!(one.headers.get_all(COOKIE).iter().count(), 2);
    }

    #[test]
    fn a_host_beside_the_authority_stays_for_the_screen_to_compare() {
        let request = Request::builder()
            .version(Version::HTTP_2)
            .uri("https://quiz.example/")
            .header(HOST, "other.example");
        let mut parts = request.body(()).unwrap().into_parts().0;
        as_http1(&mut parts);
        assert_eq!(parts.headers[HOST], "other.example");
        assert!(crate::screen::check(&parts).is_err());
    }
}
