//! Both files are read back by readers that are not ours.

use std::io::Cursor;

use calamine::{Data, Reader as _, Xlsx};
use proptest::prelude::*;
use protocol::ids::{GameId, PlayerId, QuizId, TeacherId};
use protocol::quiz::{Choice, QuestionKind, QuizDocument};
use protocol::result::{GameResult, GameSettings, QuestionResult};
use uuid::Uuid;

use super::*;
use crate::export::{csv as own_csv, results_as_csv, results_as_xlsx};
use crate::report::report;

fn result(names: &[&str]) -> GameResult {
    let choice = |text: &str, correct| Choice {
        text: text.to_owned(),
        correct,
    };
    let question = Question {
        kind: QuestionKind::Multiple,
        text: "=1+1, or \"zwei\"?".to_owned(),
        choices: vec![choice("@Größe", true), choice("-2", true), choice("drei", false)],
        time_ms: 20_000,
    };
    let answer = |choices: &[u8]| AnswerResult {
        q: 1,
        choices: choices.to_vec(),
        elapsed_ms: 2_500,
        correct: choices == [0, 1],
        points: if choices == [0, 1] { 900 } else { 0 },
    };
    let players = names.iter().zip(1..).map(|(name, n)| PlayerResult {
        id: PlayerId(n),
        name: (*name).to_owned(),
        rank: n,
        total: 1_000 - n,
        answers: match n {
            1 => vec![answer(&[0, 1])],
            2 => Vec::new(),
            _ => vec![answer(&[2])],
        },
    });
    GameResult {
        game: GameId(Uuid::from_u128(1)),
        code: "K7Q2MX".parse().unwrap(),
        teacher: TeacherId(Uuid::from_u128(2)),
        quiz_id: QuizId(Uuid::from_u128(3)),
        settings: GameSettings::default(),
        quiz: QuizDocument {
            title: "T".to_owned(),
            questions: vec![question.clone(), question],
        },
        created_ms: 1,
        ended_ms: 2,
        questions: vec![
            QuestionResult { q: 1, skipped: false },
            QuestionResult { q: 2, skipped: true },
        ],
        players: players.collect(),
    }
}

fn read_csv(file: &str) -> Vec<Vec<String>> {
    let text = file.strip_prefix('\u{feff}').expect("a byte order mark");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let records = reader
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect());
    records.collect()
}

#[test]
fn a_csv_has_every_cell_and_no_formula() {
    let names = [
        "Zoë 👩",
        "=HYPERLINK(\"http://x\")",
        "+1",
        "-a\r\nb",
        "\u{200b}@x",
        "a,\"b\"",
    ];
    let rows = read_csv(&results_as_csv(&report(result(&names))));
    let header = [
        "Place",
        "Name",
        "Points",
        "Right",
        "Answered",
        "Question 1",
        "Points 1",
        "Question 2 (skipped)",
        "Points 2",
    ];
    assert_eq!(rows[0], header);
    assert_eq!(
        rows[1],
        ["1", "Zoë 👩", "999", "1", "1", "'@Größe | -2", "900", "", ""]
    );
    assert_eq!(
        rows[2],
        ["2", "'=HYPERLINK(\"http://x\")", "998", "0", "0", "", "", "", ""]
    );
    assert_eq!(rows[3], ["3", "'+1", "997", "0", "1", "drei", "0", "", ""]);
    assert_eq!(
        (rows[4][1].as_str(), rows[5][1].as_str()),
        ("'-a\r\nb", "'\u{200b}@x")
    );
    assert_eq!(rows[6][1], "a,\"b\"");
    assert_eq!(rows.len(), 7);
}

