//! E-mail addresses as sign-in names: one spelling for each, and the obvious mistakes refused.
//!
//! Whether an address exists is only known by writing to it; that comes with mail.

use thiserror::Error;

/// Bytes of an address, by RFC 5321 (path of 256 with its brackets).
const ADDRESS_BYTES_MAX: usize = 254;
/// Bytes before the `@`, by RFC 5321.
const LOCAL_BYTES_MAX: usize = 64;
/// Bytes of a label of the domain, by RFC 1035.
const LABEL_BYTES_MAX: usize = 63;

/// A trimmed, lower-case address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Email(String);

/// The text is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this is not an e-mail address; it looks like name@school.org")]
pub(crate) struct EmailError;

impl Email {
    /// Normalises and checks what a person typed.
    ///
    /// # Errors
    /// When it cannot be an address.
    pub(crate) fn parse(typed: &str) -> Result<Self, EmailError> {
        if typed.len() > 2 * ADDRESS_BYTES_MAX {
            return Err(EmailError);
        }
        let address = typed.trim().to_lowercase();
        let (local, domain) = address.split_once('@').ok_or(EmailError)?;
        let fine = address.len() <= ADDRESS_BYTES_MAX && local_is_fine(local) && domain_is_fine(domain);
        if fine { Ok(Self(address)) } else { Err(EmailError) }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn local_is_fine(local: &str) -> bool {
    (1..=LOCAL_BYTES_MAX).contains(&local.len())
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && local.chars().all(|c| {
            if c.is_ascii() {
                c.is_ascii_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c)
            } else {
                c.is_alphanumeric()
            }
        })
}

/// At least two labels: an address without a dot is far more often a slip than a mail server on the school's own network.
fn domain_is_fine(domain: &str) -> bool {
    domain.contains('.')
        && domain.split('.').all(|label| {
            (1..=LABEL_BYTES_MAX).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_for_each_address() {
        for (typed, stored) in [
            ("  Anna.Berg+quiz@Schule.DE ", "anna.berg+quiz@schule.de"),
            ("o'neill@st-mary.sch.uk", "o'neill@st-mary.sch.uk"),
            ("jörg@grundschule-köln.de", "jörg@grundschule-köln.de"),
        ] {
            assert_eq!(Email::parse(typed).unwrap().as_str(), stored);
        }
    }

    #[test]
    fn obvious_mistakes_are_refused() {
        let long_local = format!("{}@school.org", "a".repeat(65));
        let long_label = format!("a@{}.org", "b".repeat(64));
        let long = format!("a@{}org", "abcdefgh.".repeat(40));
        for typed in [
            "",
            "anna",
            "@school.org",
            "anna@",
            "anna@school",
            "an na@school.org",
            "anna@school..org",
            "anna@.school.org",
            "anna@-school.org",
            "anna@school-.org",
            "a@b@school.org",
            ".anna@school.org",
            "an..na@school.org",
            "anna\n@school.org",
            "<anna@school.org>",
            "anna@school.org,",
            "a\u{0}@school.org",
            &long_local,
            &long_label,
            &long,
        ] {
            assert_eq!(Email::parse(typed), Err(EmailError), "{typed:?}");
        }
    }
}
