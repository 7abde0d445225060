//! Rules of `name`, one test a rule.
