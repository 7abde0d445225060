//! Files written by hand with the peculiarities of real ones, and what the spreadsheet template can hold.

use api::import::{Imported, import};
use protocol::quiz::QuestionKind;
use protocol::rest::ImportFormat;

use crate::xlsx::{Book, Cell};
use crate::{correct, reasons};

const SEPARATORS: &str = include_str!("../fixtures/gift/separators.gift");
const TYPES: &str = include_str!("../fixtures/gift/types.gift");
const SYMBOLS: &str = include_str!("../fixtures/gift/symbols.gift");
const MARKUP: &str = include_str!("../fixtures/gift/markup.gift");
const WEIGHTS: &str = include_str!("../fixtures/gift/weights.gift");
const ALL: [&str; 5] = [SEPARATORS, TYPES, SYMBOLS, MARKUP, WEIGHTS];

fn gift(text: &str) -> Imported {
    import("fixture.gift", text.as_bytes()).unwrap()
}

/// What is left of an import when encodings and line ends must not matter.
fn essence(imported: &Imported) -> (Vec<String>, Vec<Vec<bool>>, usize, Vec<String>) {
    let texts = imported
        .quiz
        .questions
        .iter()
        .map(|question| question.text.clone())
        .collect();
    let places = imported.skipped.iter().map(|item| item.place.clone()).collect();
    (texts, correct(imported), imported.skipped_count, places)
}

#[test]
fn every_item_is_imported_or_left_out() {
    for text in ALL {
        let items = text.lines().filter(|line| *line == "// item").count();
        let imported = gift(text);
        assert_eq!(
            imported.quiz.questions.len() + imported.skipped_count,
            items,
            "{text}"
        );
        imported.quiz.validate().unwrap();
    }
}

#[test]
fn separators_and_blank_lines() {
    let imported = gift(SEPARATORS);
    assert_eq!(imported.format, ImportFormat::Gift);
    assert_eq!(imported.quiz.title, "fixture");
    let texts: Vec<&str> = imported
        .quiz
        .questions
        .iter()
        .map(|question| question.text.as_str())
        .collect();
    assert_eq!(
        texts,
        [
            "Who painted the teacher's door?",
            "The moon is ____ the earth's sky.",
            "The moon is made of the teacher's cheese.",
            "The moon is ____ in the earth's sky.",
            "A question with half a point.",
        ]
    );
    assert_eq!(
        correct(&imported),
        [
            vec![false, false, true],
            vec![false, true, false],
            vec![false, true],
            vec![false, true, false],
            vec![false, false, true]
        ]
    );
    let words: Vec<&str> = reasons(&imported)
        .iter()
        .filter_map(|reason| reason.split(' ').next())
        .collect();
    assert_eq!(
        words,
        ["Short-answer", "Numeric", "Matching", "Short-answer", "Numeric"]
    );
    let names: Vec<(&str, &str)> = imported
        .skipped
        .iter()
        .map(|item| (item.name.as_str(), item.place.as_str()))
        .collect();
    assert_eq!(names[0], ("Who wrote the pupils' play?", "line 15"));
    assert_eq!(names[2], ("Put each river in its country.", "line 21"));
    assert_eq!(names[4], ("A number", "line 54"));
}

#[test]
fn every_type() {
    let imported = gift(TYPES);
    assert_eq!(imported.quiz.title, "Hand-made types");
    let kinds: Vec<QuestionKind> = imported
        .quiz
        .questions
        .iter()
        .map(|question| question.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            QuestionKind::Single,
            QuestionKind::Multiple,
            QuestionKind::TrueFalse,
            QuestionKind::TrueFalse,
            QuestionKind::TrueFalse
        ]
    );
    let words: Vec<&str> = reasons(&imported)
        .iter()
        .filter_map(|reason| reason.split(' ').next())
        .collect();
    assert_eq!(
        words,
        ["Essay", "Matching", "Numeric", "Short-answer", "Descriptions"]
    );
}

#[test]
fn symbols_markup_and_weights() {
    assert_eq!(
        gift(SYMBOLS).quiz.questions[0].text,
        "A stem with symbols,\nnamely `-=[];',./~!@#$%^&*()_+{}|:\"<>?"
    );
    let markup = gift(MARKUP);
    let [first, second] = &markup.quiz.questions[..] else {
        panic!("{markup:?}")
    };
    assert_eq!(
        first.text,
        "¿Qué montaña es la más alta de España\u{A0}— según el mapa?"
    );
    assert_eq!(
        first.choices[0].text,
        "El Mulhacén, en Granada, por su altura de 3.479\u{A0}metros."
    );
    assert_eq!(second.text, "Is 3 < 5, and is x² > x for x = 3?");
    let weights = gift(WEIGHTS);
    assert_eq!(weights.quiz.questions[0].kind, QuestionKind::Multiple);
    assert_eq!(correct(&weights), [[true, true, false, true, false]]);
    assert!(weights.notes.is_empty());
}

#[test]
fn encodings_and_line_ends_do_not_matter() {
    for text in ALL {
        let expected = essence(&gift(text));
        let mixed: String = text
            .split('\n')
            .zip(["\r\n", "\n", "\r"].into_iter().cycle())
            .map(|(line, end)| format!("{line}{end}"))
            .collect();
        let with_line_ends = [text.replace('\n', "\r\n"), text.replace('\n', "\r"), mixed];
        for text in &with_line_ends {
            assert_eq!(essence(&gift(text)), expected);
        }
        let utf16 = |bom: [u8; 2], unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            bom.into_iter()
                .chain(text.encode_utf16().flat_map(unit))
                .collect()
        };
        // Of the characters above U+00FF, windows-1252 has the dash only at a place of its own.
        let windows_1252 = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
        let encoded = [
            [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            utf16([0xFF, 0xFE], u16::to_le_bytes),
            utf16([0xFE, 0xFF], u16::to_be_bytes),
            windows_1252,
        ];
        for bytes in encoded {
            assert_eq!(essence(&import("x", &bytes).unwrap()), expected);
        }
    }
}

