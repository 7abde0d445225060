//! Flags and environment of the proxy's process.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;
use ingress_proxy::Source;
use ipnet::IpNet;
use runtime::telemetry::LogFormat;

/// Keeps everybody of one game on the game server that holds it, and spreads everything else over the APIs.
#[derive(Debug, Clone, Parser)]
#[command(name = "ingress-proxy", version)]
pub(crate) struct Config {
    /// Address and port for clients.
    #[arg(long, env = "HOMEROOM_PROXY_LISTEN", default_value = "0.0.0.0:8080")]
    pub(crate) listen: SocketAddr,
    /// Address for /live, /ready, /metrics and /membership, for example `127.0.0.1:9090`; off when not given.
    #[arg(long, env = "HOMEROOM_PROXY_ADMIN_LISTEN")]
    pub(crate) admin_listen: Option<SocketAddr>,
    /// Game servers: `NAME=HOST:PORT` is one, the name being its `--name`; `game-{}.game:PORT` are the pods of a stateful set with
    /// its headless service, as many as there are; `kubernetes:SERVICE[.NAMESPACE]:PORT` are a service's pods as the Kubernetes
    /// API tells them. With `/PORT` of their admin listener after it, they are asked whether they are ready. Hosts are looked up
    /// every 5 s. May be repeated.
    #[arg(
        long = "game",
        env = "HOMEROOM_PROXY_GAME",
        value_name = "SERVERS",
        value_delimiter = ',',
        required_unless_present = "game_file"
    )]
    pub(crate) games: Vec<Source>,
    /// File with game servers in the same form, one a line (`#` begins a remark), instead of --game. It is looked at every second;
    /// who is not in it any more is gone at once, and a file that cannot be read or understood changes nothing.
    #[arg(
        long,
        env = "HOMEROOM_PROXY_GAME_FILE",
        value_name = "FILE",
        conflicts_with = "games"
    )]
    pub(crate) game_file: Option<PathBuf>,
    /// APIs, in the same form with names of your choice, or `HOST:PORT` for all addresses of a headless service. May be repeated.
    #[arg(
        long = "api",
        env = "HOMEROOM_PROXY_API",
        value_name = "SERVERS",
        value_delimiter = ',',
        required = true
    )]
    pub(crate) apis: Vec<Source>,
    /// Certificate chain as a PEM file; serves HTTPS together with --tls-key.
    #[arg(
        long,
        env = "HOMEROOM_PROXY_TLS_CERT",
        value_name = "FILE",
        requires = "tls_key"
    )]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key as a PEM file.
    #[arg(
        long,
        env = "HOMEROOM_PROXY_TLS_KEY",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    pub(crate) tls_key: Option<PathBuf>,
    /// Offers HTTP/1.1 only. Without it, HTTPS clients may speak HTTP/2; WebSockets stay on HTTP/1.1.
    #[arg(long, env = "HOMEROOM_PROXY_NO_HTTP2", requires = "tls_cert")]
    pub(crate) no_http2: bool,
    /// Plain listener that sends everybody to the same address under https, for example `0.0.0.0:8081`; off when not given.
    #[arg(
        long,
        env = "HOMEROOM_PROXY_REDIRECT_LISTEN",
        value_name = "ADDRESS",
        requires = "tls_cert"
    )]
    pub(crate) redirect_listen: Option<SocketAddr>,
    /// Seconds for which browsers are told to come by https only (HSTS); 0 tells them nothing. Clients of whom a trusted proxy
    /// says that they use https are told, too.
    #[arg(
        long,
        env = "HOMEROOM_PROXY_HSTS_S",
        value_name = "SECONDS",
        default_value_t = 0
    )]
    pub(crate) hsts_s: u32,
    /// Network of proxies in front of this one, for example `10.0.0.0/8`, whose X-Forwarded-For and X-Forwarded-Proto are
    /// believed. May be repeated; without any, nobody is.
    #[arg(
        long = "trust-forwarded",
        env = "HOMEROOM_PROXY_TRUST_FORWARDED",
        value_name = "NETWORK",
        value_delimiter = ','
    )]
    pub(crate) trust_forwarded: Vec<IpNet>,
    /// Lets a second process listen at the same address, so that a new one can start before the old one stops, and no connection is
    /// refused in between.
    #[arg(long, env = "HOMEROOM_PROXY_REUSE_PORT")]
    pub(crate) reuse_port: bool,
    /// Seconds over which WebSockets are closed when the proxy stops, so that their clients do not all come back at once.
    #[arg(
        long,
        env = "HOMEROOM_PROXY_DRAIN_S",
        value_name = "SECONDS",
        default_value_t = 10
    )]
    pub(crate) drain_s: u32,
    /// Logs every request, without its query.
    #[arg(long, env = "HOMEROOM_PROXY_ACCESS_LOG")]
    pub(crate) access_log: bool,
    /// Client connections held at once; never more than half of the process's descriptor limit, since each needs a
    /// second one to a server.
    #[arg(long, env = "HOMEROOM_PROXY_CONNECTIONS_MAX", default_value_t = 30_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) connections_max: u32,
    /// Bytes of a request's body.
    #[arg(long, env = "HOMEROOM_PROXY_BODY_BYTES_MAX", default_value_t = 16 * 1024 * 1024, value_parser = clap::value_parser!(u64).range(1..=1024 * 1024 * 1024))]
    pub(crate) body_bytes_max: u64,
    /// Look of the log on standard error.
    #[arg(long, env = "HOMEROOM_PROXY_LOG_FORMAT", value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
    /// What to log, for example `info` or `info,ingress_proxy=debug`.
    #[arg(long, env = "HOMEROOM_PROXY_LOG", default_value = "info")]
    pub(crate) log: String,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound_and_the_reference_page_tells_it() {
        Config::command().debug_assert();
        let reference = runtime::config::reference(Config::command());
        let page = include_str!("../../docs/configuration.md");
        assert!(
            page.contains(&reference),
            "docs/configuration.md must hold this:\n\n{reference}"
        );
    }
}
