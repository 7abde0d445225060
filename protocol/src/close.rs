//! WebSocket close codes and what a client does about each.

/// The game is over; stop.
pub const OVER: u16 = 1000;
/// The pod drains or the game moved; reconnect after the delay in `bye`.
pub const MOVED: u16 = 1012;
/// Bad first frame or key; show it and stop.
pub const BAD_FIRST_FRAME: u16 = 4400;
/// Token invalid or expired; join again (a host: sign in again).
pub const TOKEN: u16 = 4401;
/// Removed by the host; show it and stop.
pub const KICKED: u16 = 4403;
/// No such game; show it and stop.
pub const NO_SUCH_GAME: u16 = 4404;
/// The client reads too slowly or fell silent; reconnect and resume.
pub const SLOW: u16 = 4408;
/// A newer socket of the same player took over; stop.
pub const REPLACED: u16 = 4409;
/// Too many messages, or the server has no room; reconnect after the delay in `error` or `bye`.
pub const TOO_MANY: u16 = 4429;
