//! The reference quiz that bytes are measured with: stems of 120 bytes, four choices of 25 bytes, one of them correct.
//! Byte budgets compare between servers and between years only if the text stays as it is.

/// Questions of the reference quiz.
pub const QUESTIONS: u16 = 20;
/// Choices of each question.
pub const CHOICES: u8 = 4;
/// Bytes of a stem.
pub const STEM_BYTES: usize = 120;
/// Bytes of a choice.
pub const CHOICE_BYTES: usize = 25;
/// Time to answer, in milliseconds: the default of the product, and longer than the slowest planned answer.
pub const TIME_MS: u32 = 20_000;

const STEM_FILLER: &str = " Read all four choices before you tap, only one of them is right, and the sooner you answer the more it counts.";
const CHOICE_FILLER: &str = " of the four, read it well";

/// Stem of question `q` (from 1), exactly [`STEM_BYTES`] bytes of ASCII.
#[must_use]
pub fn reference_stem(q: u16) -> String {
    let mut stem = format!("Reference question {q:02}:{STEM_FILLER}");
    stem.truncate(STEM_BYTES - 1);
    stem.push('?');
    stem
}

/// Text of choice `choice` (from 0) of question `q` (from 1), exactly [`CHOICE_BYTES`] bytes of ASCII.
#[must_use]
pub fn reference_choice(q: u16, choice: u8) -> String {
    let letter = char::from(b'A' + choice % 26);
    let mut text = format!("{q:02}{letter}{CHOICE_FILLER}");
    text.truncate(CHOICE_BYTES);
    text
}

/// The correct choice of question `q` (from 1); all four positions occur equally often in the quiz.
#[must_use]
pub fn reference_correct(q: u16) -> u8 {
    let turn = (q * 3 + q.saturating_sub(1) / 4) % u16::from(CHOICES);
    u8::try_from(turn).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quiz_has_the_sizes_that_the_bars_name() {
        for q in 1..=QUESTIONS {
            assert_eq!(reference_stem(q).len(), STEM_BYTES);
            for choice in 0..CHOICES {
                assert_eq!(reference_choice(q, choice).len(), CHOICE_BYTES);
            }
        }
        assert_eq!(
            reference_stem(7),
            "Reference question 07: Read all four choices before you tap, only one of them is right, and the sooner you answer the m?"
        );
        assert_eq!(reference_choice(7, 2), "07C of the four, read it ");
    }

    #[test]
    fn the_correct_choice_takes_every_position_as_often() {
        let mut positions = [0; 4];
        for q in 1..=QUESTIONS {
            positions[usize::from(reference_correct(q))] += 1;
        }
        assert_eq!(positions, [5; 4]);
    }
}
