//! A parsed Rust file that knows which of its lines are tests.

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta};

use super::finding::Finding;
use super::tree::File;

/// The syntax tree beside its file.
pub(crate) struct RustSource<'a> {
    file: &'a File,
    syntax: syn::File,
    test_lines: Vec<(usize, usize)>,
}

impl<'a> RustSource<'a> {
    /// # Errors
    /// A finding when the file does not parse; rules cannot look into it then.
    pub(crate) fn parse(file: &'a File) -> Result<Self, Finding> {
        let syntax = syn::parse_file(file.text()).map_err(|error| {
            Finding::new(
                file.path(),
                error.span().start().line,
                format!("does not parse: {error}; fix the syntax"),
            )
        })?;
        let mut tests = TestLines(Vec::new());
        tests.visit_file(&syntax);
        Ok(Self {
            file,
            syntax,
            test_lines: tests.0,
        })
    }

    pub(crate) fn file(&self) -> &File {
        self.file
    }

    pub(crate) fn syntax(&self) -> &syn::File {
        &self.syntax
    }

    /// Whether a line lies in an item under `#[cfg(test)]` or `#[test]`, or in a file of tests.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.file.is_test()
            || self
                .test_lines
                .iter()
                .any(|&(first, last)| (first..=last).contains(&line))
    }

    /// Lines of the file that are not in an item of tests.
    pub(crate) fn lines_without_tests(&self) -> usize {
        let tests: usize = self.test_lines.iter().map(|(first, last)| last - first + 1).sum();
        self.file.line_count().saturating_sub(tests)
    }
}

/// First and last line of a span.
pub(crate) fn line_range(span: Span) -> (usize, usize) {
    (span.start().line, span.end().line)
}

/// Collects the outermost test items; what they contain is not visited again, so ranges do not overlap.
struct TestLines(Vec<(usize, usize)>);

impl Visit<'_> for TestLines {
    fn visit_item(&mut self, item: &Item) {
        if attributes(item).iter().any(marks_test) {
            self.0.push(line_range(item.span()));
        } else {
            visit::visit_item(self, item);
        }
    }
}

/// Attributes of the kinds of items that can be tests or hold them.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "syn's enum is open, and other items cannot hold tests"
)]
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        _ => &[],
    }
}

/// `#[test]`, `#[tokio::test]` and `#[cfg(test)]`, also within `all(...)`.
fn marks_test(attribute: &Attribute) -> bool {
    let path = attribute.path();
    if path
        .segments
        .last()
        .is_some_and(|segment| segment.ident == "test")
    {
        return true;
    }
    if !path.is_ident("cfg") {
        return false;
    }
    let Meta::List(list) = &attribute.meta else {
        return false;
    };
    let condition = list.tokens.to_string();
    condition == "test"
        || (condition.starts_with("all") && condition.contains("test") && !condition.contains("not"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_do_not_count() {
        let text = "//! Doc.\n\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() {}\n}\n";
        let file = File::sample("a/src/b.rs", text);
        let source = RustSource::parse(&file).unwrap();
        assert_eq!(source.lines_without_tests(), 4);
        assert!(!source.is_test_line(3));
        assert!(source.is_test_line(8));
    }

    #[test]
    fn code_for_everything_but_tests_counts() {
        let file = File::sample("a/src/b.rs", "//! Doc.\n#[cfg(not(test))]\nfn a() {}\n");
        assert_eq!(RustSource::parse(&file).unwrap().lines_without_tests(), 3);
    }

    #[test]
    fn broken_syntax_is_a_finding_with_its_line() {
        let file = File::sample("a/src/b.rs", "//! Doc.\nfn a( {}\n");
        let finding = RustSource::parse(&file).err().unwrap();
        assert_eq!((finding.path.as_str(), finding.line), ("a/src/b.rs", 2));
    }
}
