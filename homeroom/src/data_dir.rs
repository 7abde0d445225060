//! The data folder: created private, and locked, so that two processes never share one store.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The lock's file name.
const LOCK: &str = "lock";

/// Why the folder cannot be used.
#[derive(Debug, Error)]
pub(crate) enum DataDirError {
    /// It cannot be created or written to.
    #[error("the data folder {path} cannot be used: {why}")]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// Another process has it.
    #[error(
        "the data folder {path} is in use by another homeroom process; stop it or choose another --data-dir"
    )]
    InUse {
        /// The folder.
        path: PathBuf,
    },
}

/// A data folder that this process alone uses; the lock goes with the process, also when it is killed.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Creates the folder if need be, for this user only, and locks it.
    ///
    /// # Errors
    /// When it cannot be used, or another process uses it.
    pub(crate) fn open(path: &Path) -> Result<Self, DataDirError> {
        let unusable = |why| DataDirError::Unusable {
            path: path.to_owned(),
            why,
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(unusable)?;
        let path = path.canonicalize().map_err(unusable)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK))
            .map_err(unusable)?;
        lock.set_permissions(std::fs::Permissions::from_mode(0o600))
            .map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(DataDirError::InUse { path }),
            Err(TryLockError::Error(why)) => Err(unusable(why)),
        }
    }

    /// Removes everything in it but the lock.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub(crate) fn empty(&self) -> Result<(), DataDirError> {
        let unusable = |why| DataDirError::Unusable {
            path: self.path.clone(),
            why,
        };
        for entry in std::fs::read_dir(&self.path).map_err(unusable)? {
            let entry = entry.map_err(unusable)?;
            if entry.file_name() == LOCK {
                continue;
            }
            let folder = entry.file_type().map_err(unusable)?.is_dir();
            let remove = if folder {
                std::fs::remove_dir_all
            } else {
                std::fs::remove_file
            };
            remove(entry.path()).map_err(unusable)?;
        }
        Ok(())
    }

    /// The folder's absolute path.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time_and_a_file_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        let held = DataDir::open(&path).unwrap();
        assert!(matches!(DataDir::open(&path), Err(DataDirError::InUse { .. })));
        drop(held);
        assert!(DataDir::open(&path).is_ok());

        let emptied = DataDir::open(&path).unwrap();
        std::fs::create_dir(path.join("sub")).unwrap();
        std::fs::write(path.join("sub/file"), "").unwrap();
        std::fs::write(path.join("homeroom.db"), "").unwrap();
        emptied.empty().unwrap();
        let left: Vec<_> = std::fs::read_dir(&path)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(left, [LOCK]);

        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(DataDir::open(&file), Err(DataDirError::Unusable { .. })));
    }
}
