//! `game-server timeline CODE`: asks the admin listener of a server that runs.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::rt::TokioIo;
use protocol::rest::Problem;
use protocol::timeline::GameTimeline;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::cli::Timeline;

/// Longest wait: a server asks all others first.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Bytes of an answer at most: a game of 100 questions has 0.1 MB.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Prints what happened to a live game.
///
/// # Errors
/// When no server can be asked, none has the game, or standard output is closed.
pub(crate) async fn timeline(asked: &Timeline) -> anyhow::Result<()> {
    let told = timeout(ANSWER_MAX, ask(asked))
        .await
        .with_context(|| format!("{} (--admin) does not answer", asked.admin))??;
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &told)?;
    writeln!(out)?;
    Ok(())
}

async fn ask(asked: &Timeline) -> anyhow::Result<GameTimeline> {
    let Timeline { code, admin } = asked;
    let stream = TcpStream::connect(admin)
        .await
        .with_context(|| format!("connect to {admin} (--admin), a game server's --admin-listen"))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move {
        // The request's own answer says what went wrong.
        let _broken = connection.await;
    });
    let request = Request::get(format!("/timeline?g={code}"))
        .header(http::header::HOST, admin)
        .body(Empty::<Bytes>::new())?;
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
    let body = body.map_err(|error| anyhow!(error))?.to_bytes();
    if status.is_success() {
        return serde_json::from_slice(&body).context("the answer is no timeline");
    }
    match serde_json::from_slice::<Problem>(&body) {
        Ok(problem) => bail!("{}", problem.detail),
        Err(_) => bail!("{admin} (--admin) answered {status}; is it a game server's admin listener?"),
    }
}
