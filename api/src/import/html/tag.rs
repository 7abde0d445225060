//! Finding the tags of HTML's elements in a text.

/// What a tag means for plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing: emphasis, links, spans.
    Inline,
    /// Begins a line.
    Block,
    /// Separates table cells.
    Cell,
    /// Keeps white space.
    Preformatted,
    /// Raised.
    Superscript,
    /// Lowered.
    Subscript,
    /// Content that is no text.
    Media,
    /// A comment, or a script or style with its content: dropped whole.
    Comment,
}

/// A tag and its place in the text.
#[derive(Debug)]
pub(super) struct Tag<'t> {
    /// Element name as written.
    pub(super) name: &'t str,
    /// What it means.
    pub(super) kind: Kind,
    /// `</…>`.
    pub(super) closing: bool,
    /// The element has no content, so no closing tag.
    pub(super) void: bool,
    /// Byte of `<`.
    pub(super) start: usize,
    /// Byte after `>`.
    pub(super) end: usize,
}

// Names in alphabetical order, since they are looked up by halving.
const BLOCKS: [&str; 43] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "tr",
    "ul",
];
const INLINES: [&str; 59] = [
    "a", "abbr", "acronym", "b", "basefont", "bdi", "bdo", "big", "body", "button", "cite", "code", "col",
    "colgroup", "data", "datalist", "del", "dfn", "em", "font", "head", "html", "i", "input", "ins", "kbd",
    "label", "link", "map", "mark", "meta", "meter", "noscript", "output", "param", "picture", "progress",
    "q", "rp", "rt", "ruby", "s", "samp", "script", "select", "small", "source", "span", "strike", "strong",
    "style", "textarea", "time", "title", "track", "tt", "u", "var", "wbr",
];
const MEDIA: [&str; 10] = [
    "applet", "area", "audio", "canvas", "embed", "iframe", "img", "object", "svg", "video",
];
const VOIDS: [&str; 15] = [
    "area", "base", "basefont", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
    "source", "track", "wbr",
];
/// Elements whose content is no text; dropped up to their end.
const DROPPED: [&str; 2] = ["script", "style"];
/// Attributes that stand without a value. Any other bare word makes `<` a less-than sign, as in `a <b and c> d`.
const BARE_ATTRIBUTES: [&str; 23] = [
    "allowfullscreen",
    "async",
    "autoplay",
    "checked",
    "controls",
    "default",
    "defer",
    "disabled",
    "hidden",
    "ismap",
    "loop",
    "multiple",
    "muted",
    "nohref",
    "noshade",
    "novalidate",
    "nowrap",
    "open",
    "playsinline",
    "readonly",
    "required",
    "reversed",
    "selected",
];
/// Bytes of the longest of all these names; what is longer is none of them.
const NAME_BYTES_MAX: usize = 15;

/// The name in lower case, if it can be one of the known ones.
fn lower(name: &str) -> Option<String> {
    (1..=NAME_BYTES_MAX)
        .contains(&name.len())
        .then(|| name.to_ascii_lowercase())
}

fn is_one_of(name: &str, sorted: &[&str]) -> bool {
    sorted.binary_search(&name).is_ok()
}

fn kind(lower: &str) -> Option<Kind> {
    match lower {
        "td" | "th" => Some(Kind::Cell),
        "pre" => Some(Kind::Preformatted),
        "sup" => Some(Kind::Superscript),
        "sub" => Some(Kind::Subscript),
        _ if is_one_of(lower, &BLOCKS) => Some(Kind::Block),
        _ if is_one_of(lower, &INLINES) => Some(Kind::Inline),
        _ => is_one_of(lower, &MEDIA).then_some(Kind::Media),
    }
}

