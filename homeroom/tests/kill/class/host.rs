//! The teacher: moves the game on, and says when a kill may strike.

use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

use super::{PLAYERS, Room, SHOWN, Socket, hear};
use crate::Moment;

/// Plays until the game is closed.
pub(super) async fn play(room: Room, token: String, kills: Vec<Moment>, strike: mpsc::Sender<Moment>) {
    let mut kills = kills;
    loop {
        let mut socket = room.connect().await;
        let first = json!({ "t": "host", "token": token });
        if socket.send(Message::text(first.to_string())).await.is_err() {
            continue;
        }
        while let Ok(frame) = hear(&mut socket).await {
            if frame["t"] == "bye" && frame["reason"] == "ended" {
                return;
            }
            if let Some(moment) = moment(&frame) {
                if kills.first() == Some(&moment) {
                    if moment == Moment::Lobby {
                        all_here(&room).await;
                    }
                    kills.remove(0);
                    strike.send(moment).await.unwrap();
                    // Struck in this very moment: it is not moved on before.
                    while hear(&mut socket).await.is_ok() {}
                    break;
                }
                move_on(&room, &mut socket, moment).await;
            }
        }
    }
}

/// Where the game stands, when the frame says so.
fn moment(frame: &Value) -> Option<Moment> {
    let q = |value: &Value| u16::try_from(value["q"].as_u64().unwrap()).unwrap();
    match frame["t"].as_str().unwrap() {
        "sync" => {
            let state = &frame["state"];
            match state["phase"].as_str().unwrap() {
                "lobby" => Some(Moment::Lobby),
                "question" => Some(Moment::Question(q(&state["question"]))),
                "results" => Some(Moment::Results(q(&state["question"]))),
                "podium" => Some(Moment::Podium),
                _ => None,
            }
        }
        "question" => Some(Moment::Question(q(frame))),
        "reveal" => Some(Moment::Results(q(frame))),
        "over" => Some(Moment::Podium),
        "error" => panic!("{frame}"),
        _ => None,
    }
}

async fn move_on(room: &Room, socket: &mut Socket, moment: Moment) {
    let command = match moment {
        Moment::Lobby => {
            all_here(room).await;
            json!({ "t": "start" })
        }
        Moment::Question(_) => return,
        Moment::Results(q) => {
            tokio::time::sleep(SHOWN).await;
            json!({ "t": "next", "q": q })
        }
        Moment::Podium => {
            tokio::time::sleep(SHOWN).await;
            json!({ "t": "finish" })
        }
    };
    // An error shows as a closed socket next.
    let _sent = socket.send(Message::text(command.to_string())).await;
}

async fn all_here(room: &Room) {
    let mut joined = room.joined.subscribe();
    joined.wait_for(|joined| *joined == PLAYERS).await.unwrap();
}
