//! What the tests of all scenarios need.

use load::report::Outcome;

/// What fails, as words, but for what depends on the machine's speed: threads of the scripted server share it.
pub(crate) fn failing(outcome: &Outcome) -> Vec<String> {
    let checks = outcome.checks().into_iter().filter(|c| c.fails());
    checks
        .map(|c| format!("{} = {}", c.name, c.measured.unwrap_or(f64::NAN)))
        .collect()
}
