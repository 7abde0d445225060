//! Rules of `quiz`, one test a rule.
