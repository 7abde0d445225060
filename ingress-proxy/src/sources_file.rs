//! A file that says which game servers there are, for places without a name service: what is written there counts a second later.
//!
//! A file that cannot be read or understood changes nothing: whoever wrote it is told in the log, and nobody's game suffers.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::source::{Source, SourceError};

/// Bytes of it: as many servers as there may be, each on a line with the longest name that DNS allows.
const BYTES_MAX: u64 = 64 * 1024;
/// Begins what is for people only.
const COMMENT: char = '#';

/// The file, and what it said last.
#[derive(Debug)]
pub(crate) struct SourcesFile {
    path: PathBuf,
    text: String,
}

/// Why it is not followed.
#[derive(Debug, Error)]
pub enum SourcesFileError {
    /// It cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// Where it should be.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line says no server.
    #[error("{}, line {line}", path.display())]
    Line {
        /// Where it is.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: SourceError,
    },
}

impl SourcesFile {
    /// Reads it for the first time: itself, and what it says.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<Source>), SourcesFileError> {
        let text = read(path)?;
        let sources = parse(path, &text)?;
        let path = path.to_owned();
        Ok((Self { path, text }, sources))
    }

    /// What it says if that is something else than before. What is wrong is told once and not every second.
    pub(crate) fn news(&mut self) -> Result<Option<Vec<Source>>, SourcesFileError> {
        let text = read(&self.path)?;
        if text == self.text {
            return Ok(None);
        }
        self.text = text;
        parse(&self.path, &self.text).map(Some)
    }
}

fn read(path: &Path) -> Result<String, SourcesFileError> {
    let read = runtime::files::read(path, BYTES_MAX).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    read.map_err(|source| SourcesFileError::Read {
        path: path.to_owned(),
        source,
    })
}

/// One server or set a line, as in the flag; empty lines and those for people are left out.
fn parse(path: &Path, text: &str) -> Result<Vec<Source>, SourcesFileError> {
    let lines = text.lines().map(str::trim).zip(1..);
    let meant = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with(COMMENT));
    let source = |(text, line): (&str, usize)| {
        let named = text.parse().and_then(|source| match source {
            Source::All(_) => Err(SourceError::Nameless),
            Source::Service { .. } => Err(SourceError::Watched),
            Source::One { .. } | Source::Set(_) => Ok(source),
        });
        named.map_err(|source| SourcesFileError::Line {
            path: path.to_owned(),
            line,
            source,
        })
    };
    meant.map(source).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_told_once_and_what_is_wrong_as_well() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("servers");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        assert!(matches!(
            SourcesFile::open(&path),
            Err(SourcesFileError::Read { .. })
        ));
        write("# two\n\n game-0=10.0.0.7:1/2 \ngame-{}.game:3\n");
        let (mut file, sources) = SourcesFile::open(&path).unwrap();
        assert_eq!(
            sources,
            ["game-0=10.0.0.7:1/2", "game-{}.game:3"].map(|text| text.parse().unwrap())
        );
        assert!(file.news().unwrap().is_none());
        write("game-0=10.0.0.7:1\ngame:1");
        let refused = file.news().unwrap_err();
        assert!(
            matches!(
                refused,
                SourcesFileError::Line {
                    line: 2,
                    source: SourceError::Nameless,
                    ..
                }
            ),
            "{refused:?}"
        );
        assert!(file.news().unwrap().is_none(), "it was told");
        write("game-1=10.0.0.7:1");
        assert_eq!(
            file.news().unwrap(),
            Some(vec!["game-1=10.0.0.7:1".parse().unwrap()])
        );
    }
}
