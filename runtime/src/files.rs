//! Reading and writing the small files that a process is configured with.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a whole file of at most `bytes_max`. Blocks on the disk; meant for the start of a process.
///
/// # Errors
/// When it cannot be read, or is larger.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "bounded by the take")]
    File::open(path)?
        .take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|found| found <= bytes_max) {
        Ok(bytes)
    } else {
        Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {bytes_max} bytes"),
        ))
    }
}

/// Writes a file that others read: they see the old content or the new, never a part. Blocks on the disk.
///
/// # Errors
/// When the folder cannot be written to.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = std::fs::write(&beside, content).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // It may never have been there; the first error is the one to tell.
        let _removed = std::fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert_eq!(read(&path, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn replacing_leaves_nothing_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        replace(&path, b"old").unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(read(&path, 3).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let folder_as_file = folder.path().join("sub");
        std::fs::create_dir(&folder_as_file).unwrap();
        assert!(replace(&folder_as_file, b"x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
