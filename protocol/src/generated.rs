//! Writes what the front end is built on: `web/src/shared/proto/protocol.ts` (types, close codes, limits) and one JSON
//! fixture per message in `protocol/fixtures/`.
//!
//! The tests compare with the committed files; `UPDATE_GENERATED=1 cargo test -p protocol` rewrites them. Whether the
//! front end treats the messages well is tested in `web/test`, on the same fixtures.

mod fixtures;
mod typescript;

use std::fs;
use std::path::{Path, PathBuf};

/// Root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether this run writes the files instead of comparing them.
#[expect(
    clippy::disallowed_methods,
    reason = "a switch of this test, not configuration of a process"
)]
fn updating() -> bool {
    std::env::var_os("UPDATE_GENERATED").is_some()
}

/// Writes `content` when an update was asked for, otherwise says whether the committed file differs.
fn settle(path: &Path, content: &str) -> Result<(), String> {
    if updating() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        return Ok(());
    }
    match fs::read_to_string(path) {
        Ok(committed) if committed == content => Ok(()),
        Ok(_) => Err(format!("{} is stale", path.display())),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Says how to repair what [`settle`] found.
const REPAIR: &str = "run `UPDATE_GENERATED=1 cargo test -p protocol` and commit the result";
