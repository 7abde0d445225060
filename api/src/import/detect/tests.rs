//! Formats told by content.

use protocol::rest::ImportFormat;

use super::*;

fn refused(text: &str) -> String {
    match detect(text.as_bytes()) {
        Ok(parser) => format!("{:?}", parser.format()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn known_formats_are_refused_by_name() {
    for (text, name) in [
        (
            "<?xml version=\"1.0\"?>\n<quiz>\n<question type=\"essay\">",
            "Moodle XML",
        ),
        ("<quiz><question type=\"essay\">", "Moodle XML"),
        ("<?xml version='1.0'?><questestinterop>", "QTI 1.2"),
        (
            "<?xml version='1.0'?><assessmentItem xmlns='http://www.imsglobal.org/xsd/imsqti_v2p1'>",
            "QTI 2",
        ),
        ("<qti-assessment-item>", "QTI 3"),
        (
            "<?xml version='1.0'?><manifest identifier='m'>",
            "the manifest of a QTI package",
        ),
        ("<!DOCTYPE html><html>", "an HTML page"),
        ("<?xml version='1.0'?><other/>", "an XML file"),
        ("{\"response_code\":0,\"results\":[]}", "Open Trivia JSON"),
        ("{\"exportVersion\": 1, \"quiz\": {}}", "ARSnova JSON"),
        ("[1, 2]", "a JSON file"),
        ("{\n \"cut off\": ", "a JSON file"),
        ("#Q What?\n^ This\nA This\nB That\n", "an Open Trivia text"),
        ("What?\nA) This\nB) That\nANSWER: A\n", "Aiken text"),
        ("What?\nA. This\nB. That\nANSWER:  B\n", "Aiken text"),
        (
            "Question,Option 1,Option 2,Correct answer\nWhat {is} this?,a,b,1\n",
            "a CSV table",
        ),
        ("Question;Answer 1;Answer 2;Correct\nWhat?;a;b;1\n", "a CSV table"),
    ] {
        assert_eq!(
            refused(text),
            ImportError::Unsupported { name }.to_string(),
            "{text}"
        );
    }
}

#[test]
fn gift_that_begins_like_something_else_is_gift() {
    for text in [
        "[html]<b>Bold</b> is a tag. {T}",
        "<b>Bold</b> is a tag. {T}",
        "{=a ~b} is missing.",
        "[1, 2 and 3 are numbers. {T}",
        "Question, answer, and time: three words? {T}",
        "What?\nA) This\nB) That {~A =B}",
        "::Only a title::and a description",
        "$CATEGORY: x",
        "A #Q in the middle. {T}",
    ] {
        assert_eq!(refused(text), format!("{:?}", ImportFormat::Gift), "{text}");
    }
}

#[test]
fn encrypted_and_old_office_files_are_told_apart() {
    let mut old = OLE_MAGIC.to_vec();
    old.extend([0; 600]);
    assert!(matches!(detect(&old), Err(ImportError::Unsupported { .. })));
    old.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert!(matches!(detect(&old), Err(ImportError::Encrypted)));
}
