//! Types told by their blocks, weights and feedback.

use super::*;

fn reason(block: &str) -> String {
    match parse(block) {
        Ok((Block::Unsupported(reason), _)) => reason.to_owned(),
        Ok((other, _)) => format!("{other:?}"),
        Err(reason) => reason,
    }
}

#[test]
fn every_type_is_recognised() {
    for (block, word) in [
        ("", "Essay"),
        (" \n ", "Essay"),
        ("####only feedback", "Essay"),
        ("#1822:5", "Numeric"),
        ("#3:2~#Completely wrong", "Numeric"),
        ("#\n=1822:0 #yes\n=%50%1822:2", "Numeric"),
        ("=Canada->Ottawa =Italy->Rome", "Matching"),
        ("=no one =nobody", "Short-answer"),
        ("=a#see -> there", "Short-answer"),
    ] {
        assert!(reason(block).starts_with(word), "{block}: {}", reason(block));
    }
    assert!(reason("Ottawa").contains("no answers"));
    assert!(reason("x =a ~b").contains("before the first answer"));
}

#[test]
fn truth_in_all_spellings() {
    for (block, correct) in [
        ("T", true),
        (" true ", true),
        ("FALSE", false),
        ("f#no#yes", false),
    ] {
        let (parsed, _) = parse(block).unwrap();
        assert!(
            matches!(parsed, Block::TrueFalse { correct: c, .. } if c == correct),
            "{block}"
        );
    }
    // Feedback may hold anything but a brace.
    assert!(matches!(
        parse("TRUE#x = 5 ~ y").unwrap().0,
        Block::TrueFalse { feedback: true, .. }
    ));
}

fn choices(block: &str) -> Vec<Answer<'_>> {
    let (parsed, _) = parse(block).unwrap();
    let Block::Choices(answers) = parsed else {
        panic!("{parsed:?}")
    };
    answers
}

fn answers(block: &str) -> Vec<(&str, f64, bool)> {
    choices(block)
        .iter()
        .map(|a| (a.text, a.percent, a.feedback))
        .collect()
}

#[test]
fn answers_have_text_weight_and_feedback() {
    assert_eq!(
        answers("~a =b#good ~%-33,333%c"),
        [("a", 0.0, false), ("b", 100.0, true), ("c", -33.333, false)]
    );
    assert_eq!(answers("~=b ~c"), [("b", 100.0, false), ("c", 0.0, false)]);
    assert_eq!(
        answers("~50% =%100%b ~% 5 %c"),
        [("50%", 0.0, false), ("b", 100.0, false), ("c", 5.0, false)]
    );
    assert_eq!(
        answers("=Don&#39;t#ok ~&#x26;# ~R&#"),
        [
            ("Don&#39;t", 100.0, true),
            ("&#x26;", 0.0, false),
            ("R&", 0.0, false)
        ]
    );
    assert_eq!(
        answers("=x\\=5 ~x\\~6"),
        [("x\\=5", 100.0, false), ("x\\~6", 0.0, false)]
    );
}

#[test]
fn general_feedback_is_no_answer() {
    let (block, general) = parse("=a ~b #### because = and ~").unwrap();
    assert!(general);
    assert!(matches!(block, Block::Choices(answers) if answers.len() == 2));
    assert!(!parse("=a ~b ####").unwrap().1);
}

#[test]
fn equals_inside_of_a_word_is_suspicious_only_among_spaced_marks() {
    let glued = |block: &str| has_glued_equals(&choices(block));
    assert!(glued("~x=5 =x\\=6"));
    assert!(!glued("~a~b=c"));
    assert!(!glued("~a =b"));
}
