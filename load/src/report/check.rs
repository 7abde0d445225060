//! One figure against its limit.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::measured::Threshold;

/// What missing a limit means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// Something must not happen at all; it fails the run.
    Correctness,
    /// A number to reach; missing it fails the run.
    Bar,
    /// Where we are going; missing it is reported.
    Target,
}

/// One figure against its limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What is judged.
    pub name: String,
    /// What missing it means.
    pub kind: CheckKind,
    /// The figure; none when it was not measured, which keeps no limit.
    pub measured: Option<f64>,
    /// The most it may be.
    pub limit: f64,
    /// Unit of both.
    pub unit: String,
    /// Whether the figure keeps the limit.
    pub met: bool,
}

impl Check {
    /// A figure against its threshold.
    #[must_use]
    pub fn of(name: &str, threshold: &Threshold, measured: Option<f64>) -> Self {
        let measured = measured.filter(|figure| figure.is_finite());
        Self {
            name: name.to_owned(),
            kind: threshold.kind,
            measured,
            limit: threshold.limit,
            unit: threshold.unit.clone(),
            met: measured.is_some_and(|figure| figure <= threshold.limit),
        }
    }

    /// What came of it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match (self.kind, self.met) {
            (CheckKind::Target, true) => "target met",
            (CheckKind::Target, false) => "target missed",
            (CheckKind::Correctness | CheckKind::Bar, true) => "ok",
            (CheckKind::Correctness | CheckKind::Bar, false) => "FAILED",
        }
    }

    /// Whether this fails the run.
    #[must_use]
    pub fn fails(&self) -> bool {
        !self.met && self.kind != CheckKind::Target
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            measured,
            limit,
            unit,
            ..
        } = self;
        let verdict = self.word();
        let Some(measured) = measured else {
            return write!(f, "{verdict}: {name}: not measured");
        };
        if self.kind == CheckKind::Correctness {
            return write!(f, "{verdict}: {name}: {measured}, must be 0");
        }
        let unit = if unit.is_empty() {
            String::new()
        } else {
            format!(" {unit}")
        };
        write!(f, "{verdict}: {name}: {measured:.3}{unit}, at most {limit}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Figure;

    fn check(kind: CheckKind, name: &str, measured: Option<f64>, limit: f64, unit: &str) -> Check {
        let figure = Figure::Count {
            name: name.to_owned(),
        };
        let unit = unit.to_owned();
        Check::of(
            name,
            &Threshold {
                kind,
                figure,
                limit,
                unit,
            },
            measured,
        )
    }

    #[test]
    fn only_targets_may_be_missed() {
        let bar = |measured| check(CheckKind::Bar, "a", measured, 5.0, "MB");
        assert!(!bar(Some(5.0)).fails());
        assert!(bar(Some(5.001)).fails());
        assert!(bar(Some(f64::NAN)).fails() && bar(None).fails());
        assert!(check(CheckKind::Correctness, "b", Some(1.0), 0.0, "").fails());
        assert!(!check(CheckKind::Target, "c", Some(9.0), 5.0, "MB").fails());
    }

    #[test]
    fn a_line_says_what_was_found_and_what_was_wanted() {
        let line = |kind, measured, limit, unit| check(kind, "a", measured, limit, unit).to_string();
        assert_eq!(
            line(CheckKind::Bar, Some(5.5), 5.0, "MB"),
            "FAILED: a: 5.500 MB, at most 5 MB"
        );
        assert_eq!(
            line(CheckKind::Bar, Some(1.0), 1.05, ""),
            "ok: a: 1.000, at most 1.05"
        );
        assert_eq!(line(CheckKind::Bar, None, 5.0, "MB"), "FAILED: a: not measured");
        assert_eq!(
            line(CheckKind::Correctness, Some(0.0), 0.0, ""),
            "ok: a: 0, must be 0"
        );
        assert_eq!(
            line(CheckKind::Target, Some(9.0), 5.0, "MB"),
            "target missed: a: 9.000 MB, at most 5 MB"
        );
    }
}
