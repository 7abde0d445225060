//! Cutting a GIFT text into items and categories, one line at a time.
//!
//! An item ends at a blank line outside of its answer block. Files are not always that clean, so an item also begins
//! where one plainly must: at a titled line after a finished block or inside of one, at a second block on a later
//! line than the first one's end, and at a paragraph that opens a block while the one before never closed its own.

use std::mem;

use super::syntax;

/// What a file consists of, comments left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// `$CATEGORY: path`.
    Category {
        /// Its line, from 1.
        line: usize,
        /// The path as written.
        path: String,
    },
    /// A question, or what stands where one would.
    Item(RawItem),
}

/// An item as written, without its comments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RawItem {
    /// Its first line that is no comment, from 1.
    pub(super) line: usize,
    /// Its lines.
    pub(super) text: String,
    /// Whether an answer block begins in it.
    pub(super) has_block: bool,
}

/// Where in an item the scanner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Before,
    Inside,
    After,
}

/// An item being read.
#[derive(Debug, Default)]
struct Draft {
    item: RawItem,
    state: State,
    /// A blank line came just before, inside of the block.
    after_blank: bool,
    /// Where the item would end if another block came: the byte after the line on which the block closed with nothing
    /// behind it, and that byte's line.
    end: Option<(usize, usize)>,
}

/// Iterates over a text's elements.
pub(super) struct Scanner<'t> {
    rest: &'t str,
    line: usize,
    draft: Option<Draft>,
    /// Finished, not yet handed out: at most an item and a category.
    ready: std::collections::VecDeque<Element>,
}

impl<'t> Scanner<'t> {
    /// `text` has `\n` line ends only.
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            rest: text,
            line: 0,
            draft: None,
            ready: std::collections::VecDeque::new(),
        }
    }

    fn next_line(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        Some(line)
    }

    fn finish(&mut self) {
        self.ready
            .extend(self.draft.take().map(|draft| Element::Item(draft.item)));
    }

    fn take(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.starts_with("//") {
            return;
        }
        let in_block = self
            .draft
            .as_ref()
            .is_some_and(|draft| draft.state == State::Inside);
        if trimmed.is_empty() {
            match &mut self.draft {
                Some(draft) if in_block => draft.after_blank = true,
                _ => self.finish(),
            }
            return;
        }
        let after_blank = self.draft.as_ref().is_some_and(|draft| draft.after_blank);
        if let Some(path) = trimmed
            .strip_prefix("$CATEGORY:")
            .filter(|_| !in_block || after_blank)
        {
            self.finish();
            self.ready.push_back(Element::Category {
                line: self.line,
                path: path.trim().to_owned(),
            });
            return;
        }
        let begins = match self.draft.as_ref().map(|draft| draft.state) {
            None | Some(State::Before) => false,
            Some(State::After) => syntax::is_titled(trimmed),
            Some(State::Inside) => syntax::is_titled(trimmed) || (after_blank && self.paragraph_opens(line)),
        };
        if begins {
            self.finish();
        }
        self.push(line);
    }

    /// Whether the paragraph that begins with `line` opens a block before it closes one.
    fn paragraph_opens(&self, line: &str) -> bool {
        std::iter::once(line)
            .chain(self.rest.split('\n').take_while(|line| !line.trim().is_empty()))
            .filter(|line| !line.trim_start().starts_with("//"))
            .find_map(|line| syntax::find(line, b"{}").map(|at| line.as_bytes()[at] == b'{'))
            .unwrap_or(false)
    }

    /// Adds a line to the item, or begins one with it.
    fn push(&mut self, line: &str) {
        let number = self.line;
        let draft = self.draft.get_or_insert_with(Draft::default);
        if draft.item.line == 0 {
            draft.item.line = number;
        } else {
            draft.item.text.push('\n');
        }
        draft.after_blank = false;
        // The byte after the closing line is known from then on, its line only now.
        if let Some(end) = draft.end.as_mut().filter(|end| end.1 == 0) {
            end.1 = number;
        }
        draft.item.text.push_str(line);
        let mut closed_at = None;
        let mut at = 0;
        while let Some(offset) = syntax::find(&line[at..], b"{}") {
            at += offset;
            if line.as_bytes()[at] == b'{' {
                self.open();
            } else if let Some(draft) = self.draft.as_mut().filter(|draft| draft.state == State::Inside) {
                draft.state = State::After;
                closed_at = Some(at + 1);
            }
            at += 1;
        }
        if let (Some(at), Some(draft)) = (closed_at, self.draft.as_mut()) {
            let bare = draft.state == State::After && line[at..].trim().is_empty();
            draft.end = bare.then_some((draft.item.text.len() + 1, 0));
        }
    }

    /// An opening brace: the item's block, or a later item's.
    fn open(&mut self) {
        let Some(draft) = self.draft.as_mut() else { return };
        match (draft.state, draft.end) {
            (State::Before, _) => {
                draft.state = State::Inside;
                draft.item.has_block = true;
            }
            (State::After, Some((offset, line))) => {
                let text = draft.item.text.split_off(offset);
                // The line end between the two.
                draft.item.text.pop();
                let item = RawItem {
                    line,
                    text,
                    has_block: true,
                };
                let next = Draft {
                    item,
                    state: State::Inside,
                    ..Draft::default()
                };
                let finished = mem::replace(draft, next);
                self.ready.push_back(Element::Item(finished.item));
            }
            // Nested, or a second block in one item: the item's parser says so.
            (State::Inside, _) | (State::After, None) => {}
        }
    }
}

impl Iterator for Scanner<'_> {
    type Item = Element;

    fn next(&mut self) -> Option<Element> {
        while self.ready.is_empty() {
            match self.next_line() {
                Some(line) => self.take(line),
                None if self.draft.is_some() => self.finish(),
                None => return None,
            }
        }
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests;
