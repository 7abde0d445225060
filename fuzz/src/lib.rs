//! What the fuzz targets hold true: each compares what the servers read with an independent, stricter reading of the same bytes.
//!
//! The servers' modules that read what strangers send are compiled in by path. They need little of the rest, so that the targets
//! build in a minute, and what is private in the servers stays private there.

#![forbid(unsafe_code)]
// The servers use more of their modules than the targets do.
#![allow(dead_code)]

mod forged;
mod pipe;
mod queries;
mod reader;
mod texts;
mod webs;
mod wire;

pub use forged::check_headers;
pub use queries::check_key;
pub use texts::check_frame;
pub use webs::check_socket;
pub use wire::check_request;

#[path = "../../ingress-proxy/src/admit.rs"]
mod admit;
#[path = "../../ingress-proxy/src/forwarded.rs"]
mod forwarded;
#[path = "../../ingress-proxy/src/headers.rs"]
mod headers;
#[path = "../../ingress-proxy/src/http2.rs"]
mod http2;
#[path = "../../ingress-proxy/src/key.rs"]
mod key;
#[path = "../../game-server/src/session/parse.rs"]
mod parse;
#[path = "../../game-server/src/http/game_key/query.rs"]
mod query;
#[path = "../../ingress-proxy/src/refusal.rs"]
mod refusal;
#[path = "../../ingress-proxy/src/route.rs"]
mod route;
#[path = "../../ingress-proxy/src/screen.rs"]
mod screen;
#[path = "../../ingress-proxy/src/traces.rs"]
mod traces;
