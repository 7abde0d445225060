//! One figure against its limit.

use std::fmt;

use serde::Serialize;

/// What missing a limit means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// What is judged.
    pub name: String,
    /// What missing it means.
    pub kind: CheckKind,
    /// The figure.
    pub measured: f64,
    /// The most it may be.
    pub limit: f64,
    /// Unit of both.
    pub unit: &'static str,
    /// Whether the figure keeps the limit.
    pub met: bool,
}

impl Check {
    fn new(name: String, kind: CheckKind, measured: f64, limit: f64, unit: &'static str) -> Self {
        // A figure that is no number keeps no limit.
        Self {
            name,
            kind,
            measured,
            limit,
            unit,
            met: measured <= limit,
        }
    }

    /// Something that must not happen.
    #[must_use]
    pub fn zero(name: String, times: u64) -> Self {
        Self::new(name, CheckKind::Correctness, crate::sys::real(times), 0.0, "")
    }

    /// A bar.
    #[must_use]
    pub fn bar(name: &str, measured: f64, limit: f64, unit: &'static str) -> Self {
        Self::new(name.to_owned(), CheckKind::Bar, measured, limit, unit)
    }

    /// A target.
    #[must_use]
    pub fn target(name: &str, measured: f64, limit: f64, unit: &'static str) -> Self {
        Self::new(name.to_owned(), CheckKind::Target, measured, limit, unit)
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
        let verdict = match (self.kind, self.met) {
            (CheckKind::Target, true) => "target met",
            (CheckKind::Target, false) => "target missed",
            (CheckKind::Correctness | CheckKind::Bar, true) => "ok",
            (CheckKind::Correctness | CheckKind::Bar, false) => "FAILED",
        };
        if self.kind == CheckKind::Correctness {
            return write!(f, "{verdict}: {name}: {measured}, must be 0");
        }
        write!(
            f,
            "{verdict}: {name}: {measured:.3} {unit}, at most {limit} {unit}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_targets_may_be_missed() {
        assert!(!Check::bar("a", 5.0, 5.0, "MB").fails());
        assert!(Check::bar("a", 5.001, 5.0, "MB").fails());
        assert!(Check::bar("a", f64::NAN, 5.0, "MB").fails());
        assert!(Check::zero("b".to_owned(), 1).fails());
        assert!(!Check::target("c", 9.0, 5.0, "MB").fails());
        assert_eq!(
            Check::bar("a", 5.5, 5.0, "MB").to_string(),
            "FAILED: a: 5.500 MB, at most 5 MB"
        );
        assert_eq!(Check::zero("b".to_owned(), 0).to_string(), "ok: b: 0, must be 0");
        assert_eq!(
            Check::target("c", 9.0, 5.0, "MB").to_string(),
            "target missed: c: 9.000 MB, at most 5 MB"
        );
    }
}
