//! Rules of `score`, one test a rule.
