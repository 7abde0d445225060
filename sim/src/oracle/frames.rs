//! Judging what a server says, at the moment it says it, by what the store has at that moment.

use std::collections::BTreeMap;

use serde_json::Value;

use super::invariant::Invariant;
use super::saved::{Saved, Transition};
use crate::wire::LineId;

type Broken = (Invariant, String);

/// The public sequence as each socket has heard it.
#[derive(Debug, Default)]
pub(super) struct Sequences(BTreeMap<LineId, u64>);

impl Sequences {
    pub(super) fn over(&mut self, line: LineId) {
        self.0.remove(&line);
    }

    /// Every number once, or a state that covers it.
    pub(super) fn judge(&mut self, line: LineId, frame: &Value) -> Result<(), Broken> {
        let broken = |heard: Option<u64>| {
            let detail = format!("after {heard:?} on line {}: {frame}", line.0);
            Err((Invariant::SequenceWhole, detail))
        };
        let heard = self.0.get(&line).copied();
        match kind(frame) {
            "welcome" | "sync" => {
                self.0
                    .insert(line, frame["state"]["seq"].as_u64().unwrap_or_default());
            }
            "question" | "result" | "reveal" | "over" => {
                let seq = frame["seq"].as_u64();
                if seq.is_none() || seq != heard.map(|heard| heard + 1) {
                    return broken(heard);
                }
                self.0.extend(seq.map(|seq| (line, seq)));
            }
            "pong" if frame["seq"].as_u64() != heard => return broken(heard),
            _ => {}
        }
        Ok(())
    }
}

fn kind(frame: &Value) -> &str {
    frame["t"].as_str().unwrap_or_default()
}

fn small(value: &Value) -> u32 {
    value
        .as_u64()
        .and_then(|value| value.try_into().ok())
        .unwrap_or_default()
}

fn question(value: &Value) -> u16 {
    value
        .as_u64()
        .and_then(|value| value.try_into().ok())
        .unwrap_or_default()
}

/// A frame without the mark tells nothing that was never in the store. `player` is who it goes to, when that is known.
pub(super) fn judge(frame: &Value, player: Option<u32>, saved: &Saved) -> Result<(), Broken> {
    let unsaved = |what: &str| Err((Invariant::UnmarkedIsSaved, format!("{what}: {frame}")));
    if kind(frame) == "ack" {
        let has = player.is_some_and(|player| saved.answers.contains_key(&(player, question(&frame["q"]))));
        return if frame["saved"] == true && !has {
            Err((
                Invariant::AckAfterAppend,
                format!("to player {player:?}: {frame}"),
            ))
        } else {
            Ok(())
        };
    }
    if frame["saved"] == false {
        return Ok(());
    }
    let seq = small(&frame["seq"]);
    let transition = saved.transitions.get(&seq);
    match kind(frame) {
        "welcome" | "sync" => judge_state(frame, player, saved),
        "question" | "result" | "reveal" | "over" if seq > saved.seq => unsaved("a transition"),
        "question" => match transition {
            Some(Transition::Opened { q }) if *q != question(&frame["q"]) => unsaved("another question"),
            Some(Transition::Closed { .. } | Transition::Over { .. }) => unsaved("another transition"),
            Some(Transition::Opened { .. }) | None => Ok(()),
        },
        "result" | "reveal" => match transition {
            Some(Transition::Closed { q, told }) => {
                let mine = player.and_then(|player| told.get(&player));
                let heard = (small(&frame["points"]), small(&frame["total"]));
                let is_other = kind(frame) == "result" && mine.is_some_and(|mine| *mine != heard);
                if *q != question(&frame["q"]) || is_other {
                    return unsaved("another outcome");
                }
                Ok(())
            }
            Some(Transition::Opened { .. } | Transition::Over { .. }) => unsaved("another transition"),
            None => Ok(()),
        },
        "over" => match transition {
            Some(Transition::Over { totals }) => {
                let mine = player.and_then(|player| totals.get(&player));
                if frame.get("places").is_none() && mine.is_some_and(|mine| *mine != small(&frame["total"])) {
                    return unsaved("another total");
                }
                Ok(())
            }
            Some(Transition::Opened { .. } | Transition::Closed { .. }) => unsaved("another transition"),
            None => Ok(()),
        },
        "roster" => {
            let joined = frame["joined"].as_array().map(Vec::as_slice).unwrap_or_default();
            let is_known = joined
                .iter()
                .all(|entry| saved.players.contains(&small(&entry["id"])));
            if is_known { Ok(()) } else { unsaved("a player") }
        }
        "error" if frame["code"] == "already_answered" => {
            let has =
                player.is_some_and(|player| saved.answers.contains_key(&(player, question(&frame["q"]))));
            if has { Ok(()) } else { unsaved("an answer") }
        }
        _ => Ok(()),
    }
}

fn judge_state(frame: &Value, player: Option<u32>, saved: &Saved) -> Result<(), Broken> {
    let state = &frame["state"];
    let unsaved = |what: &str| Err((Invariant::UnmarkedIsSaved, format!("{what}: {frame}")));
    if small(&state["seq"]) > saved.seq {
        return unsaved("a transition");
    }
    if small(&state["epoch"]) > saved.epoch {
        return unsaved("an epoch");
    }
    let player = frame["id"].as_u64().and_then(|id| id.try_into().ok()).or(player);
    if let Some(player) = player.filter(|_| state.get("roster").is_none()) {
        if !saved.players.contains(&player) {
            return unsaved("a player");
        }
        let q = question(&state["question"]["q"]);
        if state.get("answered").is_some() && !saved.answers.contains_key(&(player, q)) {
            return unsaved("an answer");
        }
        // The totals change when a question closes: those of the last close up to this number.
        let closed =
            saved.transitions.range(..=small(&state["seq"])).rev().find_map(
                |(_, transition)| match transition {
                    Transition::Closed { told, .. } => Some(told.get(&player).map_or(0, |(_, total)| *total)),
                    Transition::Opened { .. } | Transition::Over { .. } => None,
                },
            );
        let is_followed = (1..=small(&state["seq"])).all(|seq| saved.transitions.contains_key(&seq));
        if is_followed && closed.unwrap_or(0) != small(&state["total"]) {
            return unsaved("another total");
        }
    }
    let roster = state["roster"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_known = roster
        .iter()
        .all(|entry| saved.players.contains(&small(&entry["id"])));
    if is_known { Ok(()) } else { unsaved("a player") }
}