/// All tags and comments of the text, in order; scripts and styles count as comments, with what is inside.
pub(super) fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    // Past this place no comment ends, so none is looked for: otherwise the search would be quadratic.
    let last_comment_end = text.rfind("-->").unwrap_or(0);
    while let Some(offset) = text[at..].find('<') {
        let start = at + offset;
        let tag = if text[start..].starts_with("<!--") && last_comment_end >= start + 4 {
            let end = text[start + 4..]
                .find("-->")
                .map_or(text.len(), |len| start + 4 + len + 3);
            Some(Tag {
                name: "",
                kind: Kind::Comment,
                closing: false,
                void: true,
                start,
                end,
            })
        } else {
            tag_at(text, start)
        };
        at = tag.as_ref().map_or(start + 1, |tag| tag.end);
        found.extend(tag);
    }
    drop_scripts(&mut found);
    found
}

/// Makes a comment of each script and style up to its closing tag; without one they are no tags but text.
fn drop_scripts(tags: &mut Vec<Tag<'_>>) {
    let mut ends = [None; DROPPED.len()];
    for tag in tags.iter_mut().rev() {
        let Some(which) = dropped(tag.name) else { continue };
        if tag.closing {
            ends[which] = Some(tag.end);
        } else if let Some(end) = ends[which] {
            (tag.kind, tag.void, tag.end) = (Kind::Comment, true, end);
        }
    }
    let mut at = 0;
    tags.retain(|tag| {
        let keep = tag.start >= at && (dropped(tag.name).is_none() || tag.kind == Kind::Comment);
        if keep {
            at = tag.end;
        }
        keep
    });
}

fn dropped(name: &str) -> Option<usize> {
    DROPPED.iter().position(|known| known.eq_ignore_ascii_case(name))
}

/// The tag that begins at byte `start`, if there is one.
fn tag_at(text: &str, start: usize) -> Option<Tag<'_>> {
    let rest = &text[start + 1..];
    let closing = rest.starts_with('/');
    let name_start = start + 1 + usize::from(closing);
    let rest = &text[name_start..];
    let len = rest
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    let name = &rest[..len];
    let lower = lower(name)?;
    let kind = kind(&lower)?;
    let end = name_start + len + attributes(&rest[len..])?;
    Some(Tag {
        name,
        kind,
        closing,
        void: is_one_of(&lower, &VOIDS),
        start,
        end,
    })
}

/// Length of the attributes up to and including `>`; none when they are malformed. Never looks past the next `<`.
fn attributes(text: &str) -> Option<usize> {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        let spaced = trimmed.len() < rest.len();
        rest = trimmed.strip_prefix('/').unwrap_or(trimmed);
        if let Some(after) = rest.strip_prefix('>') {
            return Some(text.len() - after.len());
        }
        // `/` stands only before `>`, and attributes only after white space.
        if !spaced || rest.len() < trimmed.len() {
            return None;
        }
        rest = attribute(rest)?;
    }
}

/// What follows one attribute.
fn attribute(text: &str) -> Option<&str> {
    let len = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.@".contains(c)))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(len);
    if name.is_empty() {
        return None;
    }
    let Some(value) = rest.trim_start().strip_prefix('=') else {
        let known = lower(name).is_some_and(|name| is_one_of(&name, &BARE_ATTRIBUTES));
        return known.then_some(rest);
    };
    let value = value.trim_start();
    if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let value = &value[1..];
        let end = value.find([quote, '<'])?;
        return value[end..].strip_prefix(quote);
    }
    let len = value
        .find(|c: char| c.is_whitespace() || "<>\"'".contains(c))
        .unwrap_or(value.len());
    (len > 0).then(|| &value[len..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_looked_up() {
        for list in [&BLOCKS[..], &INLINES, &MEDIA, &VOIDS, &BARE_ATTRIBUTES] {
            assert!(list.is_sorted());
            assert!(list.iter().all(|name| lower(name).as_deref() == Some(*name)));
        }
        assert!(DROPPED.iter().all(|name| kind(name).is_some()));
    }
}
