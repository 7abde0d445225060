//! TLS from a certificate chain and a private key in PEM files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use tokio_rustls::TlsAcceptor;

/// How often the files are looked at: often enough for a person who waits, and nothing beside the life of a certificate.
const RELOAD_EVERY: Duration = Duration::from_secs(10);

/// Names of protocols in a TLS handshake (ALPN).
pub(crate) const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

/// Why TLS cannot be set up; each names the file.
#[derive(Debug, Error)]
pub enum TlsError {
    /// The certificate file cannot be read, is no PEM or is empty.
    #[error("the TLS certificate {path} cannot be read: {why}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The key file cannot be read or is no PEM private key.
    #[error("the TLS key {path} cannot be read: {why}")]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Certificate and key do not belong together, or are of a kind that is not supported.
    #[error("the TLS certificate {certificate} and key {key} cannot be used together: {why}")]
    Pair {
        /// The certificate file.
        certificate: PathBuf,
        /// The key file.
        key: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// Reads certificate and key and checks that they fit.
///
/// # Errors
/// What is wrong and in which file.
pub fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    Ok(Reloading::read(certificate, key)?.acceptor)
}

/// Certificate and key that are read again when their files change: a certificate of 90 days is renewed without a restart.
/// Handshakes take the newest pair; connections keep what they began with.
pub struct Reloading {
    certificate: PathBuf,
    key: PathBuf,
    newest: Arc<Newest>,
    acceptor: TlsAcceptor,
}

#[derive(Debug)]
struct Newest(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Newest {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Reloading {
    /// Reads certificate and key and checks that they fit.
    ///
    /// # Errors
    /// What is wrong and in which file.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let newest = Arc::new(Newest(RwLock::new(Arc::new(read_pair(certificate, key)?))));
        let resolver: Arc<dyn ResolvesServerCert> = Arc::clone(&newest) as _;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|error| bad_pair(certificate, key, &error))?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = vec![HTTP1.to_vec()];
        Ok(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            newest,
            acceptor: TlsAcceptor::from(Arc::new(config)),
        })
    }

    /// Offers HTTP/2 as well, and prefers it. The listener must be one that speaks it: [`crate::http::serve`].
    #[must_use]
    pub fn with_http2(mut self) -> Self {
        let mut config = ServerConfig::clone(self.acceptor.config());
        config.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
        self.acceptor = TlsAcceptor::from(Arc::new(config));
        self
    }

    /// Takes handshakes with the newest pair.
    #[must_use]
    pub fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.clone()
    }

    /// Reads the files again; whether they hold another certificate. After an error the old pair stays in use. Blocks on the
    /// disk.
    ///
    /// # Errors
    /// What is wrong and in which file; also while files are being replaced, one after the other.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let pair = read_pair(&self.certificate, &self.key)?;
        let mut newest = self.newest.0.write().unwrap_or_else(PoisonError::into_inner);
        let changed = newest.cert != pair.cert;
        if changed {
            *newest = Arc::new(pair);
        }
        Ok(changed)
    }

    /// Looks at the files again and again for as long as the process runs. The content is compared, since a secret that is mounted
    /// in a cluster changes by a link.
    pub async fn watch(self) {
        let shared = Arc::new(self);
        let mut broken = false;
        loop {
            tokio::time::sleep(RELOAD_EVERY).await;
            let reading = Arc::clone(&shared);
            match tokio::task::spawn_blocking(move || reading.reload()).await {
                Ok(Ok(changed)) => {
                    broken = false;
                    if changed {
                        tracing::info!(certificate = %shared.certificate.display(), "TLS certificate replaced");
                    }
                }
                Ok(Err(error)) => {
                    // Once: it is looked at again soon, and the old pair works for now.
                    if !broken {
                        tracing::error!(%error, "the TLS files cannot be read again; the old certificate stays in use");
                    }
                    broken = true;
                }
                Err(_) => return,
            }
        }
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn read_pair(certificate: &Path, key: &Path) -> Result<CertifiedKey, TlsError> {
    let refuse = |why: String| TlsError::Certificate {
        path: certificate.to_owned(),
        why,
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|e| refuse(e.to_string()))?;
    if chain.is_empty() {
        return Err(refuse("it holds no certificate".to_owned()));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|e| TlsError::Key {
        path: key.to_owned(),
        why: e.to_string(),
    })?;
    let pair = |why: rustls::Error| bad_pair(certificate, key, &why);
    let certified = CertifiedKey::from_der(chain, private, &provider()).map_err(pair)?;
    certified.keys_match().map_err(pair)?;
    Ok(certified)
}

fn bad_pair(certificate: &Path, key: &Path, why: &rustls::Error) -> TlsError {
    TlsError::Pair {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        why: why.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_accepted_and_everything_else_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let made = rcgen::generate_simple_self_signed(vec!["school.example".to_owned()]).unwrap();
        let other = rcgen::generate_simple_self_signed(vec!["school.example".to_owned()]).unwrap();
        let certificate = file("cert.pem", &made.cert.pem());
        let key = file("key.pem", &made.signing_key.serialize_pem());
        let wrong_key = file("other.pem", &other.signing_key.serialize_pem());
        let empty = file("empty.pem", "");

        assert!(acceptor(&certificate, &key).is_ok());
        let reloading = Reloading::read(&certificate, &key).unwrap();
        assert!(matches!(reloading.reload(), Ok(false)));
        file("key.pem", &other.signing_key.serialize_pem());
        assert!(reloading.reload().is_err(), "only one of the files is new");
        file("cert.pem", &other.cert.pem());
        assert!(matches!(reloading.reload(), Ok(true)));
        assert!(matches!(reloading.reload(), Ok(false)));
        file("key.pem", &made.signing_key.serialize_pem());
        file("cert.pem", &made.cert.pem());
        assert!(matches!(
            acceptor(&certificate, &wrong_key),
            Err(TlsError::Pair { .. })
        ));
        assert!(matches!(
            acceptor(&empty, &key),
            Err(TlsError::Certificate { .. })
        ));
        assert!(matches!(
            acceptor(&certificate, &empty),
            Err(TlsError::Key { .. })
        ));
        assert!(matches!(
            acceptor(&folder.path().join("none"), &key),
            Err(TlsError::Certificate { .. })
        ));
    }
}
