//! Bytes as lower-case hexadecimal text and back, for the key file.

/// Lower-case hexadecimal text.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]])
        .map(char::from)
        .collect()
}

/// The bytes, or none when the text is no even number of hexadecimal digits.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty()
        .then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_as_bytes() {
        let bytes = [0, 1, 0x9f, 0xff];
        assert_eq!(encode(&bytes), "00019fff");
        assert_eq!(decode("00019fff").as_deref(), Some(&bytes[..]));
        for bad in ["0", "0g", "é0", " 00"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
