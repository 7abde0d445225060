//! Writing plain text with HTML's white space rules.

use super::Markup;
use super::tag::Kind;

/// White space waiting to be written, should something follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

/// Builds the text.
pub(super) struct Writer {
    out: String,
    gap: Gap,
    /// White space is layout, outside of `<pre>`.
    collapse: bool,
    preformatted: usize,
    /// Where the open sub- or superscript begins. One inside of another is written as if it were not there, which
    /// keeps the time linear.
    script: Option<(Kind, usize)>,
    nested_scripts: usize,
}

impl Writer {
    pub(super) fn new(markup: Markup) -> Self {
        Self {
            out: String::new(),
            gap: Gap::None,
            collapse: markup == Markup::Html,
            preformatted: 0,
            script: None,
            nested_scripts: 0,
        }
    }

    /// Text with its white space.
    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            if self.collapse && self.preformatted == 0 {
                if c.is_ascii_whitespace() {
                    self.gap = self.gap.max(Gap::Space);
                } else {
                    self.literal(c);
                }
            } else if c == '\n' && self.gap == Gap::Line {
                // The line end after a block's tag is the one the tag asks for.
                self.gap = Gap::None;
                self.out.push('\n');
            } else {
                self.literal(c);
            }
        }
    }

    /// A character that stands for itself.
    pub(super) fn literal(&mut self, c: char) {
        if !self.out.is_empty() {
            match self.gap {
                Gap::None => {}
                Gap::Space if self.out.ends_with('\n') => {}
                Gap::Space => self.out.push(' '),
                Gap::Line if self.out.ends_with('\n') => {}
                Gap::Line => self.out.push('\n'),
            }
        }
        self.gap = Gap::None;
        self.out.push(c);
    }

    /// What follows begins a line.
    pub(super) fn line_break(&mut self) {
        self.gap = Gap::Line;
    }

    /// What follows is apart.
    pub(super) fn space(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// Enters or leaves `<pre>`.
    pub(super) fn preformatted(&mut self, enter: bool) {
        self.line_break();
        self.preformatted = if enter {
            self.preformatted + 1
        } else {
            self.preformatted.saturating_sub(1)
        };
    }

    /// Enters or leaves `<sub>` or `<sup>`.
    pub(super) fn script(&mut self, kind: Kind, enter: bool) {
        if enter && self.script.is_some() {
            self.nested_scripts += 1;
        } else if enter {
            self.script = Some((kind, self.out.len()));
        } else if self.nested_scripts > 0 {
            self.nested_scripts -= 1;
        } else if let Some((opened, start)) = self.script.take() {
            let content = self.out.split_off(start);
            self.out.push_str(&scripted(opened, &content));
        }
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// Endings that are raised by custom only: 4th, 1er, nº.
const ORDINALS: [&str; 14] = [
    "st", "nd", "rd", "th", "e", "er", "re", "ème", "eme", "o", "a", "os", "as", "TM",
];

/// Raised or lowered text in characters of its own where they exist, else with a mark: `x²`, `x^(a+b)`, `H₂O`, `v_0`.
fn scripted(kind: Kind, content: &str) -> String {
    let raised = kind == Kind::Superscript;
    let plain = content.trim();
    let lead = &content[..content.len() - content.trim_start().len()];
    if plain.is_empty() || raised && ORDINALS.contains(&plain) {
        return content.to_owned();
    }
    let mapped: Option<String> = plain
        .chars()
        .map(|c| if raised { superscript(c) } else { subscript(c) })
        .collect();
    let mark = if raised { '^' } else { '_' };
    match mapped {
        Some(mapped) => format!("{lead}{mapped}"),
        None if plain.chars().nth(1).is_none() => format!("{lead}{mark}{plain}"),
        None => format!("{lead}{mark}({plain})"),
    }
}

fn superscript(c: char) -> Option<char> {
    Some(match c {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        '+' => '⁺',
        '-' | '−' | '–' => '⁻',
        'n' => 'ⁿ',
        'i' => 'ⁱ',
        '(' => '⁽',
        ')' => '⁾',
        _ => return None,
    })
}

fn subscript(c: char) -> Option<char> {
    Some(match c {
        '0'..='9' => char::from_u32(u32::from('₀') + c.to_digit(10)?)?,
        '+' => '₊',
        '-' | '−' | '–' => '₋',
        '(' => '₍',
        ')' => '₎',
        _ => return None,
    })
}
