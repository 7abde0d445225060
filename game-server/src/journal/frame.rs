//! How records lie one after the other: `length (2, of the record) number (4) record checksum (4)`, numbers little-endian.
//!
//! The checksum is CRC-32 over all before it. An answer takes about 20 bytes. A frame that ends early or does not match its
//! checksum is where a write was torn: what comes from there on was never answered. A frame that does match and cannot be
//! understood was written by a newer build: then nothing of the journal may be used or overwritten. A change of this layout needs a
//! new version of the snapshot, which builds that do not know it refuse before they look at the journal.

use thiserror::Error;

use super::{DecodeError, Record, RecordNumber};

/// Bytes of a frame beside its record.
const FRAME_BYTES_EXTRA: usize = 2 + 4 + 4;
/// Largest frame: a record holds at most one name as typed and a few numbers.
pub const FRAME_BYTES_MAX: usize = FRAME_BYTES_EXTRA + game_core::limits::NAME_TYPED_BYTES_MAX + 64;

/// The records read from a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// Records in order, the first one after the number that was asked for.
    pub records: Vec<Record>,
    /// Number of the last of them, or the number that was asked for.
    pub last: RecordNumber,
    /// Whether bytes were left that are no frame, or records in between are missing.
    pub torn: bool,
}

/// A record that this build cannot read. The journal must be left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("record {} cannot be read", number.0)]
pub struct Unreadable {
    /// Which one.
    pub number: RecordNumber,
    /// Why.
    #[source]
    pub source: DecodeError,
}

/// Appends a frame to `out`.
pub(super) fn write(out: &mut Vec<u8>, number: RecordNumber, record: &Record) {
    let start = out.len();
    out.extend_from_slice(&[0; 2]);
    // A record a millisecond would take seven weeks to get there.
    let number = u32::try_from(number.0).unwrap_or(u32::MAX);
    out.extend_from_slice(&number.to_le_bytes());
    let body = out.len();
    record.encode(out);
    // Far below 64 KiB: see `FRAME_BYTES_MAX`.
    let len = u16::try_from(out.len() - body).unwrap_or(u16::MAX);
    if let Some(field) = out.get_mut(start..start + 2) {
        field.copy_from_slice(&len.to_le_bytes());
    }
    let checksum = crc32fast::hash(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// Reads the records after `follows`. Numbers up to it, and repeated ones, are skipped; reading ends at the first torn frame
/// or missing number.
///
/// # Errors
/// When a record is whole but cannot be understood.
pub fn read(bytes: &[u8], follows: RecordNumber) -> Result<Journal, Unreadable> {
    let mut journal = Journal {
        records: Vec::new(),
        last: follows,
        torn: false,
    };
    let mut rest = bytes;
    while !rest.is_empty() {
        let Some((number, body, after)) = split(rest) else {
            journal.torn = true;
            break;
        };
        rest = after;
        if number <= journal.last {
            continue;
        }
        if number != journal.last.next() {
            journal.torn = true;
            break;
        }
        let record = Record::decode(body).map_err(|source| Unreadable { number, source })?;
        journal.records.push(record);
        journal.last = number;
    }
    Ok(journal)
}

/// The first frame's number and record, and what follows it; none when it is no whole frame.
fn split(bytes: &[u8]) -> Option<(RecordNumber, &[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<2>()?;
    let len = usize::from(u16::from_le_bytes(*len));
    let (number, rest) = rest.split_first_chunk::<4>()?;
    let (body, rest) = rest.split_at_checked(len)?;
    let (checksum, rest) = rest.split_first_chunk::<4>()?;
    let framed = bytes.get(..2 + 4 + len)?;
    (crc32fast::hash(framed) == u32::from_le_bytes(*checksum)).then_some((
        RecordNumber(u32::from_le_bytes(*number).into()),
        body,
        rest,
    ))
}

#[cfg(test)]
mod tests;
