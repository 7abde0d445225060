//! Classes of characters that matter in names, from the Unicode Character Database, version 16.

use unicode_normalization::char::canonical_combining_class;

use crate::limits::NAME_MARKS_MAX;

/// Whether more than `NAME_MARKS_MAX` marks stand on one letter. Marks without a combining class have a place of their own, as
/// the vowels of Thai and the letters that Tibetan writes below others.
pub(super) fn has_tower(name: &str) -> bool {
    let mut marks = 0;
    name.chars().filter(|c| !is_ignorable(*c)).any(|c| {
        marks = if canonical_combining_class(c) == 0 {
            0
        } else {
            marks + 1
        };
        marks > NAME_MARKS_MAX
    })
}

/// Characters that do not belong in a line of text: C0 and C1 controls, line and paragraph separators, and the bidi
/// embeddings, overrides and isolates, which would reorder what stands beside the name on the board. Marks (U+200E,
/// U+200F) and joiners act inside the name only and stay: Persian, Hindi and emoji need them.
pub(super) fn is_refused(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The property `Default_Ignorable_Code_Point`: no glyph and no width of its own.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Tells, character after character, which ones of a name a reader sees. Tags are ignorable, except after a black flag, where
/// they alone tell England from Scotland.
pub(super) fn seen() -> impl FnMut(&char) -> bool {
    let mut in_flag = false;
    move |&c| {
        in_flag = c == '\u{1F3F4}' || (in_flag && matches!(c, '\u{E0020}'..='\u{E007F}'));
        in_flag || !is_ignorable(c)
    }
}

/// Characters a name cannot consist of: ignorable ones, white space, annotation controls, and the Braille pattern without
/// dots, which is no white space by property but blank to the eye.
pub(super) fn is_invisible(c: char) -> bool {
    is_ignorable(c) || c.is_whitespace() || matches!(c, '\u{2800}' | '\u{FFF9}'..='\u{FFFB}')
}
