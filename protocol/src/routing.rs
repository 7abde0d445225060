//! How a proxy and a game server speak about which server holds a game: three headers of HTTP calls.

/// On a request: the proxy follows [`OWNER`], so the server may answer 421 instead of passing the connection on itself. Any
/// value counts. A proxy takes it off what clients send.
pub const FOLLOWS_OWNER: &str = "homeroom-follows-owner";
/// On a 421: the name of the server that holds the game. A proxy takes it off what clients get.
pub const OWNER: &str = "homeroom-owner";
/// On a request: names of servers that its proxy could not reach, between commas. It would follow no 421 to one of them.
pub const UNREACHABLE: &str = "homeroom-unreachable";
