//! What hosts and read-only screens see.

use axum::extract::ws::Utf8Bytes;
use game_core::{Game, Millis, Phase, Player};
use protocol::PROTOCOL_VERSION;
use protocol::host::{BOARD_MAX, HostFrame, HostOverView, HostState, RevealView, RosterEntry};

use super::player::{question_count, question_view};
use super::{encode, has_podium, place};
use crate::convert;
use crate::facts::Facts;

/// `sync`: everything a host's screen needs. `behind` says whether storage is.
pub(crate) fn sync(game: &Game, facts: &Facts, behind: bool, now: Millis) -> Utf8Bytes {
    let state = HostState {
        epoch: facts.epoch,
        seq: game.seq(),
        game: facts.game,
        code: facts.code,
        title: facts.quiz.title.clone(),
        of: question_count(game),
        phase: convert::phase_to_wire(game.phase()),
        locked: game.locked(),
        behind,
        rewound: facts.is_rewound,
        roster: game.players().map(roster_entry).collect(),
        question: game.current().and_then(|index| question_view(game, index, now)),
        answered: game.answered_count(),
        expected: game.expected_count(),
        reveal: reveal_view(game),
        over: over_view(game),
    };
    encode(&HostFrame::Sync {
        v: PROTOCOL_VERSION,
        state: Box::new(state),
    })
}

pub(crate) fn roster_entry(player: &Player) -> RosterEntry {
    RosterEntry {
        id: convert::player_to_wire(player.id),
        name: player.name.as_str().to_owned(),
        away: !player.present,
    }
}

/// How many answered the open question; none when no question is open.
pub(crate) fn progress(game: &Game) -> Option<Utf8Bytes> {
    let Phase::Question { index, .. } = game.phase() else {
        return None;
    };
    let q = convert::question_to_wire(index);
    let (answered, of) = (game.answered_count(), game.expected_count());
    Some(encode(&HostFrame::Progress { q, answered, of }))
}

/// The outcome of the question whose results are shown.
pub(crate) fn reveal(game: &Game) -> Option<Utf8Bytes> {
    let reveal = reveal_view(game)?;
    Some(encode(&HostFrame::Reveal {
        seq: game.seq(),
        reveal,
    }))
}

/// Final places, once the podium is reached.
pub(crate) fn over(game: &Game) -> Option<Utf8Bytes> {
    let over = over_view(game)?;
    Some(encode(&HostFrame::Over {
        seq: game.seq(),
        over,
    }))
}

pub(crate) fn lock(on: bool) -> Utf8Bytes {
    encode(&HostFrame::Lock { on })
}

pub(crate) fn saving(behind: bool) -> Utf8Bytes {
    encode(&HostFrame::Saving { behind })
}

pub(crate) fn ticket(ticket: String) -> Utf8Bytes {
    encode(&HostFrame::Ticket { ticket })
}

fn reveal_view(game: &Game) -> Option<RevealView> {
    let reveal = game.reveal()?;
    Some(RevealView {
        q: convert::question_to_wire(reveal.question),
        skipped: reveal.skipped,
        correct: convert::choices_to_wire(reveal.correct),
        histogram: reveal.histogram,
        answered: reveal.answered,
        right: reveal.right,
        board: game.standings().iter().take(BOARD_MAX).map(place).collect(),
    })
}

fn over_view(game: &Game) -> Option<HostOverView> {
    if !has_podium(game) {
        return None;
    }
    let places: Vec<_> = game.standings().iter().map(place).collect();
    Some(HostOverView {
        // At most game_core::limits::JOINS_MAX players and QUESTIONS_MAX questions.
        of: u32::try_from(places.len()).unwrap_or(u32::MAX),
        questions: u16::try_from(game.question_results().len()).unwrap_or(u16::MAX),
        places,
    })
}
