//! Letters to teachers, by SMTP.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use thiserror::Error;
use url::Url;

mod options;

pub use options::{MailOptions, MailOptionsError};

/// Time for one letter to be taken by the mail server.
pub(crate) const SEND_MAX: Duration = Duration::from_secs(30);

/// A letter of plain text. Not `Debug`: it may hold a link that lets its reader in.
pub struct Letter {
    /// Address of the reader.
    pub to: String,
    /// Subject.
    pub subject: String,
    /// The text.
    pub text: String,
}

/// Why a letter was not sent. Says nothing of what is in it.
#[derive(Debug, Error)]
pub enum MailError {
    /// No letter can be made of it: addresses that one signs in with need not all be mail's.
    #[error("the letter cannot be addressed")]
    Letter(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The mail server did not take it.
    #[error("the mail server did not take the letter")]
    Server(#[source] lettre::transport::smtp::Error),
    /// The mail server did not take it in time.
    #[error("the mail server did not take the letter in time")]
    Silent,
}

/// Sends letters.
#[async_trait]
pub trait Mailer: Send + Sync + 'static {
    /// Hands a letter over to the mail server.
    async fn send(&self, letter: Letter) -> Result<(), MailError>;
}

/// Why a mail server cannot be used. Never repeats the address.
#[derive(Debug, Error)]
pub enum SmtpError {
    /// It is no such address.
    #[error(
        "must be smtps://host, or smtp://host[:port], with user and tls=required or tls=none where they are needed"
    )]
    Url,
    /// The sender is no mail address.
    #[error("must be a mail address, such as homeroom@school.org or Homeroom <homeroom@school.org>")]
    Sender,
}

/// A mail server.
pub struct SmtpMailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    sender: Mailbox,
    /// For the log.
    host: String,
}

impl SmtpMailer {
    /// Reads `smtps://…`, or `smtp://…`, which must be encrypted by STARTTLS unless the URL says `tls=none` or the server is on this
    /// machine.
    ///
    /// # Errors
    /// When it is something else, or the sender is no address.
    pub fn parse(url: &str, sender: &str) -> Result<Self, SmtpError> {
        let mut url = Url::parse(url.trim()).map_err(|_| SmtpError::Url)?;
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or(SmtpError::Url)?
            .to_owned();
        let asked = url.query().map(str::to_owned);
        let here = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]");
        match (url.scheme(), asked.as_deref()) {
            ("smtps", None) => {}
            ("smtp", Some("tls=none")) => url.set_query(None),
            ("smtp", Some("tls=required")) => {}
            ("smtp", None) if here => {}
            ("smtp", None) => url.set_query(Some("tls=required")),
            _ => return Err(SmtpError::Url),
        }
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.as_str())
            .map_err(|_| SmtpError::Url)?
            .timeout(Some(SEND_MAX))
            .build();
        Ok(Self {
            transport,
            sender: sender.parse().map_err(|_| SmtpError::Sender)?,
            host,
        })
    }
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, letter: Letter) -> Result<(), MailError> {
        let to: Mailbox = letter
            .to
            .parse()
            .map_err(|error| MailError::Letter(Box::new(error)))?;
        let message = Message::builder()
            .from(self.sender.clone())
            .to(to)
            .subject(letter.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(letter.text)
            .map_err(|error| MailError::Letter(Box::new(error)))?;
        // The transport's own limit is one for each step.
        match tokio::time::timeout(SEND_MAX, self.transport.send(message)).await {
            Ok(taken) => taken.map(drop).map_err(MailError::Server),
            Err(_) => Err(MailError::Silent),
        }
    }
}

impl fmt::Display for SmtpMailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_never_repeated() {
        let sender = "Homeroom <homeroom@school.org>";
        for good in [
            "smtps://mail.school.org",
            "smtp://user:p%40ss@mail.school.org:2525",
            "smtp://mail.school.org?tls=required",
            "smtp://mail.school.org?tls=none",
            "smtp://localhost:25",
            " smtp://127.0.0.1:1025\n",
        ] {
            let read = SmtpMailer::parse(good, sender);
            assert!(read.is_ok(), "{good}");
        }
        for bad in [
            "",
            "mail.school.org",
            "http://user:secret@mail.school.org",
            "smtp://",
            "smtp://user:secret@a.org?tls=maybe",
            "smtps://user:secret@a.org?tls=none",
            "smtp://a?x=1",
        ] {
            let Err(error) = SmtpMailer::parse(bad, sender) else {
                panic!("{bad}")
            };
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        assert!(matches!(
            SmtpMailer::parse("smtps://a.org", "nobody"),
            Err(SmtpError::Sender)
        ));
    }
}
