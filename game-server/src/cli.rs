//! Flags and environment of the game server's process.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, CommandFactory, FromArgMatches, Parser};
use protocol::ids::{CodeError, GameCode};
use runtime::telemetry::LogFormat;
use thiserror::Error;

/// Characters of a server's name: a DNS label, as a pod's is.
const NAME_CHARS_MAX: usize = 63;

/// Holds live games: every game is one task, every player one socket.
#[derive(Debug, Clone, Parser)]
#[command(name = "game-server", version)]
pub(crate) struct Config {
    /// Address and port for clients: `/games`, `/status` and `/watch`, at the root and under `/game`.
    #[arg(long, env = "HOMEROOM_GAME_LISTEN", default_value = "0.0.0.0:8080")]
    pub(crate) listen: SocketAddr,
    /// Address for /live, /ready, /metrics and /timeline, for example `127.0.0.1:9090`; off when not given.
    #[arg(long, env = "HOMEROOM_GAME_ADMIN_LISTEN")]
    pub(crate) admin_listen: Option<SocketAddr>,
    /// This server's name among all game servers, as a pod's; the machine's name when not given.
    #[arg(long, env = "HOMEROOM_GAME_NAME", value_parser = name)]
    pub(crate) name: Option<String>,
    /// Where the API's internal listener is, for example `http://api:8082`.
    #[arg(long, env = "HOMEROOM_GAME_API_INTERNAL", value_name = "URL", value_parser = internal_base)]
    pub(crate) api_internal: String,
    /// File with the secret that internal calls are signed with, the same as the API's; at least 32 bytes.
    #[arg(long, env = "HOMEROOM_GAME_SERVICE_TOKEN_FILE", value_name = "FILE")]
    pub(crate) service_token_file: PathBuf,
    /// File with the API's public keys, as its `--jwks-out` writes it.
    #[arg(long, env = "HOMEROOM_GAME_JWKS_FILE", value_name = "FILE")]
    pub(crate) jwks_file: PathBuf,
    /// File with the secret of resume tokens and screen tickets, the same for all game servers; at least 32 bytes.
    #[arg(long, env = "HOMEROOM_GAME_RESUME_SECRET_FILE", value_name = "FILE")]
    pub(crate) resume_secret_file: PathBuf,
    /// Redis that keeps live games, for example `redis://cache:6379`; without it they live in memory only.
    #[arg(
        long,
        env = "HOMEROOM_GAME_REDIS",
        value_name = "URL",
        conflicts_with = "redis_file"
    )]
    pub(crate) redis: Option<String>,
    /// File with that URL, for one with a password.
    #[arg(long, env = "HOMEROOM_GAME_REDIS_FILE", value_name = "FILE")]
    pub(crate) redis_file: Option<PathBuf>,
    /// Certificates, as a PEM file, that a `rediss://` server is trusted by; the system's when not given.
    #[arg(long, env = "HOMEROOM_GAME_REDIS_CA", value_name = "FILE")]
    pub(crate) redis_ca: Option<PathBuf>,
    /// Address and port for other game servers, for example `0.0.0.0:8090`; makes this server one of several that share a Redis.
    #[arg(long, env = "HOMEROOM_GAME_PEER_LISTEN", requires = "peer_secret_files")]
    pub(crate) peer_listen: Option<SocketAddr>,
    /// Where the others reach that listener, for example `game-0.game:8090`; the bound address when not given.
    #[arg(long, env = "HOMEROOM_GAME_PEER_ADDRESS", value_name = "HOST:PORT", value_parser = peer_address, requires = "peer_listen")]
    pub(crate) peer_address: Option<String>,
    /// File with the secret that game servers show each other, at least 32 bytes; repeated while it is changed, the one to show first.
    #[arg(
        long = "peer-secret-file",
        env = "HOMEROOM_GAME_PEER_SECRET_FILE",
        value_name = "FILE",
        value_delimiter = ',',
        requires = "peer_listen"
    )]
    pub(crate) peer_secret_files: Vec<PathBuf>,
    /// Web origin whose pages may open sockets, for example `https://quiz.example`; may be repeated.
    #[arg(
        long = "allow-origin",
        env = "HOMEROOM_GAME_ALLOW_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ',',
        value_parser = runtime::origin::parse
    )]
    pub(crate) allow_origins: Vec<String>,
    /// Players, hosts and screens connected at once; never more than the process's descriptor limit leaves room for.
    #[arg(long, env = "HOMEROOM_GAME_SOCKETS_MAX", default_value_t = 18_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) sockets_max: u32,
    /// Games live at once.
    #[arg(long, env = "HOMEROOM_GAME_GAMES_MAX", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) games_max: u32,
    /// Seconds that a stop waits, among several servers, until each game has come to a moment at which it can be handed over.
    #[arg(long, env = "HOMEROOM_GAME_DRAIN_MAX_S", value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    pub(crate) drain_max_s: u64,
    /// Look of the log on standard error.
    #[arg(long, env = "HOMEROOM_GAME_LOG_FORMAT", value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
    /// What to log, for example `info` or `info,game_server=debug`.
    #[arg(long, env = "HOMEROOM_GAME_LOG", default_value = "info")]
    pub(crate) log: String,
}

