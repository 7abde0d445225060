//! What every Homeroom process does the same way: read its configuration, log, count, listen, say whether it lives, stop.
//!
//! It owns no route of the product and knows no game; `game-server` and `api` bring routers, a main puts them behind
//! [`http::serve`].

pub mod admin;
pub mod config;
pub mod descriptors;
pub mod files;
pub mod forwarded;
pub mod host;
pub mod http;
pub mod lifecycle;
pub mod metrics;
pub mod origin;
pub mod secret;
pub mod telemetry;
pub mod tls;
