//! Which mail server is meant, as the options of a process say.

use std::path::{Path, PathBuf};

use runtime::files;
use thiserror::Error;
use url::Url;

use super::{SmtpError, SmtpMailer};

/// Bytes of a file with an address at most.
const FILE_BYTES_MAX: u64 = 4 * 1024;

/// The options of every process that writes to teachers. Not `Debug`: the address may hold a password.
#[derive(Clone, Copy)]
pub struct MailOptions<'a> {
    /// `--smtp`.
    pub smtp: Option<&'a str>,
    /// `--smtp-file`.
    pub smtp_file: Option<&'a Path>,
    /// `--mail-from`.
    pub mail_from: Option<&'a str>,
}

/// Why no letters can be sent. Never repeats the address of the server.
#[derive(Debug, Error)]
pub enum MailOptionsError {
    /// It is no address.
    #[error("{flag} {why}")]
    Unusable {
        /// The flag.
        flag: &'static str,
        /// What is wrong with it.
        why: SmtpError,
    },
    /// Arguments and environment are seen by others.
    #[error(
        "--smtp holds a password, which others can see: put the URL into a file, and name it by --smtp-file"
    )]
    Password,
    /// The file cannot be read.
    #[error("--smtp-file {path} cannot be read: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
}

impl MailOptions<'_> {
    /// The mail server that is meant, if any.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read(self) -> Result<Option<SmtpMailer>, MailOptionsError> {
        let (flag, url) = match (self.smtp, self.smtp_file) {
            (_, Some(file)) => ("--smtp-file", read_file(file)?),
            (Some(url), None) if has_password(url) => return Err(MailOptionsError::Password),
            (Some(url), None) => ("--smtp", url.to_owned()),
            (None, None) => return Ok(None),
        };
        let sender = self.mail_from.unwrap_or_default();
        let mailer = SmtpMailer::parse(&url, sender).map_err(|why| MailOptionsError::Unusable {
            flag: match why {
                SmtpError::Url => flag,
                SmtpError::Sender => "--mail-from",
            },
            why,
        })?;
        Ok(Some(mailer))
    }
}

fn read_file(path: &Path) -> Result<String, MailOptionsError> {
    let text = files::read(path, FILE_BYTES_MAX).map_err(|why| MailOptionsError::Unreadable {
        path: path.to_owned(),
        why,
    })?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Whether the URL holds a password, which arguments show to others.
fn has_password(url: &str) -> bool {
    Url::parse(url.trim()).is_ok_and(|url| url.password().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(smtp: Option<&str>, file: Option<&Path>, from: &str) -> Result<Option<String>, String> {
        let options = MailOptions {
            smtp,
            smtp_file: file,
            mail_from: Some(from),
        };
        let mailer = options.read().map_err(|why| why.to_string())?;
        Ok(mailer.map(|mailer| mailer.to_string()))
    }

    #[test]
    fn a_password_comes_from_a_file_and_is_never_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let (file, missing) = (folder.path().join("smtp"), folder.path().join("none"));
        let secret = "smtp://user:secret@mail.school.org";
        let from = "homeroom@school.org";
        std::fs::write(&file, format!("{secret}\n")).unwrap();
        let host = Ok(Some("mail.school.org".to_owned()));
        assert_eq!(read(None, None, from), Ok(None));
        assert_eq!(read(Some("smtp://user@mail.school.org"), None, from), host);
        assert_eq!(read(None, Some(&file), from), host);
        std::fs::write(&file, "http://user:secret@mail.school.org").unwrap();
        for (smtp, file, from, named) in [
            (Some(secret), None, from, "--smtp holds a password"),
            (Some("mail.school.org"), None, from, "--smtp must be"),
            (None, Some(file.as_path()), from, "--smtp-file must be"),
            (None, Some(missing.as_path()), from, "--smtp-file"),
            (
                Some("smtps://mail.school.org"),
                None,
                "nobody",
                "--mail-from must be",
            ),
        ] {
            let why = read(smtp, file, from).unwrap_err();
            assert!(why.starts_with(named) && !why.contains("secret"), "{why}");
        }
    }
}
