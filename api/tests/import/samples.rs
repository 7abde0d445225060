//! The real files that teachers' tools wrote. They keep their own licences, so they are read where they are.

use std::path::{Path, PathBuf};

use api::import::{Imported, import};
use protocol::rest::ImportFormat;

use crate::reasons;

const ESSAY: &str = "Essay questions are not supported yet.";
const MATCHING: &str = "Matching questions are not supported yet.";
const NUMERIC: &str = "Numeric questions are not supported yet.";
const SHORT: &str = "Short-answer questions are not supported yet.";

/// File, questions imported, reasons for the others in file order: counted by reading the files.
const GIFT_FILES: [(&str, usize, &[&str]); 5] = [
    (
        "giftpeg_formatPhpExamples.gift",
        5,
        &[SHORT, NUMERIC, MATCHING, SHORT, NUMERIC],
    ),
    ("giftpeg_mcHTMLComment.gift", 1, &[]),
    ("giftpeg_multipleAnswersFloat.gift", 1, &[]),
    ("giftpeg_symbolsAll.gift", 1, &[]),
    (
        "moodle_gift_fixture.gift.txt",
        5,
        &[ESSAY, MATCHING, NUMERIC, SHORT],
    ),
];

/// Files of formats that are refused by name.
const REFUSED_FILES: [(&str, &str); 8] = [
    ("moodle_questions.aiken.txt", "Aiken"),
    ("moodle_multichoice.xml", "Moodle XML"),
    ("canvas_qti12_assessment.xml", "QTI 1.2"),
    ("canvas_qti12_imsmanifest.xml", "QTI package"),
    ("qti3_QTI3multiplechoice2.xml", "QTI 3"),
    ("jovvix_demo.csv", "CSV"),
    ("arsnova_quiz_mixed_realistisch.json", "ARSnova"),
    ("opentriviaqa_for-kids.txt", "Open Trivia"),
];

/// The folder. None where it does not exist, which is an error under CI.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no command line; these two are the test suite's own"
)]
fn folder() -> Option<PathBuf> {
    let given = std::env::var_os("HOMEROOM_SAMPLES").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/samples"));
    if folder.is_dir() {
        return Some(folder);
    }
    let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(
        !ci,
        "no sample files at {}; set HOMEROOM_SAMPLES",
        folder.display()
    );
    println!(
        "NOT RUN: no sample files at {}; set HOMEROOM_SAMPLES",
        folder.display()
    );
    None
}

fn import_file(folder: &Path, name: &str) -> Imported {
    import(name, &std::fs::read(folder.join(name)).unwrap()).unwrap()
}

/// Items of a GIFT file that has no blank line inside of an item: the groups of lines that are no comments.
fn groups(text: &str) -> usize {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let mut count = 0;
    let mut inside = false;
    for line in lines {
        count += usize::from(!inside && !line.is_empty());
        inside = !line.is_empty();
    }
    count
}

#[test]
fn gift_files() {
    let Some(folder) = folder() else { return };
    for (name, imported_count, skipped) in GIFT_FILES {
        let imported = import_file(&folder, name);
        assert_eq!(imported.format, ImportFormat::Gift);
        assert_eq!(imported.quiz.questions.len(), imported_count, "{name}");
        assert_eq!(reasons(&imported), skipped, "{name}");
        let text = String::from_utf8(std::fs::read(folder.join(name)).unwrap()).unwrap();
        assert_eq!(imported_count + skipped.len(), groups(&text), "{name}");
        imported.quiz.validate().unwrap();
    }
}

#[test]
fn symbols_come_back_as_typed() {
    let Some(folder) = folder() else { return };
    let text = &import_file(&folder, "giftpeg_symbolsAll.gift").quiz.questions[0].text;
    assert!(text.ends_with("`-=[];',./~!@#$%^&*()_+{}|:\"<>?"), "{text}");
}

#[test]
fn kahoot_file() {
    let Some(folder) = folder() else { return };
    let imported = import_file(&folder, "kahoot_2berius_Qahoot.xlsx");
    assert_eq!(imported.format, ImportFormat::Kahoot);
    assert_eq!((imported.skipped_count, imported.notes.len()), (0, 0));
    let [question] = &imported.quiz.questions[..] else {
        panic!("{:?}", imported.quiz)
    };
    let texts: Vec<&str> = question
        .choices
        .iter()
        .map(|choice| choice.text.as_str())
        .collect();
    assert_eq!(texts, ["Excel", "Google Docs", "Numbers", "LibreOffice"]);
    assert!(question.choices.iter().all(|choice| choice.correct));
    assert_eq!(question.time_ms, 60_000);
}

#[test]
fn every_other_file_is_refused_by_name() {
    let Some(folder) = folder() else { return };
    for (name, format) in REFUSED_FILES {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        // The extension of another format changes nothing.
        for filename in [name, "quiz.gift", "quiz.xlsx"] {
            let error = import(filename, &bytes).unwrap_err();
            assert_eq!(error.code(), "import-unsupported-format", "{name}");
            assert!(error.to_string().contains(format), "{name}: {error}");
        }
    }
}
