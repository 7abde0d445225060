//! Plans and their limits. One so far, a constant; teachers with different ones come with billing.

use protocol::rest::Plan;

/// Stable name of the only plan.
const FREE_ID: &str = "free";
/// Players per game: the largest hall that the game server is measured with.
const FREE_PLAYERS_MAX: u32 = 500;
/// Stored quizzes: a teacher's whole career at one a week, and a bound on what one account stores.
const FREE_QUIZZES_MAX: u32 = 500;

/// The plan that every account has.
#[must_use]
pub fn free() -> Plan {
    Plan {
        id: FREE_ID.to_owned(),
        name: "Free".to_owned(),
        players_max: FREE_PLAYERS_MAX,
        quizzes_max: FREE_QUIZZES_MAX,
    }
}
