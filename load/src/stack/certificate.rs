//! The certificate that the proxies of a run show.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use super::StackError;
use crate::client::Trust;

/// Files of a certificate, made for one run.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    /// The certificate in PEM; clients that believe it believe nothing else.
    pub(super) chain: PathBuf,
    /// Its private key in PEM.
    pub(super) key: PathBuf,
    /// The same for clients of this process.
    pub(super) trust: Trust,
}

impl Certificate {
    /// Makes one for servers at `ip`, with an ECDSA key on P-256 as public authorities give, and its files in `directory`.
    ///
    /// # Errors
    /// The files cannot be written.
    pub(super) fn make(directory: &Path, ip: Ipv4Addr) -> Result<Self, StackError> {
        let made = rcgen::generate_simple_self_signed(vec![ip.to_string()])
            .map_err(|why| StackError::Start(io::Error::other(why)))?;
        let (chain, key) = (directory.join("tls.pem"), directory.join("tls-key.pem"));
        fs::write(&chain, made.cert.pem()).map_err(StackError::Start)?;
        fs::write(&key, made.signing_key.serialize_pem()).map_err(StackError::Start)?;
        let trust = Trust::read(&chain).map_err(|why| StackError::Start(io::Error::other(why)))?;
        Ok(Self { chain, key, trust })
    }
}
