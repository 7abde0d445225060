//! What every player and host will do, decided before the run from one seed.
//!
//! Nothing here is stored per player: each decision is drawn on demand from a portable generator keyed by seed, class,
//! student and question, so the plan depends neither on the number of processes nor on the order of asking. Carrying
//! it out is left to [`crate::client`].

mod behaviour;
mod draw;
mod habits;
mod names;
mod placement;
mod quiz;
mod segment;

pub use behaviour::{AnswerPlan, Pace, Plan};
pub use draw::{Draw, Subject, digest};
pub use habits::{Habits, Mishap};
pub use names::student_name;
pub use placement::place;
pub use quiz::{
    CHOICE_BYTES, CHOICES, QUESTIONS, STEM_BYTES, TIME_MS, reference_choice, reference_correct,
    reference_stem,
};
pub use segment::{SEGMENTS_MAX, Segment, SegmentError};
