//! A new password for who has forgotten theirs, by a letter.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use protocol::rest::{ResetPasswordRequest, ResetRequest};
use runtime::metrics::{Counter, inc};

use crate::admission::{Admitted, Class, Shed};
use crate::answer::{Accepted, NoContent};
use crate::body;
use crate::config::{ACCOUNT_BODY_BYTES_MAX, RESETS_MAX};
use crate::email::Email;
use crate::extract::{Admittance, SignIn};
use crate::mail::Letter;
use crate::openapi::Verb::Post;
use crate::openapi::{About, Routes};
use crate::password::PASSWORD_CHARS;
use crate::problem::{Kind, Refusal};
use crate::reset::{self, Link, ResetToken};
use crate::service::{Api, Mail};
use crate::store::Account;

/// Attempts to take a link back whose letter was not sent.
const TAKE_BACK_TRIES: u32 = 10;
/// Time between two of them.
const TAKE_BACK_EVERY: Duration = Duration::from_millis(500);

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .add(
            Some(Class::Entry),
            (Post, "/auth/reset-request"),
            request,
            &About::new(
                "request_reset",
                "Sends a link for a new password to an address, if there is an account with it; the answer does not tell.",
                &[Kind::MailOff],
            ),
        )
        .add(
            Some(Class::Entry),
            (Post, "/auth/reset"),
            reset,
            &About::new(
                "reset_password",
                "Sets a new password by the token of a link, once, and ends every sign-in of the account.",
                &[Kind::BadPassword, Kind::ResetEnded],
            ),
        )
}

/// `POST /auth/reset-request`. Whether there is such an account shows neither in the answer nor in the time that it takes, nor does whether the
/// mail server takes letters now: only those to accounts wait for it.
async fn request(
    State(api): State<Api>,
    _within: SignIn,
    Admittance(admitted): Admittance,
    body::Json(asked): body::Json<ResetRequest, ACCOUNT_BODY_BYTES_MAX>,
) -> Result<Accepted, Refusal> {
    let mail = api.mail.clone().ok_or(Refusal::MailOff)?;
    match Arc::clone(&mail.places).try_acquire_owned() {
        Ok(place) => {
            tokio::spawn(async move {
                let _place = place;
                write_to(&api, &mail, admitted, &asked.email).await;
            });
        }
        Err(_) => {
            inc(Counter::ApiLettersDroppedTotal);
            tracing::warn!("a request for a letter was dropped: too many wait for the mail server");
        }
    }
    Ok(Accepted)
}

async fn write_to(api: &Api, mail: &Mail, admitted: Admitted, typed: &str) {
    let made = link_for(api, &mail.site, typed).await;
    // Waiting for the mail server needs no database.
    drop(admitted);
    let (account, link) = match made {
        Ok(Some(made)) => made,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "no link for a new password was made"
            );
            return;
        }
    };
    // Nothing in it is of the account's choosing, as nobody has shown that the address is theirs: a name could be an advertisement.
    let letter = Letter {
        to: account.email,
        subject: "Your new Homeroom password".to_owned(),
        text: format!(
            "Hello,\n\nsomebody, probably you, asked for a new password. Choose one within an hour:\n\n{}\n\n\
             If it was not you, there is nothing to do: your password stays as it is.\n",
            link.url
        ),
    };
    let Ok(_turn) = mail.turns.acquire().await else {
        return;
    };
    match mail.mailer.send(letter).await {
        Ok(()) => inc(Counter::ApiLettersSentTotal),
        Err(error) => {
            inc(Counter::ApiLettersFailedTotal);
            tracing::warn!(teacher = %account.id, error = &error as &dyn std::error::Error, "a letter was not sent");
            take_back(api, &link).await;
        }
    }
}

/// The account with this address, if there is one, and a link for it, if it has not as many as it may.
async fn link_for(
    api: &Api,
    site: &str,
    typed: &str,
) -> Result<Option<(Account, Link)>, reset::ResetLinkError> {
    let Ok(email) = Email::parse(typed) else {
        return Ok(None);
    };
    let Some((account, _)) = api.store.account_by_email(email.as_str()).await? else {
        return Ok(None);
    };
    let at = (site, api.clock.now_ms());
    let link = reset::link(&*api.store, account.id, at, RESETS_MAX).await?;
    Ok(link.map(|link| (account, link)))
}

/// A link that nobody got must not count among those that an account may have. If there is no room for that in some seconds, it ends by
/// itself.
async fn take_back(api: &Api, link: &Link) {
    for _ in 0..TAKE_BACK_TRIES {
        let taken_back = match api.admission.acquire(Class::Entry).await {
            Ok(_permit) => api.store.delete_reset(&link.token_hash).await.is_ok(),
            Err(Shed) => false,
        };
        if taken_back {
            return;
        }
        tokio::time::sleep(TAKE_BACK_EVERY).await;
    }
    tracing::debug!("the link of a letter that was not sent stays until it ends");
}

/// `POST /auth/reset`. Access tokens live on for up to 15 minutes.
async fn reset(
    State(api): State<Api>,
    _within: SignIn,
    Admittance(admitted): Admittance,
    body::Json(asked): body::Json<ResetPasswordRequest, ACCOUNT_BODY_BYTES_MAX>,
) -> Result<NoContent, Refusal> {
    let chars = asked.password.chars().count();
    if !PASSWORD_CHARS.contains(&chars) {
        return Err(Refusal::BadPassword(chars));
    }
    let token = ResetToken::parse(asked.token).ok_or(Refusal::ResetEnded)?;
    // Asked before hashing, which is dear; the change has the last word.
    let known = api.store.reset_of(&token.hash(), api.clock.now_ms()).await?;
    known.ok_or(Refusal::ResetEnded)?;
    let hash = admitted.pause(api.hasher.hash(asked.password)).await??;
    let done = api
        .store
        .reset_password(&token.hash(), api.clock.now_ms(), &hash)
        .await?;
    let teacher = done.ok_or(Refusal::ResetEnded)?;
    tracing::info!(%teacher, "a password was set by a link");
    Ok(NoContent)
}
