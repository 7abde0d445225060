//! `protocol` and `game-core` do not know each other, so their bounds stand twice. Here they are compared: a quiz that the
//! editor takes must be a quiz that can be played.

use game_core::limits;
use protocol::quiz;

#[test]
fn a_quiz_has_the_same_bounds_on_the_wire_and_in_the_rules() {
    assert_eq!(quiz::QUESTIONS_MAX, limits::QUESTIONS_MAX);
    assert_eq!(quiz::TEXT_CHARS_MAX, limits::TEXT_CHARS_MAX);
    assert_eq!(quiz::CHOICE_CHARS_MAX, limits::CHOICE_CHARS_MAX);
    assert_eq!(quiz::CHOICES_MIN, limits::CHOICES_MIN);
    assert_eq!(quiz::CHOICES_MAX, limits::CHOICES_MAX);
    assert_eq!(quiz::TIME_MS_MIN, limits::TIME_MS_MIN);
    assert_eq!(quiz::TIME_MS_MAX, limits::TIME_MS_MAX);
}
