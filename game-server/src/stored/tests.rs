//! What was kept once is read for ever, and what is no game is refused and harms nobody.

use std::path::PathBuf;

use game_core::{ChoiceSet, Command, Game, PlayerId, QuestionIndex, Settings};

use super::*;
use crate::convert;
use crate::journal::{Batch, ClaimId, Entry, Owner, Record, RecordNumber, Stored, read_journal};
use crate::testing;
use crate::timeline::{Timeline, Who};

fn commands() -> Vec<Command> {
    let question = QuestionIndex(0);
    let answer = |player, choice| Command::Answer {
        player: PlayerId(player),
        question,
        choices: ChoiceSet::from_indices([choice]).unwrap(),
    };
    let name = |name: &str| name.to_owned();
    vec![
        Command::Join { name: name("Ada") },
        Command::Join { name: name("Bob") },
        Command::Join {
            name: name("Cy 🦊")
        },
        Command::Join { name: name("Dot") },
        Command::Rename {
            player: PlayerId(2),
            name: name("Bo"),
        },
        Command::HostRename {
            player: PlayerId(3),
            name: name("Cyd"),
        },
        Command::Leave { player: PlayerId(4) },
        Command::Lock { on: true },
        Command::Start,
        answer(1, 0),
        Command::Absent { player: PlayerId(2) },
        Command::Present { player: PlayerId(2) },
        answer(2, 1),
        Command::Kick { player: PlayerId(3) },
        Command::DeadlineReached { question },
        Command::Next { question },
        Command::Skip {
            question: QuestionIndex(1),
        },
        Command::Next {
            question: QuestionIndex(1),
        },
        Command::Close {
            question: QuestionIndex(2),
        },
        Command::End,
    ]
}

fn records() -> Vec<Record> {
    let commands = (1..).zip(commands());
    let mut records: Vec<_> = commands
        .map(|(n, command)| Record::of(n * 100, command))
        .collect();
    let at = 5_000;
    records.push(Record {
        at,
        entry: Entry::Tick,
    });
    records.push(Record {
        at,
        entry: Entry::Over {
            ended_ms: 1_796_000_000_000,
        },
    });
    records.push(Record {
        at,
        entry: Entry::ResultSettled,
    });
    records
}

fn new_game() -> Game {
    let facts = testing::facts(testing::mixed_quiz());
    let settings = Settings {
        scoring: convert::scoring_to_core(facts.settings.scoring),
        players_max: facts.players_max,
    };
    Game::new(convert::quiz_to_core(&facts.quiz).unwrap(), settings)
}

/// The game after the first `count` commands.
fn game_after(count: usize) -> Game {
    let mut game = new_game();
    for (n, command) in (1..).zip(commands()).take(count) {
        game.apply(n * 100, command).unwrap();
    }
    game
}

fn snapshot_of(game: &Game) -> Snapshot {
    Snapshot {
        at: 1_234,
        state: game.export(),
        over_ms: None,
        result_settled: false,
        is_rewound: true,
        timeline: Timeline::new(0),
    }
}

/// As the first build kept it.
fn without_joining_times(game: &Game) -> Snapshot {
    let mut snapshot = snapshot_of(game);
    snapshot.is_rewound = false;
    for player in &mut snapshot.state.players {
        player.joined_at = 0;
    }
    snapshot.timeline = Timeline::default();
    snapshot
}

fn kept(game: &Game, journal: &[Record]) -> Stored {
    let facts = testing::facts(testing::mixed_quiz());
    let through = RecordNumber(7);
    let batch = Batch::of(through, journal);
    Stored {
        owner: Owner {
            game: facts.game,
            create_key: String::new(),
            server: None,
            epoch: 3,
            claim: ClaimId::NONE,
        },
        facts: encode_facts(&facts),
        snapshot: encode_snapshot(&snapshot_of(game), SNAPSHOT_VERSION),
        through,
        journal: batch.bytes().to_vec(),
        last: batch.last(),
    }
}

