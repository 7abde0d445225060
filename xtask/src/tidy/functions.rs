//! Length of functions, from the signature to the closing brace.

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{ImplItemFn, ItemFn, Signature, TraitItemFn};

use super::finding::Finding;
use super::source::RustSource;

/// Longest function, in lines (style: "70 at most"; it fits a screen). Documentation and attributes are free.
const FUNCTION_LINES_MAX: usize = 70;

/// Reports functions outside tests that are too long.
pub(crate) fn check(source: &RustSource<'_>, findings: &mut Vec<Finding>) {
    let mut functions = Functions(Vec::new());
    functions.visit_file(source.syntax());
    for (name, first, last) in functions.0 {
        let lines = last - first + 1;
        if lines > FUNCTION_LINES_MAX && !source.is_test_line(first) {
            let message = format!(
                "fn {name} has {lines} lines, {FUNCTION_LINES_MAX} at most; give its steps names of their own"
            );
            findings.push(Finding::new(source.file().path(), first, message));
        }
    }
}

/// Every function with a body: its name, first and last line.
struct Functions(Vec<(String, usize, usize)>);

impl Functions {
    fn push(&mut self, signature: &Signature, end: Span) {
        let first = signature.fn_token.span.start().line;
        self.0.push((signature.ident.to_string(), first, end.end().line));
    }
}

impl Visit<'_> for Functions {
    fn visit_item_fn(&mut self, item: &ItemFn) {
        self.push(&item.sig, item.block.brace_token.span.close());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        self.push(&item.sig, item.block.brace_token.span.close());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &TraitItemFn) {
        if let Some(block) = &item.default {
            self.push(&item.sig, block.brace_token.span.close());
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::File;
    use super::*;

    fn findings(text: &str) -> Vec<Finding> {
        let file = File::sample("a/src/b.rs", text);
        let mut findings = Vec::new();
        check(&RustSource::parse(&file).unwrap(), &mut findings);
        findings
    }

    fn function(body_lines: usize) -> String {
        format!(
            "/// Doc.\nfn long() {{\n{}}}\n",
            "    step();\n".repeat(body_lines)
        )
    }

    #[test]
    fn seventy_lines_are_enough() {
        assert_eq!(findings(&function(68)), []);
        let found = findings(&function(69));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
        assert!(found[0].message.starts_with("fn long has 71 lines"));
    }

    #[test]
    fn methods_and_defaults_of_traits_count() {
        assert_eq!(
            findings(&format!(
                "impl A {{\n{}}}\ntrait B {{\n{}}}\n",
                function(70),
                function(70)
            ))
            .len(),
            2
        );
    }

    #[test]
    fn tests_may_be_long() {
        assert_eq!(
            findings(&format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(100))),
            []
        );
    }
}
