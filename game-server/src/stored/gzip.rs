//! A version byte, then JSON under gzip, with a bound on what it may inflate to.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StoredError;

/// Largest JSON that is read back. The largest quiz takes 3 MB in a script of three bytes a character; the largest room, 2,000
/// players of the longest names with 500 answers to each of 200 questions, 6 MB.
pub(super) const JSON_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub(super) fn encode(version: u8, value: &impl Serialize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![version], Compression::default());
    // Neither a vector nor our own plain structs can fail.
    let _written = serde_json::to_writer(&mut encoder, value).map_err(io::Error::from);
    let _flushed = encoder.flush();
    encoder.finish().unwrap_or_default()
}

pub(super) fn decode<T: DeserializeOwned>(
    what: &'static str,
    known: u8,
    bytes: &[u8],
) -> Result<T, StoredError> {
    let damaged = |source| StoredError::Damaged { what, source };
    let (found, gzip) = bytes
        .split_first()
        .ok_or_else(|| damaged(io::ErrorKind::UnexpectedEof.into()))?;
    if *found != known {
        return Err(StoredError::UnknownVersion {
            what,
            found: *found,
            known,
        });
    }
    let mut json = Vec::new();
    let mut capped = GzDecoder::new(gzip).take(JSON_BYTES_MAX + 1);
    #[expect(clippy::disallowed_methods, reason = "read through take(JSON_BYTES_MAX)")]
    let read = capped.read_to_end(&mut json).map_err(damaged)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > JSON_BYTES_MAX {
        return Err(damaged(io::Error::other("it inflates without end")));
    }
    serde_json::from_slice(&json).map_err(|error| damaged(error.into()))
}