fn golden(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn version_1_is_read() {
    // Written by the first build that kept games. If this fails, a format changed without a new version.
    let facts = testing::facts(testing::mixed_quiz());
    assert_eq!(decode_facts(&golden("facts-1.bin")).unwrap().facts(1), facts);
    let snapshot = decode_snapshot(&golden("snapshot-1.bin")).unwrap();
    let podium = game_after(commands().len());
    let over = Snapshot {
        over_ms: Some(1_796_000_000_000),
        result_settled: true,
        ..without_joining_times(&podium)
    };
    assert_eq!(snapshot, over);
    let question = decode_snapshot(&golden("snapshot-1-question.bin")).unwrap();
    assert_eq!(question, without_joining_times(&game_after(12)));
    let journal = read_journal(&golden("journal-1.bin"), RecordNumber::NONE).unwrap();
    assert_eq!(journal.records, records());
    assert!(!journal.torn);
}

/// Everything that a timeline can tell.
fn eventful() -> Snapshot {
    let mut timeline = Timeline::new(1_796_000_000_000);
    timeline.owned(0, 1_796_000_000_010, "game-0", 1, false);
    timeline.host_came(10);
    let mut game = new_game();
    for (n, command) in (1..).zip(commands()) {
        let effects = game.apply(n * 100, command).unwrap();
        timeline.follow(n * 100, &effects);
    }
    timeline.lost(3_000, Who::Player);
    timeline.lost(3_000, Who::Host);
    timeline.saving(3_100, true);
    timeline.saving(3_900, false);
    timeline.owned(4_000, 1_796_000_064_000, "game-1", 2, false);
    timeline.player_back(4_100);
    timeline.host_came(4_200);
    timeline.result_saved(5_000);
    Snapshot {
        timeline,
        is_rewound: false,
        ..snapshot_of(&game)
    }
}

#[test]
fn the_timeline_of_version_1_is_read_and_an_unknown_one_costs_no_game() {
    // Written by the first build that kept timelines.
    let kept = eventful();
    assert_eq!(decode_snapshot(&golden("snapshot-1-timeline.bin")).unwrap(), kept);
    // A build before that reads the rest: the version is the same, and what it does not know it ignores.
    let bytes = encode_snapshot(&kept, SNAPSHOT_VERSION);
    let without = Snapshot {
        timeline: Timeline::default(),
        ..kept.clone()
    };
    let mut json = inflated(&bytes);
    assert!(json.as_object_mut().unwrap().remove("timeline").is_some());
    assert_eq!(json, inflated(&encode_snapshot(&without, SNAPSHOT_VERSION)));
    // A newer build may tell of what this one does not know.
    json["timeline"] = serde_json::json!({
        "anchor": [0, 0], "events": [{ "at_ms": 1, "what": { "t": "abducted", "by": "aliens" } }],
    });
    let newer = super::gzip::encode(1, &json);
    assert_eq!(decode_snapshot(&newer).unwrap(), without);
}

fn inflated(bytes: &[u8]) -> serde_json::Value {
    super::gzip::decode("test", 1, bytes).unwrap()
}

#[test]
fn every_state_of_a_game_survives_its_snapshot() {
    for count in 0..=commands().len() {
        let snapshot = snapshot_of(&game_after(count));
        assert_eq!(
            decode_snapshot(&encode_snapshot(&snapshot, SNAPSHOT_VERSION)).unwrap(),
            snapshot
        );
    }
}

#[test]
fn replay_goes_on_from_the_snapshot() {
    let done = kept(&game_after(7), &records()[7..]);
    let restored = restore(&done).unwrap();
    assert_eq!(restored.game, game_after(commands().len()));
    assert_eq!(
        (restored.facts.epoch, restored.at, restored.torn),
        (3, 5_000, false)
    );
    assert_eq!(
        (restored.over_ms, restored.result_settled),
        (Some(1_796_000_000_000), true)
    );
    // The end is torn off: the game is where the last whole record left it, and nobody forgets the numbers.
    let mut torn = done.clone();
    torn.journal.truncate(torn.journal.len() - 1);
    let restored = restore(&torn).unwrap();
    assert_eq!((restored.result_settled, restored.torn), (false, true));
    assert_eq!((restored.last, restored.lost), (done.last, 1));
    // A write of which not even the number arrived was never acked.
    let mut unacked = torn.clone();
    unacked.last = RecordNumber(done.last.0 - 1);
    let restored = restore(&unacked).unwrap();
    assert_eq!((restored.torn, restored.lost), (true, 0));
}

#[test]
fn no_flipped_bit_makes_another_game() {
    let done = kept(&game_after(7), &records()[7..]);
    let whole = restore(&done).unwrap();
    // Of every byte one bit, another one than of its neighbours.
    let flipped = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let flip = |at: usize| {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= 1 << (at % 8);
            bytes
        };
        (0..bytes.len()).map(flip).collect()
    };
    for journal in flipped(&done.journal) {
        let damaged = Stored {
            journal,
            ..done.clone()
        };
        // An earlier moment of the same game, which says how much it lacks.
        let restored = restore(&damaged).unwrap();
        assert!(restored.lost > 0 && restored.torn);
        let read = usize::try_from(done.last.0 - restored.lost - 7).unwrap();
        let prefix = kept(&game_after(7), &records()[7..7 + read]);
        assert_eq!(restored.game, restore(&prefix).unwrap().game);
    }
    // In snapshot and facts a few bits say when and on what system they were packed; all others are noticed.
    for snapshot in flipped(&done.snapshot) {
        let restored = restore(&Stored {
            snapshot,
            ..done.clone()
        });
        assert!(restored.is_err() || restored.is_ok_and(|restored| restored.game == whole.game));
    }
    for facts in flipped(&done.facts) {
        let restored = restore(&Stored {
            facts,
            ..done.clone()
        });
        assert!(restored.is_err() || restored.is_ok_and(|restored| restored.game == whole.game));
    }
    for cut in 0..done.snapshot.len() {
        let snapshot = done.snapshot[..cut].to_vec();
        let truncated = Stored {
            snapshot,
            ..done.clone()
        };
        assert!(restore(&truncated).is_err(), "{cut} bytes");
    }
}

