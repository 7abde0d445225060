//! Title, bounds and errors of an import as a whole.

use protocol::quiz::QUESTIONS_MAX;

use super::*;

fn gift(filename: &str, text: &str) -> Imported {
    import(filename, text.as_bytes()).unwrap()
}

#[test]
fn title_comes_from_the_category_then_the_file_name() {
    let with_category = "$CATEGORY: $course$/top/Biology/Cells\n\nWater is wet. {T}";
    assert_eq!(gift("a.gift", with_category).quiz.title, "Cells");
    assert_eq!(
        gift("C:\\quiz\\Term 2.1.gift.txt", "Water is wet. {T}")
            .quiz
            .title,
        "Term 2.1"
    );
    assert_eq!(gift("", "Water is wet. {T}").quiz.title, "Imported quiz");
    assert_eq!(
        gift(".gift", "$CATEGORY: $course$/top\n\nWater is wet. {T}")
            .quiz
            .title,
        "Imported quiz"
    );
}

#[test]
fn long_title_is_shortened_with_a_note() {
    let imported = gift(&"ß".repeat(300), "Water is wet. {T}");
    assert_eq!(imported.quiz.title.chars().count(), TITLE_CHARS_MAX);
    assert_eq!(imported.notes.len(), 1);
    assert!(imported.quiz.validate().is_ok());
}

#[test]
fn questions_above_the_bound_are_left_out_one_by_one() {
    let text: String = (1..=QUESTIONS_MAX + 3)
        .map(|n| format!("::Q{n}::Is {n} odd? {{T}}\n\n"))
        .collect();
    let imported = gift("many", &text);
    assert_eq!(imported.quiz.questions.len(), QUESTIONS_MAX);
    assert_eq!(imported.skipped_count, 3);
    let names: Vec<&str> = imported.skipped.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["Q201", "Q202", "Q203"]);
    assert_eq!(imported.skipped[0].place, "line 401");
    assert!(imported.skipped[0].reason.contains("200"));
}

#[test]
fn the_list_of_items_left_out_is_bounded_and_its_count_exact() {
    let text: String = (1..=2_500)
        .map(|n| format!("::E{n}::Essay {n} {{}}\n\n"))
        .collect();
    let imported = gift("essays", &text);
    assert_eq!(imported.skipped_count, 2_500);
    assert_eq!(imported.skipped.len(), LISTED_MAX + 1);
    let last = imported.skipped.last().unwrap();
    assert_eq!(last.reason, "1500 more items were left out, too many to list.");
    assert_eq!(last.place, "after line 1999");
    assert!(imported.quiz.questions.is_empty());
}

#[test]
fn items_beyond_a_bound_are_left_out_whole() {
    let long_text = "x".repeat(1_001);
    let long_choice = "y".repeat(251);
    let eleven = "~a ".repeat(10);
    let text = format!(
        "::text::{long_text} {{T}}\n\n::choice::Q {{={long_choice} ~b}}\n\n::eleven::Q {{=x {eleven}}}\n\n\
         ::one::Q {{~a}}\n\n::none::Q {{~a ~b}}\n\n::empty::Q {{=a ~ ~b}}\n\n::fine::Q {{=a ~b}}"
    );
    let imported = gift("bounds", &text);
    assert_eq!(imported.quiz.questions.len(), 1);
    let reasons: Vec<(&str, &str)> = imported
        .skipped
        .iter()
        .map(|item| (item.name.as_str(), item.reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [
            ("text", "Its text has 1001 characters; 1 to 1000 are allowed."),
            ("choice", "Answer 1 has 251 characters; 1 to 250 are allowed."),
            ("eleven", "It has 11 answers to choose from; 2 to 10 are allowed."),
            ("one", "It has 1 answer to choose from; 2 to 10 are allowed."),
            ("none", "No answer is marked as correct."),
            ("empty", "Answer 2 has no text."),
        ]
    );
}

#[test]
fn errors_are_told_apart() {
    let code = |bytes: &[u8]| import("x.gift", bytes).unwrap_err().code();
    assert_eq!(code(b""), "import-empty");
    assert_eq!(code(b" \r\n\t"), "import-empty");
    assert_eq!(code(b"\xEF\xBB\xBF"), "import-empty");
    assert_eq!(code(b"// only a comment\n"), "import-no-questions");
    assert_eq!(code(b"Dear class, no quiz today."), "import-unknown-format");
    assert_eq!(code(&[0, 1, 2, 3]), "import-unknown-format");
    assert_eq!(code(b"PK\x03\x04"), "import-corrupt");
    assert_eq!(code(&vec![b'a'; FILE_BYTES_MAX + 1]), "import-file-too-large");
    assert_eq!(code(b"%PDF-1.7"), "import-unsupported-format");
}
