//! `cargo xtask tidy`: the shape of the tree that no compiler checks.
//!
//! Each submodule owns one kind of rule and reports findings; this module collects and prints them. What rustfmt,
//! clippy and cargo-deny check is left to them, and whether generated files are up to date to the tests of `protocol`.

mod finding;
mod functions;
mod graph;
mod layout;
mod links;
mod locks;
mod prints;
mod sizes;
mod source;
mod tree;
mod words;

use std::process::ExitCode;

use anyhow::Result;

use finding::Finding;
use source::RustSource;
use tree::{Kind, Tree};

/// Runs every rule over the tree and prints one line per finding.
///
/// # Errors
/// When the tree cannot be read: no git, no cargo, or a file that is not UTF-8.
#[expect(clippy::print_stdout, reason = "findings are this tool's output")]
pub(crate) fn run() -> Result<ExitCode> {
    let tree = Tree::open()?;
    let findings = check(&tree)?;
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} files, {} findings", tree.files().len(), findings.len());
    Ok(if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let mut findings = graph::check(&graph::Package::read_all(tree.root())?);
    let mut sizes = sizes::Sizes::default();
    for file in tree.files() {
        words::check(file, &mut findings);
        links::check(tree.root(), file, &mut findings);
        match file.kind() {
            Kind::Rust => match RustSource::parse(file) {
                Ok(source) => {
                    layout::check(file, &mut findings);
                    functions::check(&source, &mut findings);
                    prints::check(&source, &mut findings);
                    sizes.add(file, source.lines_without_tests());
                }
                Err(finding) => findings.push(finding),
            },
            Kind::TypeScript => sizes.add(file, file.line_count()),
            Kind::Lock => locks::check(file, &mut findings),
            Kind::Other => {}
        }
    }
    sizes.check(&mut findings);
    findings.sort();
    Ok(findings)
}
