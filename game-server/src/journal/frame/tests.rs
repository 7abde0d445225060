//! Torn is not the same as unknown, and neither is the same as missing.

use game_core::{ChoiceSet, Command, PlayerId, QuestionIndex};
use proptest::prelude::*;

use super::*;
use crate::journal::Batch;

fn records(count: u64) -> Vec<Record> {
    (0..count)
        .map(|at| {
            Record::of(
                at,
                Command::Join {
                    name: format!("P{at}"),
                },
            )
        })
        .collect()
}

#[test]
fn an_answer_takes_twenty_bytes() {
    let command = Command::Answer {
        player: PlayerId(30),
        question: QuestionIndex(19),
        choices: ChoiceSet(0b1000),
    };
    let batch = Batch::of(RecordNumber(2_000), [&Record::of(15 * 60 * 1_000, command)]);
    assert!(batch.bytes().len() <= 20, "{} bytes", batch.bytes().len());
}

#[test]
fn the_largest_record_fits_its_frame() {
    let command = Command::HostRename {
        player: PlayerId(u32::MAX),
        name: "x".repeat(game_core::limits::NAME_TYPED_BYTES_MAX),
    };
    let batch = Batch::of(RecordNumber(u32::MAX.into()), [&Record::of(u64::MAX, command)]);
    assert!(batch.bytes().len() <= FRAME_BYTES_MAX);
}

#[test]
fn a_kind_or_version_of_a_newer_build_is_not_torn() {
    for (place, known) in [(6, 1), (7, 9)] {
        let mut bytes = Batch::of(RecordNumber::NONE, [&Record::of(0, Command::Start)])
            .bytes()
            .to_vec();
        assert_eq!(bytes[place], known);
        bytes[place] = 200;
        let body = bytes.len() - 4;
        let checksum = crc32fast::hash(&bytes[..body]);
        bytes[body..].copy_from_slice(&checksum.to_le_bytes());
        let error = read(&bytes, RecordNumber::NONE).unwrap_err();
        assert_eq!(error.number, RecordNumber(1));
        assert!(matches!(
            error.source,
            DecodeError::UnknownVersion { found: 200 } | DecodeError::UnknownKind { found: 200 }
        ));
    }
}

#[test]
fn what_is_covered_or_repeated_is_skipped_and_a_gap_ends_the_journal() {
    let all = records(5);
    let mut bytes = Batch::of(RecordNumber::NONE, &all[..3]).bytes().to_vec();
    bytes.extend_from_slice(Batch::of(RecordNumber(1), &all[1..4]).bytes());
    let journal = read(&bytes, RecordNumber(1)).unwrap();
    assert_eq!((journal.records.as_slice(), journal.torn), (&all[1..4], false));
    bytes.extend_from_slice(Batch::of(RecordNumber(6), &all[..1]).bytes());
    let journal = read(&bytes, RecordNumber(1)).unwrap();
    assert_eq!((journal.last, journal.torn), (RecordNumber(4), true));
}

proptest! {
    #[test]
    fn a_torn_journal_is_read_up_to_the_tear(count in 1_u64..8, cut in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let all = records(count);
        let whole = Batch::of(RecordNumber::NONE, &all).bytes().to_vec();
        let at = cut.index(whole.len());
        let before = (0..=all.len())
            .rev()
            .find(|&n| Batch::of(RecordNumber::NONE, &all[..n]).bytes().len() <= at)
            .unwrap();
        // Cut short there, or one bit of that byte turned.
        let mut turned = whole.clone();
        turned[at] ^= 1 << bit;
        for bytes in [&whole[..at], &turned] {
            let journal = read(bytes, RecordNumber::NONE).unwrap();
            prop_assert_eq!(&journal.records, &all[..before]);
        }
    }

    #[test]
    fn a_batch_forgets_from_the_front(count in 0_u64..8, follows in 0_u64..4, through in 0_u64..16) {
        let all = records(count);
        let batch = Batch::of(RecordNumber(follows), &all);
        let mut rest = batch.clone();
        rest.forget(RecordNumber(through));
        let gone = usize::try_from(through.saturating_sub(follows)).unwrap().min(all.len());
        prop_assert_eq!(&rest, &Batch::of(RecordNumber(follows).plus(gone), &all[gone..]));
        prop_assert_eq!(batch.after(RecordNumber(through)).is_some(), follows <= through);
    }
}