#[test]
fn a_workbook_has_every_cell_as_what_it_is() {
    let names = ["Zoë 👩", "=HYPERLINK(\"http://x\")", "\u{1}\u{b}_x0041_"];
    let file = results_as_xlsx(&report(result(&names))).unwrap();
    let mut book: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(file)).unwrap();
    assert_eq!(book.sheet_names(), ["Students", "Questions"]);
    for sheet in ["Students", "Questions"] {
        let formulas = book.worksheet_formula(sheet).unwrap();
        assert!(formulas.used_cells().next().is_none(), "{sheet}");
    }
    let students = book.worksheet_range("Students").unwrap();
    let text = |row, column| students.get_value((row, column)).unwrap().clone();
    assert_eq!(text(1, 1), Data::String("Zoë 👩".to_owned()));
    assert_eq!(text(1, 2), Data::Float(999.0));
    assert_eq!(
        text(1, 5),
        Data::String("@Größe | -2".to_owned()),
        "as it was typed"
    );
    assert_eq!(text(2, 1), Data::String("=HYPERLINK(\"http://x\")".to_owned()));
    assert_eq!(text(2, 5), Data::Empty);
    let questions = book.worksheet_range("Questions").unwrap();
    let row: Vec<Data> = questions.rows().nth(1).unwrap().to_vec();
    let texts = [
        Data::String("=1+1, or \"zwei\"?".to_owned()),
        Data::String("@Größe | -2".to_owned()),
    ];
    assert_eq!(row[..3], [Data::Float(1.0), texts[0].clone(), texts[1].clone()]);
    assert_eq!(row[3..], [Data::Float(2.0), Data::Float(1.0), Data::Float(2.5)]);
}

/// What a spreadsheet program makes of the file that takes another sign for the end of a cell, as it does where the comma is the decimal
/// sign.
fn cells_by(file: &str, end: u8) -> Vec<String> {
    let text = file.strip_prefix('\u{feff}').expect("a byte order mark");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(end)
        .from_reader(text.as_bytes());
    let records = reader.records().flat_map(|record| {
        let cells: Vec<_> = record.unwrap().iter().map(str::to_owned).collect();
        cells
    });
    records.collect()
}

fn may_be_calculated(cell: &str) -> bool {
    let cell = cell.trim_start_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{200b}');
    let mut signs = cell.chars();
    signs.next().is_some_and(|c| "=+-@＝＋－＠".contains(c)) && signs.next() != Some(')')
}

#[test]
fn a_csv_has_no_formula_where_semicolons_end_cells() {
    let names = [
        "a;=cmd|'/c calc'!A1",
        "a; \t\"@x",
        "a\tb;\u{200b}+1",
        "a\n-1",
        "a; b, c",
        "Zoë ;-)",
    ];
    let file = results_as_csv(&report(result(&names)));
    for end in *b";\t" {
        for cell in cells_by(&file, end) {
            assert!(!may_be_calculated(&cell), "{cell:?} of {file}");
        }
    }
    let rows = read_csv(&file);
    let read: Vec<_> = rows[1..].iter().map(|row| row[1].as_str()).collect();
    let guarded = [
        "a;'=cmd|'/c calc'!A1",
        "a; \t'\"@x",
        "a\tb;'\u{200b}+1",
        "a\n'-1",
        "a; b, c",
        "Zoë ;-)",
    ];
    assert_eq!(read, guarded, "and nothing else is changed");
}

proptest! {
    #[test]
    fn no_nickname_becomes_a_formula(name in "([=+@ ;\"\t\r\n\u{200b}\u{ff1d}-]{0,3}\\PC{0,10}){1,2}") {
        let file = results_as_csv(&report(result(&[&name])));
        let rows = read_csv(&file);
        let without = |text: &str| text.replace('\'', "");
        prop_assert_eq!(without(&rows[1][1]), without(&name));
        for end in *b",;\t" {
            for cell in cells_by(&file, end) {
                prop_assert!(!may_be_calculated(&cell), "{:?}", cell);
            }
        }
        prop_assert!(!may_be_calculated(&own_csv::harmless(&name)));
    }
}
