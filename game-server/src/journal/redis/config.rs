//! Which Redis, and how it is reached: from a URL.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fred::types::config::{
    Config, ConnectionConfig, PerformanceConfig, ServerConfig, TcpConfig, TlsConfig, TlsConnector,
    UnresponsiveConfig,
};
use rustls::RootCertStore;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use thiserror::Error;

/// Longest wait for a connection with its TLS handshake, and for each step of setting it up.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Commands that the client may hold before they are on the wire: a group and the few that set a connection up.
const CLIENT_CALLS_MAX: usize = 2 * super::flusher::GROUP_CALLS_MAX;

/// Where the Redis is.
#[derive(Clone)]
pub struct RedisConfig {
    pub(super) server: Config,
}

/// Why a URL names no Redis that can be used.
#[derive(Debug, Error)]
pub enum RedisConfigError {
    /// It is none of the known ones.
    #[error("the scheme must be redis, rediss, redis-sentinel or rediss-sentinel")]
    Scheme,
    /// The rest of it is wrong.
    #[error("the Redis URL cannot be used")]
    Url(#[source] fred::error::Error),
    /// The certificates given are none.
    #[error("the certificates for Redis cannot be read")]
    Certificates(#[source] rustls_pki_types::pem::Error),
    /// TLS cannot be set up with them.
    #[error("TLS for Redis cannot be set up")]
    Tls(#[source] rustls::Error),
}

impl RedisConfig {
    /// Reads `redis://[user:password@]host[:port][/database]`, the same with `rediss` for TLS, or
    /// `redis-sentinel://[user:password@]host[:port][/database]?sentinelServiceName=name[&node=host:port]…` with, where the
    /// sentinels want them, `sentinelUsername` and `sentinelPassword`. TLS trusts the system's certificates.
    ///
    /// # Errors
    /// When the URL is something else.
    pub fn parse(url: &str) -> Result<Self, RedisConfigError> {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        if !matches!(scheme, "redis" | "rediss" | "redis-sentinel" | "rediss-sentinel") {
            return Err(RedisConfigError::Scheme);
        }
        let mut server = Config::from_url(url).map_err(RedisConfigError::Url)?;
        // Of the first connection: its failure is ours to handle.
        server.fail_fast = true;
        Ok(Self { server })
    }

    /// Whether the URL holds a password, for the server or for the sentinels.
    #[must_use]
    pub fn has_password(&self) -> bool {
        let sentinels = matches!(
            &self.server.server,
            ServerConfig::Sentinel {
                password: Some(_),
                ..
            }
        );
        sentinels || self.server.password.is_some()
    }

    /// Whether it is reached by TLS.
    #[must_use]
    pub fn has_tls(&self) -> bool {
        self.server.tls.is_some()
    }

    /// Trusts the certificates in `pem` instead of the system's. Nothing changes without TLS in the URL.
    ///
    /// # Errors
    /// When `pem` holds none, or one that cannot be used.
    pub fn trusting(mut self, pem: &[u8]) -> Result<Self, RedisConfigError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(RedisConfigError::Certificates)?;
            roots.add(certificate).map_err(RedisConfigError::Tls)?;
        }
        if roots.is_empty() {
            return Err(RedisConfigError::Certificates(
                rustls_pki_types::pem::Error::NoItemsFound,
            ));
        }
        if self.server.tls.is_some() {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let client = rustls::ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .map_err(RedisConfigError::Tls)?
                .with_root_certificates(roots)
                .with_no_client_auth();
            self.server.tls = Some(TlsConfig::from(TlsConnector::from(client)));
        }
        Ok(self)
    }
}

impl fmt::Debug for RedisConfig {
    /// Without the passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for RedisConfig {
    /// The hosts, for the log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ServerConfig::Sentinel { service_name, .. } = &self.server.server {
            write!(f, "{service_name} behind ")?;
        }
        for (index, host) in self.server.server.hosts().iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}:{}", host.host, host.port)?;
        }
        Ok(())
    }
}

/// How the client library behaves. docs/adr/0008 says what of it was checked, and where.
pub(super) fn connection() -> ConnectionConfig {
    ConnectionConfig {
        connection_timeout: CONNECT_TIMEOUT,
        internal_command_timeout: CONNECT_TIMEOUT,
        // One: a command goes onto one connection once, or fails. None would fail every command.
        max_command_attempts: 1,
        max_redirections: 0,
        max_command_buffer_len: CLIENT_CALLS_MAX,
        // The flusher's own bound is shorter, and gives up the whole connection.
        unresponsive: UnresponsiveConfig::default(),
        tcp: TcpConfig {
            // Otherwise the second group of a burst waits for a delayed acknowledgement of the first.
            nodelay: Some(true),
            ..TcpConfig::default()
        },
        ..ConnectionConfig::default()
    }
}

/// Its buffers.
pub(super) fn performance() -> PerformanceConfig {
    PerformanceConfig {
        // A whole group leaves with one system call.
        max_feed_count: u64::MAX,
        ..PerformanceConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_server_or_sentinels() {
        let plain = RedisConfig::parse("redis://u:secret@cache:7000/2").unwrap();
        assert_eq!(format!("{plain:?}"), "cache:7000");
        assert_eq!(plain.server.database, Some(2));
        assert_eq!(plain.server.password.as_deref(), Some("secret"));
        assert!(plain.has_password() && !plain.has_tls());
        let sentinels = "redis-sentinel://a:26379?sentinelServiceName=live&node=b:26379&sentinelPassword=p";
        let sentinels = RedisConfig::parse(sentinels).unwrap();
        assert_eq!(sentinels.to_string(), "live behind b:26379, a:26379");
        assert!(sentinels.has_password());
        let encrypted = RedisConfig::parse("rediss://user@cache").unwrap();
        assert!(encrypted.has_tls() && !encrypted.has_password());
    }

    #[test]
    fn other_urls_are_refused() {
        for url in [
            "",
            "cache:6379",
            "redis-cluster://a",
            "redis+unix:///x",
            "http://a",
        ] {
            assert!(
                matches!(RedisConfig::parse(url), Err(RedisConfigError::Scheme)),
                "{url}"
            );
        }
        for url in ["redis://", "redis-sentinel://a:1", "redis://h:99999"] {
            assert!(
                matches!(RedisConfig::parse(url), Err(RedisConfigError::Url(_))),
                "{url}"
            );
        }
    }

    #[test]
    fn certificates_must_be_some() {
        let config = RedisConfig::parse("rediss://cache").unwrap();
        assert!(matches!(
            config.trusting(b"none"),
            Err(RedisConfigError::Certificates(_))
        ));
    }
}