/// Question, four answers, time, correct.
fn template_rows() -> Vec<[Cell<'static>; 7]> {
    use Cell::{Bool, Date, Empty, Error, Inline, Number, Shared, Text};
    vec![
        [
            Shared("Plain?"),
            Shared("a"),
            Shared("b"),
            Shared("c"),
            Shared("d"),
            Number("30"),
            Shared("1,2,3,4"),
        ],
        [
            Inline("Inline & <b>?"),
            Inline("a"),
            Inline("b"),
            Empty,
            Empty,
            Text("20"),
            Number("2.0"),
        ],
        [
            Text("Formula?"),
            Number("10.0"),
            Number("2.5"),
            Number("1.1000000000000001"),
            Empty,
            Number("5"),
            Text("1, 3"),
        ],
        [
            Shared("Is it true?"),
            Bool(true),
            Bool(false),
            Empty,
            Empty,
            Number("20"),
            Number("1"),
        ],
        [Empty, Empty, Empty, Empty, Empty, Number("20"), Empty],
        [
            Shared("No answers"),
            Empty,
            Empty,
            Empty,
            Empty,
            Number("20"),
            Number("1"),
        ],
        [
            Shared("A date?"),
            Date("45943"),
            Shared("b"),
            Empty,
            Empty,
            Number("1"),
            Shared("1;2"),
        ],
        [
            Shared("An error?"),
            Error("#N/A"),
            Shared("b"),
            Empty,
            Empty,
            Empty,
            Number("1"),
        ],
        [Empty, Empty, Empty, Empty, Empty, Empty, Empty],
        [
            Shared("Gone?"),
            Shared("a"),
            Shared("b"),
            Empty,
            Empty,
            Empty,
            Number("4"),
        ],
    ]
}

#[test]
fn spreadsheet_template() {
    let rows = template_rows();
    let items = rows.iter().filter(|row| !matches!(row[0], Cell::Empty)).count();
    let imported = import("class 9.xlsx", &Book::template(&rows).zip()).unwrap();
    assert_eq!(imported.format, ImportFormat::Kahoot);
    assert_eq!(imported.quiz.title, "class 9");
    assert_eq!(imported.quiz.questions.len() + imported.skipped_count, items);
    let questions: Vec<(&str, Vec<&str>)> = imported
        .quiz
        .questions
        .iter()
        .map(|q| {
            (
                q.text.as_str(),
                q.choices.iter().map(|choice| choice.text.as_str()).collect(),
            )
        })
        .collect();
    assert_eq!(
        questions,
        [
            ("Plain?", vec!["a", "b", "c", "d"]),
            ("Inline & <b>?", vec!["a", "b"]),
            ("Formula?", vec!["10", "2.5", "1.1"]),
            ("Is it true?", vec!["True", "False"]),
            ("A date?", vec!["2025-10-13", "b"]),
        ]
    );
    assert_eq!(
        correct(&imported),
        [
            vec![true; 4],
            vec![false, true],
            vec![true, false, true],
            vec![true, false],
            vec![true, true]
        ]
    );
    let kinds: Vec<QuestionKind> = imported
        .quiz
        .questions
        .iter()
        .map(|question| question.kind)
        .collect();
    assert_eq!(kinds[3], QuestionKind::TrueFalse);
    assert!(
        kinds
            .iter()
            .enumerate()
            .all(|(i, kind)| i == 3 || *kind == QuestionKind::Single)
    );
    let places: Vec<(&str, &str)> = imported
        .skipped
        .iter()
        .map(|item| (item.name.as_str(), item.place.as_str()))
        .collect();
    assert_eq!(
        places,
        [
            ("No answers", "row 14"),
            ("An error?", "row 16"),
            ("Gone?", "row 18")
        ]
    );
    let noted: Vec<&str> = imported.notes.iter().map(|note| note.place.as_str()).collect();
    assert_eq!(noted, ["row 15", "row 15"]);
}

#[test]
fn spreadsheet_title_falls_back_to_the_sheet() {
    let rows = template_rows();
    let named = |name: &'static str| {
        Book {
            sheet_name: name,
            ..Book::template(&rows)
        }
        .zip()
    };
    assert_eq!(
        import("", &named("Rivers of Europe")).unwrap().quiz.title,
        "Rivers of Europe"
    );
    assert_eq!(import("", &named("Sheet1")).unwrap().quiz.title, "Imported quiz");
}

#[test]
fn spreadsheet_variants() {
    let rows = template_rows();
    let expected = essence(&import("x", &Book::template(&rows).zip()).unwrap());
    let prefixed = Book {
        prefix: "x:",
        ..Book::template(&rows)
    };
    let unnumbered = Book {
        references: false,
        ..Book::template(&rows)
    };
    let absolute = Book {
        sheet_target: "/xl/worksheets/sheet1.xml",
        ..Book::template(&rows)
    };
    for book in [prefixed, unnumbered, absolute] {
        assert_eq!(essence(&import("x", &book.zip()).unwrap()), expected);
    }
}

#[test]
fn spreadsheet_without_the_template_is_refused() {
    let rows = template_rows();
    let book = Book {
        header_row: 0,
        ..Book::template(&rows)
    };
    assert_eq!(import("x", &book.zip()).unwrap_err().code(), "import-no-header");
    let empty = Book::template(&[]);
    assert_eq!(
        import("x", &empty.zip()).unwrap_err().code(),
        "import-no-questions"
    );
}
