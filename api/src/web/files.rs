//! Where the files of the front end come from: the binary, or a test's own set.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use super::Encoding;
use crate::hex;

/// A file and the hash of its bytes.
#[derive(Clone)]
pub(super) struct Stored {
    pub(super) bytes: Cow<'static, [u8]>,
    hash: [u8; 32],
}

impl Stored {
    pub(super) fn new(bytes: Cow<'static, [u8]>) -> Self {
        Self {
            hash: Sha256::digest(&bytes).into(),
            bytes,
        }
    }

    /// A strong entity tag: other codings of the same file are other bytes, and have their own hash; the ending only helps the
    /// reader of a trace.
    pub(super) fn etag(&self, encoding: Encoding) -> String {
        let short = self.hash.get(..12).unwrap_or(&self.hash);
        format!(
            "\"{}{}\"",
            hex::encode(short),
            encoding.suffix().unwrap_or_default()
        )
    }
}

/// A set of files.
pub(super) trait Files: Send + Sync + 'static {
    fn get(&self, name: &str) -> Option<Stored>;
}

// `struct Dist`, written by build.rs: the folder depends on whether the front end was built.
include!(concat!(env!("OUT_DIR"), "/dist.rs"));

/// The files in the binary.
pub(super) struct Embedded;

impl Files for Embedded {
    fn get(&self, name: &str) -> Option<Stored> {
        let file = Dist::get(name)?;
        Some(Stored {
            bytes: file.data,
            hash: file.metadata.sha256_hash(),
        })
    }
}

/// Media type by file ending; unknown ones are bytes, which a browser only saves.
pub(super) fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "webp" => "image/webp",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
