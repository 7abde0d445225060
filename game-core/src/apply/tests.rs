//! Rules of `apply`, one test a rule.
