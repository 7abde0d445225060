//! The JSON fixtures: one per message, and one per shape of a message that a client must tell apart.

mod host;
mod http;
mod player;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ts_rs::{Config, TS};
use uuid::Uuid;

use super::{REPAIR, root, settle};
use crate::ids::{GameCode, GameId, PlayerId, QuizId, TeacherId};
use crate::player::{Place, QuestionView};
use crate::quiz::QuestionKind;

/// Fixtures by file name (without `.json`).
type Fixtures = Vec<(String, String)>;

/// Adds one fixture after checking that it reads back as itself.
fn add<T>(fixtures: &mut Fixtures, name: &str, message: &T)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let json = serde_json::to_string_pretty(message).unwrap();
    assert_eq!(
        &serde_json::from_str::<T>(&json).unwrap(),
        message,
        "{name} does not read back"
    );
    fixtures.push((name.to_owned(), format!("{json}\n")));
}

/// Asserts that every `t` of the message type `T` has a fixture called `prefix.t` or `prefix.t-…`.
fn assert_covered<T: TS>(fixtures: &Fixtures, prefix: &str) {
    let declaration = T::decl(&Config::new());
    let tags: BTreeSet<&str> = declaration
        .split("\"t\": \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(!tags.is_empty(), "{prefix} has no tags");
    for tag in tags {
        let name = format!("{prefix}.{tag}");
        let dashed = format!("{name}-");
        assert!(
            fixtures
                .iter()
                .any(|(file, _)| *file == name || file.starts_with(&dashed)),
            "no fixture for {name}"
        );
    }
}

fn code() -> GameCode {
    "K7Q2MX".parse().unwrap()
}

fn game() -> GameId {
    GameId(Uuid::from_u128(0x0196_5a00_0000_7000_8000_0000_0000_0001))
}

fn teacher() -> TeacherId {
    TeacherId(Uuid::from_u128(0x0196_5a00_0000_7000_8000_0000_0000_0002))
}

fn quiz_id() -> QuizId {
    QuizId(Uuid::from_u128(0x0196_5a00_0000_7000_8000_0000_0000_0003))
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn place(rank: u32, name: &str, total: u32) -> Place {
    Place {
        rank,
        name: name.to_owned(),
        total,
    }
}

/// Question 1: single, so without `kind`, and just opened, so without `left`.
fn single() -> QuestionView {
    QuestionView {
        q: 1,
        kind: QuestionKind::Single,
        text: "Which planet is closest to the sun?".to_owned(),
        choices: texts(&["Mercury", "Venus", "Earth", "Mars"]),
        ms: 20_000,
        left: None,
    }
}

/// Question 2: multiple, with markup and right-to-left text that must come out as typed, seen late.
fn multiple() -> QuestionView {
    QuestionView {
        q: 2,
        kind: QuestionKind::Multiple,
        text: "Which of <b>these</b> & those are prime?".to_owned(),
        choices: texts(&["2", "שלום", "9", "11"]),
        ms: 30_000,
        left: Some(12_400),
    }
}

/// Question 3: true or false.
fn true_false() -> QuestionView {
    QuestionView {
        q: 3,
        kind: QuestionKind::TrueFalse,
        text: "Water boils at 90 °C at sea level.".to_owned(),
        choices: texts(&["True", "False"]),
        ms: 10_000,
        left: None,
    }
}

const ADA: PlayerId = PlayerId(1);
const NOOR: PlayerId = PlayerId(2);

#[test]
fn fixtures_are_as_committed() {
    let mut fixtures = Fixtures::new();
    player::add_all(&mut fixtures);
    host::add_all(&mut fixtures);
    http::add_all(&mut fixtures);
    assert_covered::<crate::player::PlayerCommand>(&fixtures, "player_command");
    assert_covered::<crate::player::PlayerFrame>(&fixtures, "player_frame");
    assert_covered::<crate::host::HostCommand>(&fixtures, "host_command");
    assert_covered::<crate::host::HostFrame>(&fixtures, "host_frame");

    let folder = root().join("protocol/fixtures");
    let stale: Vec<String> = fixtures
        .iter()
        .filter_map(|(name, json)| settle(&folder.join(format!("{name}.json")), json).err())
        .collect();
    assert!(stale.is_empty(), "{}; {REPAIR}", stale.join("; "));

    let expected: BTreeSet<String> = fixtures.iter().map(|(name, _)| format!("{name}.json")).collect();
    assert_eq!(expected.len(), fixtures.len(), "two fixtures have one name");
    let found: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        found, expected,
        "protocol/fixtures holds files that no message has"
    );
}
