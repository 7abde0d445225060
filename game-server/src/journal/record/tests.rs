//! Every command survives its bytes; nothing else is taken for a record.

use game_core::{ChoiceSet, Command, PlayerId, QuestionIndex};
use proptest::prelude::*;

use super::*;

fn command() -> impl Strategy<Value = Command> {
    let player = any::<u32>().prop_map(PlayerId).boxed();
    let question = any::<u16>().prop_map(QuestionIndex).boxed();
    let name = ".{0,40}".boxed();
    prop_oneof![
        name.clone().prop_map(|name| Command::Join { name }),
        player.clone().prop_map(|player| Command::Present { player }),
        player.clone().prop_map(|player| Command::Absent { player }),
        player.clone().prop_map(|player| Command::Leave { player }),
        (player.clone(), name.clone()).prop_map(|(player, name)| Command::Rename { player, name }),
        (player.clone(), name).prop_map(|(player, name)| Command::HostRename { player, name }),
        player.clone().prop_map(|player| Command::Kick { player }),
        any::<bool>().prop_map(|on| Command::Lock { on }),
        Just(Command::Start),
        (player, question.clone(), any::<u16>().prop_map(ChoiceSet)).prop_map(
            |(player, question, choices)| Command::Answer {
                player,
                question,
                choices
            }
        ),
        question
            .clone()
            .prop_map(|question| Command::DeadlineReached { question }),
        question.clone().prop_map(|question| Command::Close { question }),
        question.clone().prop_map(|question| Command::Skip { question }),
        question.prop_map(|question| Command::Next { question }),
        Just(Command::End),
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        10 => command().prop_map(Entry::Command),
        1 => Just(Entry::Tick),
        1 => any::<u64>().prop_map(|ended_ms| Entry::Over { ended_ms }),
        1 => Just(Entry::ResultSettled),
    ]
}

proptest! {
    #[test]
    fn round_trip(at in any::<u64>(), entry in entry()) {
        let record = Record { at, entry };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        prop_assert_eq!(Record::decode(&bytes), Ok(record));
        // No prefix of a record is a record.
        for cut in 0..bytes.len() {
            prop_assert!(Record::decode(&bytes[..cut]).is_err());
        }
        bytes.push(0);
        prop_assert_eq!(Record::decode(&bytes), Err(DecodeError::Trailing { bytes: 1 }));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _read_or_refused = Record::decode(&bytes);
    }
}

#[test]
fn an_answer_takes_ten_bytes() {
    let command = Command::Answer {
        player: PlayerId(30),
        question: QuestionIndex(19),
        choices: ChoiceSet(0b1000),
    };
    let record = Record::of(15 * 60 * 1_000, command);
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    assert!(bytes.len() <= 10, "{} bytes", bytes.len());
}

#[test]
fn the_format_is_pinned() {
    // A change of these bytes is a change of the format: raise FORMAT_VERSION and keep reading the old one.
    let answer = Command::Answer {
        player: PlayerId(200),
        question: QuestionIndex(3),
        choices: ChoiceSet(2),
    };
    let name = "Ada".to_owned();
    let cases: [(Entry, &[u8]); 7] = [
        (
            Entry::Command(Command::Join { name }),
            &[1, 1, 0xac, 2, 3, b'A', b'd', b'a'],
        ),
        (Entry::Command(Command::Lock { on: true }), &[1, 8, 0xac, 2, 1]),
        (Entry::Command(Command::Start), &[1, 9, 0xac, 2]),
        (Entry::Command(answer), &[1, 10, 0xac, 2, 0xc8, 1, 3, 2]),
        (Entry::Tick, &[1, 16, 0xac, 2]),
        (Entry::Over { ended_ms: 200 }, &[1, 17, 0xac, 2, 0xc8, 1]),
        (Entry::ResultSettled, &[1, 18, 0xac, 2]),
    ];
    for (entry, expected) in cases {
        let mut bytes = Vec::new();
        Record { at: 300, entry }.encode(&mut bytes);
        assert_eq!(bytes, expected);
    }
    assert_eq!(
        Record::decode(&[2, 1]),
        Err(DecodeError::UnknownVersion { found: 2 })
    );
    assert_eq!(
        Record::decode(&[1, 99, 0]),
        Err(DecodeError::UnknownKind { found: 99 })
    );
}
