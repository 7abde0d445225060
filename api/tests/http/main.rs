//! The API as its clients see it: every test talks HTTP to the whole router, over a store of its own.

#![expect(
    clippy::unwrap_used,
    reason = "a test's helpers fail by panicking, like the test"
)]

mod auth;
mod document;
mod games;
mod imports;
mod internal;
mod library;
mod overload;
mod problems;
mod quizzes;
mod removal;
mod reset;
mod support;
mod timelines;
mod usage;