#[test]
fn what_cannot_be_read_is_refused() {
    let game = game_after(3);
    let mut newer = kept(&game, &[]);
    newer.snapshot[0] = 2;
    assert!(matches!(
        restore(&newer),
        Err(StoredError::UnknownVersion {
            found: 2,
            known: 1,
            ..
        })
    ));
    for empty in [vec![], vec![1], vec![1, 0x1f, 0x8b]] {
        let mut damaged = kept(&game, &[]);
        damaged.facts = empty;
        assert!(matches!(restore(&damaged), Err(StoredError::Damaged { .. })));
    }
    let refused = kept(&game, &[Record::of(0, Command::Join { name: "Ada".into() })]);
    assert!(matches!(
        restore(&refused),
        Err(StoredError::Replay { number: 8, .. })
    ));
}

#[test]
fn a_bomb_is_not_inflated() {
    let text = "x".repeat(usize::try_from(super::gzip::JSON_BYTES_MAX).unwrap());
    let bomb = super::gzip::encode(1, &text);
    assert!(bomb.len() < 100_000);
    assert!(matches!(decode_snapshot(&bomb), Err(StoredError::Damaged { .. })));
}

#[test]
fn a_replay_that_panics_is_caught() {
    // A count at its end overflows in the next transition; the builds that check for it panic.
    let mut poisoned = kept(&game_after(8), &[Record::of(0, Command::Start)]);
    let mut snapshot = snapshot_of(&game_after(8));
    snapshot.state.seq = u32::MAX;
    poisoned.snapshot = encode_snapshot(&snapshot, SNAPSHOT_VERSION);
    if cfg!(debug_assertions) {
        assert!(matches!(restore(&poisoned), Err(StoredError::Panicked)));
    }
}

#[test]
fn a_class_of_30_takes_few_bytes() {
    let facts = testing::facts(testing::reference_quiz());
    let settings = Settings {
        scoring: game_core::Scoring::Speed,
        players_max: 30,
    };
    let mut game = Game::new(convert::quiz_to_core(&facts.quiz).unwrap(), settings);
    let mut at = 0;
    for n in 0..30 {
        let name = format!("Student {n}");
        game.apply(at, Command::Join { name }).unwrap();
    }
    game.apply(at, Command::Start).unwrap();
    for question in (0..15).map(QuestionIndex) {
        for player in 1..=30 {
            at += 300 + u64::from(player * 37 % 101);
            let choice = u8::try_from((player * 7 + u32::from(question.0)) % 4).unwrap();
            let choices = ChoiceSet::from_indices([choice]).unwrap();
            let player = PlayerId(player);
            let answer = Command::Answer {
                player,
                question,
                choices,
            };
            game.apply(at, answer).unwrap();
        }
        game.apply(at, Command::Next { question }).unwrap();
    }
    let bytes = encode_snapshot(&snapshot_of(&game), SNAPSHOT_VERSION).len();
    println!(
        "30 players, 15 questions: {bytes} bytes; facts {}",
        encode_facts(&facts).len()
    );
    assert!(bytes < 5_400, "{bytes} bytes");
}
