//! Items cut where they begin and end.

use super::*;

/// Line and text of each item; categories as `$path`.
fn cut(text: &str) -> Vec<(usize, String)> {
    Scanner::new(text)
        .map(|element| match element {
            Element::Category { line, path } => (line, format!("${path}")),
            Element::Item(item) => (item.line, item.text),
        })
        .collect()
}

fn expect(text: &str, items: &[(usize, &str)]) {
    let items: Vec<(usize, String)> = items
        .iter()
        .map(|(line, item)| (*line, (*item).to_owned()))
        .collect();
    assert_eq!(cut(text), items, "{text}");
}

#[test]
fn blank_lines_separate_items_but_not_answers() {
    expect("a\nb {T}\n\n \t\nc {F}", &[(1, "a\nb {T}"), (5, "c {F}")]);
    expect(
        "q {\n\n=a\n\n~b\n}\n\nr {T}",
        &[(1, "q {\n=a\n~b\n}"), (8, "r {T}")],
    );
    expect("", &[]);
    expect("\n\n", &[]);
}

#[test]
fn comments_vanish_wherever_they_stand() {
    expect("// a\nq {\n // b {\n=x\n~y}\n// c\n\n//d", &[(2, "q {\n=x\n~y}")]);
    expect("http://not.a.comment {T}", &[(1, "http://not.a.comment {T}")]);
}

#[test]
fn categories_stand_alone() {
    expect(
        "$CATEGORY: a/b\nq {T}\n\n$CATEGORY:c\n\n",
        &[(1, "$a/b"), (2, "q {T}"), (4, "$c")],
    );
}

#[test]
fn text_after_a_block_belongs_to_it() {
    expect("a {\n=b ~c\n} d\ne", &[(1, "a {\n=b ~c\n} d\ne")]);
    expect("a {=b ~c}\nd", &[(1, "a {=b ~c}\nd")]);
}

#[test]
fn a_second_block_on_a_later_line_begins_an_item() {
    expect(
        "a {T}\nb {F}\nc\nd {T}",
        &[(1, "a {T}"), (2, "b {F}"), (3, "c\nd {T}")],
    );
    expect("a {T}\n// x\nb {F}", &[(1, "a {T}"), (3, "b {F}")]);
    expect("a {T} b\nc {F}", &[(1, "a {T} b\nc {F}")]);
    expect("a {T} b {F}", &[(1, "a {T} b {F}")]);
}

#[test]
fn a_title_begins_an_item_after_or_within_a_block() {
    expect("a {T}\n::t::b {F}", &[(1, "a {T}"), (2, "::t::b {F}")]);
    expect("a {=x\n::t::b {F}", &[(1, "a {=x"), (2, "::t::b {F}")]);
}

#[test]
fn a_block_that_is_never_closed_takes_only_its_own_item() {
    expect(
        "a {=x ~y\n\nb\nc {T}\n\nd {F}",
        &[(1, "a {=x ~y"), (3, "b\nc {T}"), (6, "d {F}")],
    );
    expect("a {=x\n\n~y }\n\nb {T}", &[(1, "a {=x\n~y }"), (5, "b {T}")]);
    expect(
        "a {=x\n\n$CATEGORY: c\nb {T}",
        &[(1, "a {=x"), (3, "$c"), (4, "b {T}")],
    );
}

#[test]
fn escaped_braces_are_text() {
    expect("a \\{ b\n\nc {=\\} ~d}", &[(1, "a \\{ b"), (3, "c {=\\} ~d}")]);
}
