//! A new password for who has forgotten theirs, by a letter.

use std::sync::Arc;

use axum::extract::State;
use protocol::rest::{ResetPasswordRequest, ResetRequest};
use runtime::metrics::{Counter, inc};

use crate::admission::Class;
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
use crate::reset::{self, ResetToken};
use crate::service::{Api, Mail};

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

/// `POST /auth/reset-request`. Whether there is such an account shows neither in the answer nor in the time that it takes.
async fn request(
    State(api): State<Api>,
    _within: SignIn,
    body::Json(asked): body::Json<ResetRequest, ACCOUNT_BODY_BYTES_MAX>,
) -> Result<Accepted, Refusal> {
    let mail = api.mail.clone().ok_or(Refusal::MailOff)?;
    let turn = Arc::clone(&mail.turns)
        .try_acquire_owned()
        .map_err(|_| Refusal::Busy)?;
    tokio::spawn(async move {
        let _turn = turn;
        write_to(&api, &mail, &asked.email).await;
    });
    Ok(Accepted)
}

async fn write_to(api: &Api, mail: &Mail, typed: &str) {
    let Ok(email) = Email::parse(typed) else { return };
    let told = async {
        let Some((account, _)) = api.store.account_by_email(email.as_str()).await? else {
            return Ok(None);
        };
        let at = (mail.site.as_str(), api.clock.now_ms());
        let link = reset::link(&*api.store, account.id, at, RESETS_MAX).await?;
        Ok::<_, reset::ResetLinkError>(link.map(|link| (account, link)))
    };
    let (account, link) = match told.await {
        Ok(Some(told)) => told,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "no link for a new password was made"
            );
            return;
        }
    };
    let letter = Letter {
        to: account.email,
        subject: "Your new Homeroom password".to_owned(),
        text: format!(
            "Hello {},\n\nsomebody, probably you, asked for a new password. Choose one within an hour:\n\n{link}\n\n\
             If it was not you, there is nothing to do: your password stays as it is.\n",
            account.name
        ),
    };
    match mail.mailer.send(letter).await {
        Ok(()) => inc(Counter::ApiLettersSentTotal),
        Err(error) => {
            inc(Counter::ApiLettersFailedTotal);
            tracing::warn!(teacher = %account.id, error = &error as &dyn std::error::Error, "a letter was not sent");
        }
    }
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