/// What to do: serve, unless a word says something else.
#[derive(Debug, Clone)]
pub(crate) enum Cli {
    /// Holds live games.
    Serve(Box<Config>),
    /// Asks a server that runs.
    Timeline(Timeline),
}

/// Prints what happened to a live game, as JSON, and ends.
#[derive(Debug, Clone, Args)]
pub(crate) struct Timeline {
    /// The game's code.
    #[arg(value_parser = code)]
    pub(crate) code: GameCode,
    /// Admin listener of any game server; it asks the server that has the game.
    #[arg(
        long,
        env = "HOMEROOM_GAME_ADMIN_LISTEN",
        value_name = "HOST:PORT",
        value_parser = peer_address,
        default_value = "127.0.0.1:9090"
    )]
    pub(crate) admin: String,
}

/// The word before a code.
const TIMELINE: &str = "timeline";

impl CommandFactory for Cli {
    fn command() -> Command {
        let timeline =
            Command::new(TIMELINE).about("Prints what happened to a live game, as JSON, and ends.");
        Config::command()
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
            .subcommand(Timeline::augment_args(timeline))
    }

    fn command_for_update() -> Command {
        Self::command()
    }
}

impl FromArgMatches for Cli {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        match matches.subcommand() {
            Some((TIMELINE, matches)) => Timeline::from_arg_matches(matches).map(Self::Timeline),
            Some(_) | None => Ok(Self::Serve(Box::new(Config::from_arg_matches(matches)?))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Parser for Cli {}

/// As a page shows it, or as a person types it.
fn code(value: &str) -> Result<GameCode, CodeError> {
    value.trim().to_ascii_uppercase().parse()
}

/// Why a value is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
enum BadValue {
    #[error("a name has 1 to {NAME_CHARS_MAX} letters, digits and hyphens")]
    Name,
    #[error("must be a host or an address, a colon and a port")]
    PeerAddress,
    #[error("must be http:// with a host and nothing after it")]
    InternalBase,
}

fn name(value: &str) -> Result<String, BadValue> {
    let fits = (1..=NAME_CHARS_MAX).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if fits {
        Ok(value.to_owned())
    } else {
        Err(BadValue::Name)
    }
}

/// What `host:port` is, a host being whatever a name service or a family of addresses calls one.
fn peer_address(value: &str) -> Result<String, BadValue> {
    let is_host = |host: &str| {
        let host = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        !host.is_empty()
            && host
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-._:".contains(&b))
    };
    value
        .rsplit_once(':')
        .filter(|(host, port)| is_host(host) && port.parse::<u16>().is_ok_and(|port| port != 0))
        .map(|_| value.to_owned())
        .ok_or(BadValue::PeerAddress)
}

/// Internal calls stay within the cluster's network and are not encrypted, so https would be a promise not kept.
fn internal_base(value: &str) -> Result<String, BadValue> {
    runtime::origin::parse(value)
        .ok()
        .filter(|origin| origin.starts_with("http://"))
        .ok_or(BadValue::InternalBase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound_and_the_reference_page_tells_it() {
        Cli::command().debug_assert();
        let reference = runtime::config::reference(Cli::command());
        let page = include_str!("../../docs/configuration.md");
        assert!(
            page.contains(&reference),
            "docs/configuration.md must hold this:\n\n{reference}"
        );
    }

    #[test]
    fn a_timeline_needs_a_code_and_nothing_that_serving_needs() {
        let parsed = |words: &[&str]| Cli::try_parse_from([&["game-server"], words].concat());
        let Ok(Cli::Timeline(asked)) = parsed(&["timeline", "k7q2mx", "--admin", "game-1:9090"]) else {
            panic!("it is not understood");
        };
        assert_eq!(
            (asked.code.as_str(), asked.admin.as_str()),
            ("K7Q2MX", "game-1:9090")
        );
        assert!(parsed(&["timeline"]).is_err() && parsed(&["timeline", "K7"]).is_err());
        assert!(parsed(&[]).is_err(), "serving needs its files");
    }

    #[test]
    fn names_and_addresses_are_taken_or_refused() {
        assert_eq!(name("game-0").as_deref(), Ok("game-0"));
        for bad in ["", "a b", "ä", "a.b", &"x".repeat(64)] {
            assert_eq!(name(bad), Err(BadValue::Name), "{bad:?}");
        }
        for good in ["game-0.game:8090", "10.0.0.7:1", "[::1]:8090"] {
            assert_eq!(peer_address(good).as_deref(), Ok(good));
        }
        for bad in [
            "game-0",
            ":8090",
            "game-0:0",
            "game-0:",
            "http://game-0:8090",
            "a b:1",
            "",
        ] {
            assert_eq!(peer_address(bad), Err(BadValue::PeerAddress), "{bad:?}");
        }
        assert_eq!(
            internal_base("http://API:8082/").as_deref(),
            Ok("http://api:8082")
        );
        for bad in ["https://api:8082", "http://api/x", "api:8082", ""] {
            assert_eq!(internal_base(bad), Err(BadValue::InternalBase), "{bad:?}");
        }
    }
}
