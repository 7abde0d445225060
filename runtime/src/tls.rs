//! TLS from a certificate chain and a private key in PEM files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use tokio_rustls::TlsAcceptor;

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
    let pair = |why: rustls::Error| TlsError::Pair {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        why: why.to_string(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(pair)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(pair)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
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
