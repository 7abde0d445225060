//! Items to questions.

use protocol::quiz::{Question, QuestionKind};

use super::*;
use crate::import::report::Account;

fn account(text: &str) -> Account {
    let mut report = Report::default();
    Gift::new(text.to_owned()).parse(&mut report).unwrap();
    report.finish()
}

fn one(text: &str) -> Question {
    let account = account(text);
    assert_eq!(account.questions.len(), 1, "{text}: {:?}", account.skipped);
    account.questions.into_iter().next().unwrap()
}

fn notes(text: &str) -> Vec<String> {
    account(text).notes.into_iter().map(|note| note.reason).collect()
}

fn correct(question: &Question) -> Vec<&str> {
    question
        .choices
        .iter()
        .filter(|choice| choice.correct)
        .map(|choice| choice.text.as_str())
        .collect()
}

#[test]
fn single_choice() {
    let question = one("::Name:: Capital of Chile? {\n  ~Lima#no\n  =Santiago\n  ~Quito }");
    assert_eq!(question.kind, QuestionKind::Single);
    assert_eq!(question.text, "Capital of Chile?");
    assert_eq!(correct(&question), ["Santiago"]);
    assert_eq!(question.choices.len(), 3);
}

#[test]
fn several_full_answers_stay_single_choice() {
    let question = one("A prime? {=2 =3 ~4}");
    assert_eq!(question.kind, QuestionKind::Single);
    assert_eq!(correct(&question), ["2", "3"]);
}

#[test]
fn several_weights_make_multiple_choice() {
    let question = one("Primes? {~%50%2 ~%50%3 ~%-100%4}");
    assert_eq!(question.kind, QuestionKind::Multiple);
    assert_eq!(correct(&question), ["2", "3"]);
    assert!(notes("Primes? {~%33.3%2 ~%33.33333%3 ~%33.4%5 ~4}").is_empty());
    assert_eq!(
        notes("Primes? {~%70%2 ~%30%3 ~4}"),
        ["Its answers' different weights are not carried over."]
    );
}

#[test]
fn one_weight_makes_single_choice() {
    let question = one("Prime? {~%100%2 ~4}");
    assert_eq!(
        (question.kind, correct(&question)),
        (QuestionKind::Single, vec!["2"])
    );
    assert_eq!(notes("Prime? {~%50%2 ~4}").len(), 1);
}

#[test]
fn partial_credit_beside_a_full_answer_is_noted() {
    let text = "Prime? {=2 ~%50%1 ~4}";
    assert_eq!(correct(&one(text)), ["2"]);
    assert_eq!(notes(text), ["Its answers with partial credit count as wrong."]);
}

#[test]
fn true_false() {
    let question = one("Water is wet.{TRUE#no#yes}");
    assert_eq!(question.kind, QuestionKind::TrueFalse);
    assert_eq!(question.text, "Water is wet.");
    assert_eq!(correct(&question), ["True"]);
    assert_eq!(correct(&one("Fire is wet. {f}")), ["False"]);
    assert_eq!(one("Fire {F} is wet.").text, "Fire  is wet.");
}

#[test]
fn missing_word() {
    assert_eq!(one("The {~dog =cat} purrs.").text, "The ____ purrs.");
    assert_eq!(one("It is a {\n~dog\n=cat\n}.").text, "It is a ____.");
    assert_eq!(one("{=Cats ~Dogs} purr.").text, "____ purr.");
}

#[test]
fn markup_follows_the_tags() {
    assert_eq!(one("[html]<p>a &lt; b</p> {T}").text, "a < b");
    assert_eq!(one("[plain]<p>a &lt; b</p> {T}").text, "<p>a &lt; b</p>");
    assert_eq!(
        one("Is a < b? Is <b>this</b> bold? {T}").text,
        "Is a < b? Is this bold?"
    );
    let question = one("[html]Q {=<i>x</i> ~[plain]<i>y</i> ~[moodle]z &amp; w}");
    let texts: Vec<&str> = question
        .choices
        .iter()
        .map(|choice| choice.text.as_str())
        .collect();
    assert_eq!(texts, ["x", "<i>y</i>", "z & w"]);
}

#[test]
fn escapes_come_back_as_typed() {
    let question = one(r"[plain]\{a\: b\} \= \#1 \~ c\nd {=x\=5 ~\~\}}");
    assert_eq!(question.text, "{a: b} = #1 ~ c\nd");
    assert_eq!(question.choices[0].text, "x=5");
    assert_eq!(question.choices[1].text, "~}");
}

#[test]
fn a_title_stands_in_for_a_missing_text() {
    assert_eq!(one("::2 + 2?::{=4 ~5}").text, "2 + 2?");
    assert_eq!(
        notes("::2 + 2?::{=4 ~5}"),
        ["It has no text, so its title is its text."]
    );
    assert_eq!(account("{=4 ~5}").skipped[0].reason, "It has no text.");
    assert_eq!(account("{=4 ~5}").skipped[0].name, "(no name)");
}

#[test]
fn malformed_items_are_left_out_with_the_reason() {
    for (text, word) in [
        ("a {=b ~c", "not closed"),
        ("a {=b {~c}", "inside of its answer block"),
        ("a {=b ~c} d {T}", "more than one answer block"),
        ("::t::only text", "Descriptions"),
        ("a {b}", "has no answers"),
    ] {
        let account = account(text);
        assert!(
            account.skipped[0].reason.contains(word),
            "{text}: {:?}",
            account.skipped
        );
    }
}

#[test]
fn images_and_feedback_are_noted() {
    let text = "[html]See <img src\\=\"x.png\"> {T####why}\n\nWater {T#x}\n\nFire {F}";
    assert_eq!(
        notes(text),
        [
            "Its image or other media is not carried over.",
            "The feedback of 2 imported questions is not carried over."
        ]
    );
}

#[test]
fn categories_name_the_quiz_and_others_are_noted() {
    let text = "$CATEGORY: $course$/top/A//B\n\nx {T}\n\n$CATEGORY: top/C\n\ny {T}";
    let mut report = Report::default();
    let title = Gift::new(text.to_owned()).parse(&mut report).unwrap().unwrap();
    assert_eq!(title.text, "A/B");
    let notes = report.finish().notes;
    assert_eq!(
        (notes.len(), notes[0].name.as_str(), notes[0].place.as_str()),
        (1, "C", "line 5")
    );
}
