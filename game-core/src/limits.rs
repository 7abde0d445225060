//! Bounds of a game, each with its reason.

/// Players of one game whatever the plan says: the largest room measured, a lecture hall.
pub const PLAYERS_MAX: u32 = 500;
/// Players ever admitted to one game, those who left or were removed included: a lobby in which joining and leaving is
/// scripted cannot grow the state without end.
pub const JOINS_MAX: u32 = 4 * PLAYERS_MAX;
/// Graphemes of a name: what fits a roster line, as a reader counts characters.
pub const NAME_GRAPHEMES_MAX: usize = 20;
/// Bytes of a name: twenty joined emoji of seven code points take 500; a grapheme alone has no bound.
pub const NAME_BYTES_MAX: usize = 512;
/// Accents on one letter, one above the other. Vietnamese and Hebrew have up to three; a tower of them covers the board.
pub const NAME_MARKS_MAX: usize = 4;
/// Bytes of a name as typed, white space around and inside included, as the journal keeps it: twice the name leaves room for
/// what is trimmed.
pub const NAME_TYPED_BYTES_MAX: usize = 2 * NAME_BYTES_MAX;
/// Questions of a quiz. As in the quiz document of the wire protocol.
pub const QUESTIONS_MAX: usize = 200;
/// Choices of a question; a `ChoiceSet` has 16 bits.
pub const CHOICES_MAX: usize = 10;
/// Fewest choices that make a choice.
pub const CHOICES_MIN: usize = 2;
/// Shortest time to answer, in milliseconds.
pub const TIME_MS_MIN: u32 = 5_000;
/// Longest time to answer, in milliseconds.
pub const TIME_MS_MAX: u32 = 600_000;
/// Characters of a question's text.
pub const TEXT_CHARS_MAX: usize = 1_000;
/// Characters of a choice.
pub const CHOICE_CHARS_MAX: usize = 250;
