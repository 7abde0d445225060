//! What the store of live games received, from the samples of a run: as lines for people, and against its bars.
//!
//! What the harness itself sent to ask for samples is taken off.

use serde::{Deserialize, Serialize};

use super::bars;
use super::figure::Figure;
use super::measured::Measured;
use super::resources::Resources;
use crate::plan::{Pace, Plan};
use crate::stack::REDIS;
use crate::sys::real;
use crate::sys::redis::{ASKED, ASKED_BYTES, COMMANDS, RECEIVED};

/// Whole seconds of a run in which the same happened, such as a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The first Unix second.
    pub from_s: u64,
    /// The last.
    pub upto_s: u64,
    /// Classes of the whole run that played.
    pub classes: u32,
}

/// What the store received in some seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreUse {
    /// From the first sample to the last.
    pub seconds: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Commands carried out.
    pub commands: u64,
}

impl Window {
    /// The whole seconds between two moments, in Unix milliseconds.
    #[must_use]
    pub const fn between(from_ms: u64, upto_ms: u64, classes: u32) -> Self {
        Self {
            from_s: from_ms.div_ceil(1_000),
            upto_s: upto_ms / 1_000,
            classes,
        }
    }

    /// The seconds that are in both.
    pub(super) fn meet(&mut self, other: Self) {
        self.from_s = self.from_s.max(other.from_s);
        self.upto_s = self.upto_s.min(other.upto_s);
        self.classes = self.classes.max(other.classes);
    }
}

impl StoreUse {
    /// In the seconds of `window`, or in all that were sampled; none without two samples.
    #[must_use]
    pub fn of(resources: &Resources, window: Option<Window>) -> Option<Self> {
        let (from_s, upto_s) = window.map_or((0, u64::MAX), |w| (w.from_s, w.upto_s));
        let grown = |counter| resources.grown(REDIS, counter, from_s, upto_s);
        let (bytes, seconds) = grown(RECEIVED)?;
        let less = |counter| grown(counter).map_or(0, |(n, _)| n);
        Some(Self {
            seconds,
            bytes: bytes.saturating_sub(less(ASKED_BYTES)),
            commands: less(COMMANDS).saturating_sub(less(ASKED)),
        })
    }

    /// Bytes a second.
    #[must_use]
    pub fn bytes_per_s(self) -> f64 {
        real(self.bytes) / real(self.seconds.max(1))
    }
}

/// Games that were played; none when the scenario does not say.
fn games(measured: &Measured) -> Option<u64> {
    measured.counts.get("games").copied().filter(|&games| games > 0)
}

/// Bytes for each game, opening and end included.
pub(super) fn bytes_per_game(measured: &Measured) -> Option<f64> {
    let used = StoreUse::of(&measured.resources, None)?;
    Some(real(used.bytes) / real(games(measured)?))
}

/// Judges a run of `plan` whose store was sampled by the bars for it, where there are some.
pub fn judge(measured: &mut Measured, plan: &Plan) {
    if plan.pace == Pace::LESSON {
        for (phase, window) in measured.windows.clone() {
            let share = f64::from(window.classes) / f64::from(bars::STORE_CLASSES);
            let figure = Figure::StoreRate { phase: phase.clone() };
            measured.bar(
                &format!("{phase}: bytes to the store a second"),
                figure,
                bars::STORE_BYTES_PER_S_MAX * share,
                "B/s",
            );
        }
    }
    let is_reference = plan.sizes.iter().all(|&size| size == bars::STORE_CLASS_SIZE);
    if is_reference && plan.questions == bars::STORE_QUESTIONS {
        let what = "bytes to the store, a class of 30 over 3 questions";
        measured.bar(what, Figure::StorePerGame, bars::STORE_BYTES_PER_CLASS_MAX, "B");
        measured.target(
            what,
            Figure::StorePerGame,
            bars::STORE_BYTES_PER_CLASS_TARGET,
            "B",
        );
    }
}

