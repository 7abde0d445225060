//! TLS of the sockets and calls of a run.
//!
//! Every client is a phone that was never here before: nothing of an earlier session is used again, and each checks the servers'
//! certificate.

use std::fmt;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use thiserror::Error;

use super::link::LinkError;

/// Certificates that are believed.
#[derive(Clone)]
pub struct Trust(Arc<ClientConfig>);

/// Why certificates are refused.
#[derive(Debug, Error)]
pub enum TrustError {
    /// No such file, or no PEM.
    #[error("{} has no certificates in PEM", .path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// Not for checking others by.
    #[error("{} has a certificate that cannot be believed", .path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::Error,
    },
    /// No protocol version in common with the cryptography that is built in.
    #[error("TLS cannot be set up")]
    Setup(#[source] rustls::Error),
}

impl Trust {
    /// Believes the certificates of a PEM file, and what they signed.
    ///
    /// # Errors
    /// No such file, or nothing in it that can be believed.
    pub fn read(path: &Path) -> Result<Self, TrustError> {
        let pem = |source| TrustError::Pem {
            path: path.to_owned(),
            source,
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(path).map_err(pem)? {
            roots
                .add(certificate.map_err(pem)?)
                .map_err(|source| TrustError::Certificate {
                    path: path.to_owned(),
                    source,
                })?;
        }
        if roots.is_empty() {
            return Err(pem(rustls_pki_types::pem::Error::NoItemsFound));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TrustError::Setup)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(Self(Arc::new(config)))
    }

    fn begin(&self, host: &str) -> io::Result<ClientConnection> {
        let (name, _port) = host.rsplit_once(':').unwrap_or((host, ""));
        let name = ServerName::try_from(name.trim_matches(['[', ']']).to_owned())
            .map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        ClientConnection::new(Arc::clone(&self.0), name).map_err(broken)
    }

    /// A blocking stream to `host` over `stream`.
    ///
    /// # Errors
    /// The host's name is none.
    pub(super) fn over(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        Ok(StreamOwned::new(self.begin(host)?, stream))
    }

    /// A session with `host`, which holds at most `unsent_bytes_max` bytes that cannot be sent yet.
    ///
    /// # Errors
    /// The host's name is none.
    pub(super) fn session(&self, host: &str, unsent_bytes_max: usize) -> io::Result<Session> {
        let mut session = self.begin(host)?;
        session.set_buffer_limit(Some(unsent_bytes_max));
        Ok(Session(Box::new(session)))
    }
}

impl PartialEq for Trust {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Trust {}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trust")
    }
}

/// A session over a socket that somebody else reads and that never waits.
#[derive(Debug)]
pub(super) struct Session(Box<ClientConnection>);

impl Session {
    /// Takes bytes to send, and sends what `socket` takes now; how many were taken. The handshake goes before them.
    ///
    /// # Errors
    /// The socket broke.
    pub(super) fn write(&mut self, bytes: &[u8], socket: &mut dyn io::Write) -> io::Result<usize> {
        let taken = self.0.writer().write(bytes)?;
        self.flush(socket)?;
        Ok(taken)
    }

    /// Sends what `socket` takes now.
    ///
    /// # Errors
    /// The socket broke.
    pub(super) fn flush(&mut self, socket: &mut dyn io::Write) -> io::Result<()> {
        while self.0.wants_write() {
            match self.0.write_tls(socket) {
                Ok(_sent) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Takes what was read from `socket`, hands on what it says, and answers what belongs to TLS itself; whether there may be more.
    ///
    /// # Errors
    /// What was read is not from the server that is meant, or what `sink` refused.
    pub(super) fn read(
        &mut self,
        mut bytes: &[u8],
        socket: &mut dyn io::Write,
        mut sink: impl FnMut(&[u8]) -> Result<(), LinkError>,
    ) -> Result<Told, LinkError> {
        let mut told = Told::More;
        while !bytes.is_empty() && told == Told::More {
            self.0.read_tls(&mut bytes).map_err(LinkError::Broken)?;
            let state = match self.0.process_new_packets() {
                Ok(state) => state,
                Err(why) => {
                    // The server is told why, if it still listens.
                    let _unheard = self.flush(socket);
                    return Err(LinkError::Broken(broken(why)));
                }
            };
            let mut left = state.plaintext_bytes_to_read();
            if state.peer_has_closed() {
                told = Told::End;
            }
            while left > 0 {
                let mut reader = self.0.reader();
                let chunk = io::BufRead::fill_buf(&mut reader).map_err(LinkError::Broken)?;
                let length = chunk.len();
                sink(chunk)?;
                io::BufRead::consume(&mut reader, length);
                left = left.saturating_sub(length.max(1));
            }
        }
        self.flush(socket).map_err(LinkError::Broken)?;
        Ok(told)
    }
}

/// Whether a server has more to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// It may.
    More,
    /// It ended the stream.
    End,
}

fn broken(why: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
