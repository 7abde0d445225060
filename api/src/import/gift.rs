//! Moodle's GIFT text.
//!
//! Owns the format: items, comments, categories, escapes, answer blocks. Single choice, multiple choice and
//! true/false become questions; the other types are left out by name. Question titles serve as names in the account;
//! feedback is not carried. A question takes the default time, since GIFT has none.
//!
//! Which markup a text has: its own `[html]`, `[markdown]`, `[plain]` or `[moodle]`; an answer without one has its
//! question's; a question without one has Moodle's default, typed text that may hold HTML (`Markup::Mixed`).

mod block;
mod item;
mod scan;
mod syntax;

use protocol::rest::ImportFormat;

use super::report::Report;
use super::{ImportError, OwnTitle, Parser, text};
use item::Features;
use scan::{Element, Scanner};

/// A GIFT file, decoded.
pub(super) struct Gift {
    text: String,
}

impl Gift {
    pub(super) fn new(text: String) -> Self {
        Self { text }
    }

    /// Whether anything of the format is there: a category, a titled item or an answer block.
    pub(super) fn is_plausible(&self) -> bool {
        let mut only_comments = true;
        for element in Scanner::new(&self.text) {
            match element {
                Element::Category { .. } => return true,
                Element::Item(item) if item.has_block || syntax::is_titled(&item.text) => return true,
                Element::Item(_) => only_comments = false,
            }
        }
        only_comments
    }
}

impl Parser for Gift {
    fn format(&self) -> ImportFormat {
        ImportFormat::Gift
    }

    fn parse(&self, report: &mut Report) -> Result<Option<OwnTitle>, ImportError> {
        let mut title: Option<String> = None;
        let mut features = Features::default();
        for element in Scanner::new(&self.text) {
            match element {
                Element::Category { line, path } => {
                    let name = category_name(&path);
                    match &title {
                        None => title = Some(name),
                        Some(first) if name != *first => {
                            let reason =
                                "Its questions are in the same quiz as those of the other categories.";
                            report.note(&name, format_args!("line {line}"), reason);
                        }
                        Some(_) => {}
                    }
                }
                Element::Item(raw) => item::import(&raw, report, &mut features),
            }
        }
        features.note(report);
        Ok(title.map(|text| OwnTitle {
            text,
            outranks_filename: true,
        }))
    }
}

/// The last part of a category's path, in which `//` is a slash of the name; Moodle's own roots are no names.
fn category_name(path: &str) -> String {
    const SLASH: char = '\u{E000}';
    let path = path.replace("//", "\u{E000}");
    let mut parts = path.split('/').map(str::trim);
    let is_root =
        |part: &str| part.is_empty() || part == "top" || (part.starts_with('$') && part.ends_with('$'));
    let last = parts.rfind(|part| !is_root(part)).unwrap_or_default();
    text::one_line(&syntax::unescape(&last.replace(SLASH, "/"), syntax::Layout::Keep))
}

#[cfg(test)]
mod tests;
