//! What players see.

use axum::extract::ws::Utf8Bytes;
use game_core::{Game, Millis, Outcome, Phase, PlayerId, QuestionIndex, Standing};
use protocol::PROTOCOL_VERSION;
use protocol::error::ErrorCode;
use protocol::player::{
    ByeReason, OutcomeView, OverView, PODIUM_MAX, Place, PlayerFrame, PlayerState, QuestionView,
};

use super::{encode, has_podium, place};
use crate::convert;
use crate::facts::Facts;

/// The last place that stands on the podium.
const PODIUM_RANK_MAX: u32 = 3;

/// A question as everybody may see it, with the time left when it is open.
pub(crate) fn question_view(game: &Game, index: QuestionIndex, now: Millis) -> Option<QuestionView> {
    let question = game.quiz().get(index)?;
    let left = game.remaining_ms(now).filter(|left| *left < question.time_ms);
    Some(QuestionView {
        q: convert::question_to_wire(index),
        kind: convert::kind_to_wire(question.kind),
        text: question.text.clone(),
        choices: question
            .choices
            .iter()
            .map(|choice| choice.text.clone())
            .collect(),
        ms: question.time_ms,
        left,
    })
}

/// The open question; the same bytes for players, hosts and screens.
pub(crate) fn question(game: &Game, index: QuestionIndex, now: Millis) -> Option<Utf8Bytes> {
    let question = question_view(game, index, now)?;
    Some(encode(&PlayerFrame::Question {
        seq: game.seq(),
        question,
    }))
}

/// Everything one player's screen needs.
pub(crate) fn state(game: &Game, facts: &Facts, id: PlayerId, now: Millis) -> Option<PlayerState> {
    let player = game.player(id)?;
    let current = game.current();
    let answered = current
        .and_then(|question| game.answer_of(id, question))
        .map(|answer| convert::choices_to_wire(answer.choices));
    Some(PlayerState {
        epoch: facts.epoch,
        seq: game.seq(),
        phase: convert::phase_to_wire(game.phase()),
        title: facts.quiz.title.clone(),
        name: player.name.as_str().to_owned(),
        of: question_count(game),
        players: game.player_count(),
        total: player.total,
        rewound: facts.is_rewound,
        question: current.and_then(|index| question_view(game, index, now)),
        answered,
        outcome: match game.phase() {
            Phase::Results { .. } => game.outcome(id).map(|outcome| outcome_view(&outcome)),
            Phase::Lobby | Phase::Question { .. } | Phase::Podium | Phase::Ended => None,
        },
        over: over_view(game, id),
    })
}

/// `welcome` with this player's state.
pub(crate) fn welcome(
    game: &Game,
    facts: &Facts,
    id: PlayerId,
    token: String,
    now: Millis,
) -> Option<Utf8Bytes> {
    let state = Box::new(state(game, facts, id, now)?);
    let id = convert::player_to_wire(id);
    Some(encode(&PlayerFrame::Welcome {
        v: PROTOCOL_VERSION,
        id,
        token,
        state,
    }))
}

/// `sync` with this player's state.
pub(crate) fn sync(game: &Game, facts: &Facts, id: PlayerId, now: Millis) -> Option<Utf8Bytes> {
    Some(encode(&PlayerFrame::Sync {
        state: Box::new(state(game, facts, id, now)?),
    }))
}

pub(crate) fn ack(question: QuestionIndex, saved: bool) -> Utf8Bytes {
    encode(&PlayerFrame::Ack {
        q: convert::question_to_wire(question),
        saved,
    })
}

/// `result` for each player in the ranks.
pub(crate) fn results(game: &Game) -> Vec<(PlayerId, Utf8Bytes)> {
    let seq = game.seq();
    game.outcomes()
        .iter()
        .map(|(id, outcome)| {
            (
                *id,
                encode(&PlayerFrame::Result {
                    seq,
                    outcome: outcome_view(outcome),
                }),
            )
        })
        .collect()
}

/// `over` for each player in the ranks.
pub(crate) fn overs(game: &Game) -> Vec<(PlayerId, Utf8Bytes)> {
    let seq = game.seq();
    let standings = game.standings();
    let top = podium(&standings);
    standings
        .iter()
        .map(|own| {
            let over = over_of(Some(own), standings.len(), top.clone());
            (own.player, encode(&PlayerFrame::Over { seq, over }))
        })
        .collect()
}

pub(crate) fn renamed(game: &Game, id: PlayerId) -> Option<Utf8Bytes> {
    let name = game.player(id)?.name.as_str().to_owned();
    Some(encode(&PlayerFrame::Renamed { name }))
}

/// A host's `error` reads the same.
pub(crate) fn error(code: ErrorCode, q: Option<u16>, retry_ms: Option<u32>) -> Utf8Bytes {
    encode(&PlayerFrame::Error { code, q, retry_ms })
}

/// A host's `bye` reads the same.
pub(crate) fn bye(reason: ByeReason, retry_ms: Option<u32>) -> Utf8Bytes {
    encode(&PlayerFrame::Bye { reason, retry_ms })
}

/// A host's `pong` reads the same.
pub(crate) fn pong(seq: u32) -> Utf8Bytes {
    encode(&PlayerFrame::Pong { seq })
}

pub(super) fn question_count(game: &Game) -> u16 {
    // At most game_core::limits::QUESTIONS_MAX.
    u16::try_from(game.quiz().len()).unwrap_or(u16::MAX)
}

fn outcome_view(outcome: &Outcome) -> OutcomeView {
    OutcomeView {
        q: convert::question_to_wire(outcome.question),
        ok: outcome.ok,
        points: outcome.points,
        total: outcome.total,
        rank: outcome.rank,
        of: outcome.of,
        streak: outcome.streak,
        correct: convert::choices_to_wire(outcome.correct),
    }
}

fn over_view(game: &Game, id: PlayerId) -> Option<OverView> {
    if !has_podium(game) {
        return None;
    }
    let standings = game.standings();
    let own = standings.iter().find(|standing| standing.player == id);
    Some(over_of(own, standings.len(), podium(&standings)))
}

fn over_of(own: Option<&Standing>, of: usize, top: Vec<Place>) -> OverView {
    // At most game_core::limits::JOINS_MAX players.
    OverView {
        rank: own.map(|own| own.rank),
        of: u32::try_from(of).unwrap_or(u32::MAX),
        total: own.map_or(0, |own| own.total),
        top,
    }
}

fn podium(standings: &[Standing]) -> Vec<Place> {
    standings
        .iter()
        .take_while(|standing| standing.rank <= PODIUM_RANK_MAX)
        .take(PODIUM_MAX)
        .map(place)
        .collect()
}
