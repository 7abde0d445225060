//! The ingress proxy: keeps everybody of one game on the server that holds it, and spreads everything else over the APIs.

mod budget;
mod course;
mod discovery;
mod forwarded;
mod group;
mod headers;
mod health;
mod http2;
mod key;
mod members;
mod membership;
mod notes;
mod owners;
mod proxy;
mod redirect;
mod refusal;
mod replay;
mod route;
mod screen;
mod slices;
mod sources_file;
mod traces;
mod tunnel;
mod tunnels;
mod upstream;

pub use course::{Course, FOLLOWS_MAX};
pub use discovery::{Discovery, DiscoveryError, Place, Ports, Source, SourceError};
pub use group::Group;
pub use key::{KeyError, parse as parse_key};
pub use members::{Kind, MEMBERS_MAX, Member, Members, MembersError};
pub use membership::router as membership;
pub use proxy::{Proxy, Settings};
pub use redirect::to_https;
pub use route::{Route, game_path};
pub use sources_file::SourcesFileError;
pub use upstream::{Upstream, UpstreamError};
