//! The API as its clients see it: every test talks HTTP to the whole router, over a store of its own.

mod auth;
mod games;
mod imports;
mod problems;
mod quizzes;
mod secrecy;
mod support;
