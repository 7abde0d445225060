//! Simulated clients: the socket, the WebSocket codec, players, hosts, and the one loop that drives them all.
//!
//! Footprint is the point: a player is a socket, a codec without a buffer and about a hundred bytes of state. All sockets
//! share one read buffer and one thread, which looks at all of them at once every few milliseconds. What they do is
//! decided in [`crate::plan`], what they saw is kept in [`crate::measure`].

mod board;
pub mod calls;
pub mod codec;
mod connect;
mod engine;
mod host;
mod http;
mod link;
mod pacer;
mod patience;
mod player;
mod receive;
mod rhythm;
mod scrape;
mod targets;
mod tls;
mod world;

pub use engine::{Conn, Engine, EngineError, Role};
pub use host::{Host, HostPlace, Reveal};
pub use http::{Http, HttpError, Response, Target, TargetError};
pub use link::LinkError;
pub use pacer::{Due, Task};
pub use player::{Final, Player};
pub use scrape::metric;
pub use targets::{GAME_PREFIX, STORE_PREFIX, Targets};
pub use tls::{Trust, TrustError};
pub use world::{Class, Click, Door, Effects, OnLoss, Traffic, World};