/// What the store received, in sentences; none when it was not sampled.
#[must_use]
pub fn lines(measured: &Measured) -> Vec<String> {
    let Some(all) = StoreUse::of(&measured.resources, None) else {
        return Vec::new();
    };
    let each = bytes_per_game(measured).map_or_else(String::new, |bytes| {
        format!(
            "; {:.1} KB for each of {} classes",
            bytes / 1e3,
            games(measured).unwrap_or(0)
        )
    });
    let mut lines = vec![format!("store: {}{each}", words(all))];
    for (phase, &window) in &measured.windows {
        let Some(used) = StoreUse::of(&measured.resources, Some(window)) else {
            continue;
        };
        let full = used.bytes_per_s() * f64::from(bars::STORE_CLASSES) / f64::from(window.classes.max(1));
        let more = if window.classes == bars::STORE_CLASSES {
            String::new()
        } else {
            format!(
                "; {} such classes would send {:.1} KB/s (reckoned, not measured)",
                bars::STORE_CLASSES,
                full / 1e3
            )
        };
        lines.push(format!("store, {phase}: {}{more}", words(used)));
    }
    lines
}

fn words(used: StoreUse) -> String {
    format!(
        "{:.1} KB received in {} s, {:.2} KB/s, {:.1} commands/s",
        real(used.bytes) / 1e3,
        used.seconds,
        used.bytes_per_s() / 1e3,
        real(used.commands) / real(used.seconds.max(1))
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::report::Sample;

    fn sample(received: u64, asked: u64) -> Sample {
        let more = [
            (RECEIVED, received),
            (ASKED_BYTES, asked),
            (COMMANDS, received / 100),
            (ASKED, 0),
        ];
        Sample {
            more: BTreeMap::from(more.map(|(name, value)| (name.to_owned(), value))),
            ..Sample::default()
        }
    }

    /// 1,000 bytes a second, of which the harness sends 20; the store is started anew after second 14.
    fn sampled() -> Measured {
        let mut measured = Measured::default();
        for (second, received) in [
            (10, 5_000),
            (11, 6_000),
            (12, 7_000),
            (14, 9_000),
            (15, 600),
            (16, 1_600),
        ] {
            measured
                .resources
                .enter(REDIS, second, sample(received, 20 * (second - 10)));
        }
        measured
    }

    #[test]
    fn asking_and_starting_anew_do_not_count() {
        let measured = sampled();
        let all = StoreUse::of(&measured.resources, None).expect("sampled");
        assert_eq!((all.seconds, all.bytes), (6, 4_000 + 600 + 1_000 - 120));
        let window = Window::between(10_400, 12_900, 3);
        let used = StoreUse::of(&measured.resources, Some(window)).expect("two samples");
        assert_eq!((used.seconds, used.bytes), (1, 980));
        assert_eq!(
            StoreUse::of(&measured.resources, Some(Window::between(20_000, 30_000, 1))),
            None
        );
        assert_eq!(StoreUse::of(&Resources::default(), None), None);
    }

    #[test]
    fn a_lesson_is_judged_by_its_share_of_the_bar() {
        let mut measured = sampled();
        measured
            .windows
            .insert("3 classes".to_owned(), Window::between(10_000, 12_000, 3));
        let mut plan = Plan::new(1, Pace::LESSON, 9, vec![30; 3]);
        judge(&mut measured, &plan);
        let check = &measured.checks()[0];
        assert_eq!((check.limit, check.measured), (937.5, Some(980.0)));
        assert!(check.fails());
        assert!(
            lines(&measured)[1].contains("960 such classes would send 313.6 KB/s"),
            "{:?}",
            lines(&measured)
        );

        let mut measured = sampled();
        measured.count("games", 2);
        plan.questions = 3;
        plan.pace = Pace::FAST;
        judge(&mut measured, &plan);
        let checks = measured.checks();
        assert_eq!((checks.len(), checks[0].measured), (2, Some(2_740.0)));
    }
}
