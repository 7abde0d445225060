//! What an operator may set about the game server, each with its default and the reason for it.

use std::time::Duration;

/// Settings of a game server. `Default` suits one process on a small machine.
#[derive(Debug, Clone)]
pub struct Config {
    /// The server's name in owner records; the same after a restart. Default `homeroom`.
    pub server_name: String,
    /// Sockets held at once. Past it an upgrade gets 503. Default 18,000: a process on a small machine may hold 20,000
    /// descriptors, and HTTP requests, the store and the log need some.
    pub sockets_max: usize,
    /// Of those, kept for players who come back and for hosts: new players are refused before. Default 1,000: two lecture
    /// halls that lose their wifi at once.
    pub sockets_reserve: usize,
    /// Games held at once, those whose result is not saved yet included. Default 2,000: with 30 players and 30 questions a game
    /// and its journal take an estimated 100 KB beside the sockets, so 200 MB in all.
    pub games_max: usize,
    /// Origins whose pages may open a socket, exactly as a browser sends them (`https://quiz.example`). A request without
    /// an `Origin` header comes from no browser and is allowed. Default: none.
    pub allowed_origins: Vec<String>,
    /// Whether a connection's peer is the client itself, so that wrong codes are counted by network. Behind a proxy all clients
    /// have its address: they are only counted together. Default: yes.
    pub peers_are_clients: bool,
    /// A lobby without a host for this long is ended. Default 30 min: a teacher who prepares in the break before.
    pub lobby_without_host: Duration,
    /// A game in play without a host for this long is ended. Default 15 min: a laptop that restarts for an update.
    pub play_without_host: Duration,
    /// Any game is ended after this long. Default 6 h: a project day's games end the same day.
    pub total: Duration,
    /// How long an ended game is still shown to those who reload. Default 5 min.
    pub ended_linger: Duration,
    /// Time for a valid first frame. Default 5 s: a Slow 3G round trip is 2 s.
    pub first_frame: Duration,
    /// Time between the server's pings. Default 15 s: half of the shortest idle limit seen in home routers.
    pub ping: Duration,
    /// A socket without traffic for this long is closed. Default 35 s: two pings missed and a little more.
    pub silence: Duration,
    /// How long a player whose socket ended still counts as here. Default 3 s: a reload on a slow phone.
    pub absent_grace: Duration,
    /// How long the players of a game that was brought back after a crash count as here until they reconnect. Default 15 s: a
    /// phone that tries to reconnect pauses for up to 5 s, and a question must not close without those who are on their way.
    pub restored_grace: Duration,
    /// How long a change waits for the journal before the game goes on without it. Default 100 ms: a class feels more.
    pub saving_patience: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            server_name: "homeroom".to_owned(),
            sockets_max: 18_000,
            sockets_reserve: 1_000,
            games_max: 2_000,
            allowed_origins: Vec::new(),
            peers_are_clients: true,
            lobby_without_host: Duration::from_secs(30 * 60),
            play_without_host: Duration::from_secs(15 * 60),
            total: Duration::from_secs(6 * 60 * 60),
            ended_linger: Duration::from_secs(5 * 60),
            first_frame: Duration::from_secs(5),
            ping: Duration::from_secs(15),
            silence: Duration::from_secs(35),
            absent_grace: Duration::from_secs(3),
            restored_grace: Duration::from_secs(15),
            saving_patience: Duration::from_millis(100),
        }
    }
}
