//! Flags and environment of the one-process product, checked before anything binds.

use std::net::SocketAddr;
use std::path::PathBuf;

use api::MailOptions;
use clap::{Args, Parser};
use ipnet::IpNet;
use runtime::telemetry::LogFormat;

/// Live classroom quizzes on one machine: teachers host, students join from their phones with a code.
#[derive(Debug, Clone, Parser)]
#[command(name = "homeroom", version)]
pub(crate) struct Config {
    /// Address and port to listen on; 0.0.0.0 lets phones in the same network in.
    #[arg(long, env = "HOMEROOM_LISTEN", default_value = "0.0.0.0:8080")]
    pub(crate) listen: SocketAddr,
    /// Folder for accounts, quizzes, live games, results and keys; created when missing.
    #[arg(long, env = "HOMEROOM_DATA_DIR", default_value = "./homeroom-data")]
    pub(crate) data_dir: PathBuf,
    /// Address under which people reach this server when it is not its own, for example `https://quiz.school.example`.
    #[arg(long, env = "HOMEROOM_PUBLIC_URL", value_parser = runtime::origin::parse)]
    pub(crate) public_url: Option<String>,
    /// Another web origin whose pages may connect, for example `http://quiz.local:8080`; may be repeated.
    #[arg(
        long = "allow-origin",
        env = "HOMEROOM_ALLOW_ORIGIN",
        value_delimiter = ',',
        value_parser = runtime::origin::parse
    )]
    pub(crate) allow_origins: Vec<String>,
    /// Network of proxies in front of this server, for example `127.0.0.1/32`, whose X-Forwarded-For is believed. May be repeated; without any,
    /// nobody is, and all who come through a proxy share its address.
    #[arg(
        long = "trust-forwarded",
        env = "HOMEROOM_TRUST_FORWARDED",
        value_name = "NETWORK",
        value_delimiter = ','
    )]
    pub(crate) trust_forwarded: Vec<IpNet>,
    /// Certificate chain as a PEM file; serves HTTPS together with --tls-key.
    #[arg(long, env = "HOMEROOM_TLS_CERT", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key as a PEM file.
    #[arg(long, env = "HOMEROOM_TLS_KEY", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Address for /live, /ready, /metrics and /timeline, for example `127.0.0.1:9090`; off when not given.
    #[arg(long, env = "HOMEROOM_ADMIN_LISTEN")]
    pub(crate) admin_listen: Option<SocketAddr>,
    /// Players, hosts and screens connected at once; never more than the process's descriptor limit leaves room for.
    #[arg(long, env = "HOMEROOM_SOCKETS_MAX", default_value_t = 15_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) sockets_max: u32,
    /// Games live at once.
    #[arg(long, env = "HOMEROOM_GAMES_MAX", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) games_max: u32,
    #[command(flatten)]
    pub(crate) mail: MailArgs,
    /// Look of the log on standard error.
    #[arg(long, env = "HOMEROOM_LOG_FORMAT", value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
    /// What to log, for example `info` or `info,game_server=debug`.
    #[arg(long, env = "HOMEROOM_LOG", default_value = "info")]
    pub(crate) log: String,
    /// Opens a sample game with 30 bot students; keeps its data apart and starts afresh each time.
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) demo: bool,
}

/// How teachers are written to.
#[derive(Debug, Clone, Args)]
pub(crate) struct MailArgs {
    /// Mail server for letters with links for new passwords, for example `smtps://USER@mail.school.org`; no mail when not given.
    #[arg(
        long,
        env = "HOMEROOM_SMTP",
        value_name = "URL",
        hide_env_values = true,
        conflicts_with = "smtp_file",
        requires = "mail_from",
        requires = "public_url"
    )]
    smtp: Option<String>,
    /// File with that URL, for one with a password.
    #[arg(
        long,
        env = "HOMEROOM_SMTP_FILE",
        value_name = "FILE",
        requires = "mail_from",
        requires = "public_url"
    )]
    smtp_file: Option<PathBuf>,
    /// Sender of letters, for example `Homeroom <homeroom@school.org>`.
    #[arg(long, env = "HOMEROOM_MAIL_FROM", value_name = "ADDRESS")]
    mail_from: Option<String>,
}

impl MailArgs {
    pub(crate) fn options(&self) -> MailOptions<'_> {
        MailOptions {
            smtp: self.smtp.as_deref(),
            smtp_file: self.smtp_file.as_deref(),
            mail_from: self.mail_from.as_deref(),
        }
    }
}

impl Config {
    /// The configured origins: the public URL's first, then the allowed ones.
    pub(crate) fn origins(&self) -> Origins {
        Origins {
            public: self.public_url.clone(),
            allowed: self.allow_origins.clone(),
        }
    }
}

/// Origins from the configuration, as a browser writes them in `Origin`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origins {
    /// The public URL's.
    pub(crate) public: Option<String>,
    /// The others.
    pub(crate) allowed: Vec<String>,
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

    fn parse(arguments: &[&str]) -> Result<Config, clap::Error> {
        Config::try_parse_from(std::iter::once("homeroom").chain(arguments.iter().copied()))
    }

    #[test]
    fn origins_are_canonical_or_refused() {
        let given = [
            "--public-url",
            "HTTPS://Quiz.School.example:443/",
            "--allow-origin",
            "http://10.1.2.3:8080",
        ];
        let origins = parse(&given).unwrap().origins();
        assert_eq!(origins.public.as_deref(), Some("https://quiz.school.example"));
        assert_eq!(origins.allowed, ["http://10.1.2.3:8080"]);
        assert!(parse(&["--public-url", "quiz.school.example"]).is_err());
        assert!(parse(&["--allow-origin", "http://10.1.2.3/path"]).is_err());
    }

    #[test]
    fn a_certificate_needs_its_key_and_the_demo_neither() {
        assert!(parse(&["--tls-cert", "c.pem"]).is_err());
        assert!(parse(&["--tls-key", "k.pem"]).is_err());
        assert!(parse(&["--tls-cert", "c.pem", "--tls-key", "k.pem"]).is_ok());
        assert!(parse(&["--demo", "--tls-cert", "c.pem", "--tls-key", "k.pem"]).is_err());
        assert!(parse(&["--listen", "nonsense"]).is_err());
        assert!(parse(&["--trust-forwarded", "10.0.0.0/33"]).is_err());
        assert!(parse(&["--sockets-max", "0"]).is_err());
    }
}
