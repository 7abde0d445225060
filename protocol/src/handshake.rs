//! What the proxy and the game server both ask of a WebSocket handshake (RFC 6455, 4.2.1).

/// Characters of sixteen bytes in base64, without what fills them up.
const KEY_CHARS: usize = 22;
/// What fills them up.
const PADDING: &[u8] = b"==";

/// Whether a `Sec-WebSocket-Key` stands for sixteen bytes.
#[must_use]
pub fn is_key(value: &[u8]) -> bool {
    value.strip_suffix(PADDING).is_some_and(|key| {
        key.len() == KEY_CHARS
            && key
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_sixteen_bytes_in_base64() {
        assert!(is_key(b"dGhlIHNhbXBsZSBub25jZQ=="));
        for key in [
            "",
            "==",
            "dGhlIHNhbXBsZQ==",
            "dGhlIHNhbXBsZSBub25jZQ",
            "dGhlIHNhbXBsZSBub25jZSEhISE=",
            "dGhlIHNhbXBsZSBub25jZ-==",
            "dGhlIHNhbXBsZSBub25jZQ= ",
        ] {
            assert!(!is_key(key.as_bytes()), "{key:?}");
        }
    }
}
