//! HTML reduced to plain text, with entities decoded once.
//!
//! Only well-formed tags of HTML's own elements are markup; everything else, such as `a < b` or `List<String>`,
//! stays as typed. The result is plain text: whoever shows it escapes it, so nothing here is a security boundary.
//! Subscripts and superscripts keep their meaning (`x<sup>2</sup>` is `x²`). Images and other media are dropped and
//! reported. Takes linear time: no scan for the end of a construct passes the beginning of the next one.

mod entity;
mod tag;
mod writer;

use tag::{Kind, Tag};
use writer::Writer;

/// What markup a text may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// HTML: every tag of a known element counts, white space is layout.
    Html,
    /// Typed text that may hold some HTML (Moodle's own default, and Markdown, whose marks stay as typed): a tag
    /// counts only when its element is void or closed again, white space is kept.
    Mixed,
    /// Nothing but text.
    Plain,
}

/// Text without its markup.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reduced {
    /// The plain text.
    pub(super) text: String,
    /// Whether an image, a sound, a film or embedded content was dropped.
    pub(super) media: bool,
}

/// Reduces `text`.
pub(super) fn reduce(text: &str, markup: Markup) -> Reduced {
    if markup == Markup::Plain || !text.contains(['<', '&']) && markup == Markup::Mixed {
        return Reduced {
            text: text.to_owned(),
            media: false,
        };
    }
    let mut tags = tag::tags(text);
    if markup == Markup::Mixed {
        keep_paired(&mut tags);
    }
    let mut writer = Writer::new(markup);
    let mut media = false;
    let mut at = 0;
    for tag in tags {
        write_text(&mut writer, &text[at..tag.start]);
        at = tag.end;
        match tag.kind {
            Kind::Media => media |= !tag.closing,
            Kind::Inline | Kind::Comment => {}
            Kind::Block => writer.line_break(),
            Kind::Cell => writer.space(),
            Kind::Preformatted => writer.preformatted(!tag.closing),
            Kind::Superscript | Kind::Subscript => writer.script(tag.kind, !tag.closing),
        }
    }
    write_text(&mut writer, &text[at..]);
    Reduced {
        text: writer.finish(),
        media,
    }
}

/// Leaves only the tags that are void or have their counterpart.
fn keep_paired(tags: &mut Vec<Tag<'_>>) {
    let mut open: std::collections::HashMap<String, Vec<usize>> = std::collections::HashMap::new();
    let mut paired = vec![false; tags.len()];
    for (index, tag) in tags.iter().enumerate() {
        if tag.void {
            paired[index] = true;
            continue;
        }
        let waiting = open.entry(tag.name.to_ascii_lowercase()).or_default();
        if !tag.closing {
            waiting.push(index);
        } else if let Some(opening) = waiting.pop() {
            paired[opening] = true;
            paired[index] = true;
        }
    }
    let mut paired = paired.into_iter();
    tags.retain(|_| paired.next().unwrap_or(false));
}

/// Writes text between tags, its entities decoded.
fn write_text(writer: &mut Writer, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        writer.text(&rest[..at]);
        rest = &rest[at..];
        if let Some((c, len)) = entity::decode(rest) {
            writer.literal(c);
            rest = &rest[len..];
        } else {
            writer.text("&");
            rest = &rest[1..];
        }
    }
    writer.text(rest);
}

#[cfg(test)]
mod tests;
