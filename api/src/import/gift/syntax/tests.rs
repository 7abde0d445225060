//! Escapes, titles, format tags.

use super::*;

#[test]
fn escapes_are_resolved_once() {
    assert_eq!(
        unescape(r"\~\=\#\{\}\:\\ \n \x \", Layout::Keep),
        "~=#{}:\\ \n \\x \\"
    );
    assert_eq!(unescape(r"\\n \\\n", Layout::Keep), "\\n \\\n");
}

#[test]
fn indentation_goes_only_where_it_is_layout() {
    assert_eq!(unescape("a\n    b\\n  c", Layout::Unindent), "a\nb\n  c");
    assert_eq!(unescape("a\n    b", Layout::Keep), "a\n    b");
}

#[test]
fn escaped_marks_are_not_found() {
    assert_eq!(find(r"a\{b\\{", b"{}"), Some(6));
    assert_eq!(find(r"\", b"{"), None);
    assert_eq!(find_mark(r"\->-\>->", "->"), Some(6));
    assert_eq!(find_mark("a:b::c", "::"), Some(3));
}

#[test]
fn titles_are_split_off() {
    assert_eq!(split_title("::T 1:: rest"), (Some("T 1"), " rest"));
    assert_eq!(split_title(r"::a\:\:b::c"), (Some(r"a\:\:b"), "c"));
    assert_eq!(split_title("::never closed"), (None, "::never closed"));
    assert_eq!(split_title("no::title::here"), (None, "no::title::here"));
}

#[test]
fn format_tags_are_split_off() {
    assert_eq!(split_markup(" [html]x"), (Some(Markup::Html), "x"));
    assert_eq!(split_markup("[PLAIN] x"), (Some(Markup::Plain), " x"));
    assert_eq!(split_markup("[other]x"), (None, "[other]x"));
    assert_eq!(split_markup("x[html]"), (None, "x[html]"));
}
