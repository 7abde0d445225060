//! The ingress proxy: keeps everybody of one game on the server that holds it, and spreads everything else over the APIs.

mod budget;
mod course;
mod headers;
mod key;
mod members;
mod owners;
mod placement;
mod proxy;
mod refusal;
mod replay;
mod route;
mod screen;
mod tunnel;
mod upstream;

pub use course::{Course, FOLLOWS_MAX};
pub use key::{KeyError, parse as parse_key};
pub use members::{MEMBERS_MAX, Member, MemberError, Members, MembersError};
pub use placement::{order, weight};
pub use proxy::{Proxy, Settings};
pub use route::{Route, game_path};
pub use upstream::{Upstream, UpstreamError};
