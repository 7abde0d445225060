//! The API of Homeroom: accounts, the library of quizzes, import, plans, results and reports; and the web front end.
//!
//! It owns what is kept about teachers and finished games, and the keys that everything is signed with. It knows no live
//! game: a game server asks it for a plan check at the start and hands it the result at the end.

mod admission;
mod answer;
mod body;
mod cache;
mod clock;
pub mod config;
mod email;
mod export;
mod extract;
mod hex;
pub mod import;
mod internal;
mod keys;
mod mail;
mod openapi;
mod password;
pub mod plan;
mod problem;
mod quota;
mod random;
mod report;
mod reset;
mod routes;
mod service;
mod session;
mod shared;
pub mod store;
mod token;
mod uploads;
mod web;

pub use clock::Clock;
pub use config::Config;
pub use keys::{Keys, KeysError};
pub use mail::{Letter, MailError, MailOptions, MailOptionsError, Mailer, SmtpError, SmtpMailer};
pub use reset::{ResetLinkError, reset_link};
pub use service::{Api, GameCallError, Grant, PlanCheckError, SaveError};
pub use session::Session;
pub use shared::{Counted, LocalShared, Quota, RedisShared, Shared, SharedRedis, SharedRedisError, Verdict};
pub use store::{PostgresConfig, PostgresConfigError, PostgresStore, SqliteStore, Store, StoreError};
pub use web::web_router;
