//! Bot students: join over a real WebSocket, think a while, tap something, come to the end.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use protocol::ids::GameCode;
use protocol::player::{PlayerCommand, PlayerFrame, QuestionView};
use protocol::quiz::QuestionKind;
use rand::Rng;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::tungstenite::Message;

/// The last bot has joined after this time; a class trickles in.
const JOIN_WITHIN: Duration = Duration::from_secs(8);
/// Shortest and longest time a bot thinks, in milliseconds.
const THINK_MS: std::ops::Range<u64> = 1_200..9_000;
/// One bot in so many does not answer.
const SILENT_ONE_IN: u32 = 20;
/// A bot gives up when the server has said nothing for this long; pings come every 15 s.
const SILENCE: Duration = Duration::from_secs(60);

const NAMES: [&str; 30] = [
    "Ada", "Amir", "Beatriz", "Björn", "Chen", "Chloé", "Daniela", "Ebru", "Emeka", "Fatima", "Felix",
    "Greta", "Hana", "Igor", "Ines", "Jamal", "Joon", "Kaia", "Lena", "Luca", "Maya", "Noah", "Olivia",
    "Priya", "Rania", "Sofía", "Tariq", "Uma", "Yuki", "Zoë",
];

/// Plays one game to its end. A lost connection ends the bot; students come and go.
pub(super) async fn play(server: SocketAddr, code: GameCode, number: u32) {
    if let Err(error) = class(server, code, number).await {
        tracing::debug!(number, error = format!("{error:#}"), "a bot went home");
    }
}

async fn class(server: SocketAddr, code: GameCode, number: u32) -> anyhow::Result<()> {
    tokio::time::sleep(JOIN_WITHIN.mul_f64(chance())).await;
    let url = format!("ws://{server}/game/watch?g={code}");
    let (mut socket, _answer) = tokio_tungstenite::connect_async(url).await?;
    let index = usize::try_from(number)?;
    let name = NAMES
        .get(index)
        .map_or_else(|| format!("Student {}", number + 1), |name| (*name).to_owned());
    socket.send(frame(&PlayerCommand::Join { name })?).await?;

    let mut answer: Option<(Instant, PlayerCommand)> = None;
    loop {
        let due = answer
            .as_ref()
            .map_or_else(|| Instant::now() + SILENCE, |(due, _)| *due);
        tokio::select! {
            () = sleep_until(due) => match answer.take() {
                Some((_, command)) => socket.send(frame(&command)?).await?,
                None => return Ok(()),
            },
            received = socket.next() => match received.transpose()? {
                Some(Message::Text(text)) => {
                    if let Some(next) = react(&text, answer.take()) {
                        answer = next;
                    } else {
                        return Ok(());
                    }
                }
                Some(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {}
                Some(Message::Close(_)) | None => return Ok(()),
            }
        }
    }
}

type Planned = Option<(Instant, PlayerCommand)>;

/// What a bot plans after a frame; none when the game is over for it. A frame that it does not know changes nothing.
fn react(text: &str, planned: Planned) -> Option<Planned> {
    match serde_json::from_str(text) {
        Ok(PlayerFrame::Question { question, .. }) => Some(plan(&question)),
        Ok(PlayerFrame::Welcome { state, .. } | PlayerFrame::Sync { state }) => {
            let open = state.answered.is_none() && state.outcome.is_none();
            Some(state.question.as_ref().filter(|_| open).and_then(plan))
        }
        Ok(PlayerFrame::Result { .. } | PlayerFrame::Over { .. }) => Some(None),
        Ok(PlayerFrame::Bye { .. }) => None,
        Ok(
            PlayerFrame::Ack { .. }
            | PlayerFrame::Renamed { .. }
            | PlayerFrame::Pong { .. }
            | PlayerFrame::Error { .. },
        )
        | Err(_) => Some(planned),
    }
}

fn plan(question: &QuestionView) -> Planned {
    let choices = u8::try_from(question.choices.len()).ok().filter(|n| *n > 0)?;
    let mut dice = dice();
    if dice.random_ratio(1, SILENT_ONE_IN) {
        return None;
    }
    let choice = dice.random_range(0..choices);
    let (choice, choices) = match question.kind {
        QuestionKind::Single | QuestionKind::TrueFalse => (Some(choice), None),
        QuestionKind::Multiple => (None, Some(vec![choice])),
    };
    let command = PlayerCommand::Answer {
        q: question.q,
        choice,
        choices,
    };
    Some((
        Instant::now() + Duration::from_millis(dice.random_range(THINK_MS)),
        command,
    ))
}

fn frame(command: &PlayerCommand) -> serde_json::Result<Message> {
    serde_json::to_string(command).map(Message::text)
}

fn chance() -> f64 {
    dice().random()
}

#[expect(
    clippy::disallowed_methods,
    reason = "bots stand for people, and people are no part of the rules"
)]
fn dice() -> impl Rng {
    rand::rng()
}
