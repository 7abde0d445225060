//! A fault of the server in one game.

mod several;

use game_core::{Command, Game, Settings};
use protocol::host::HostCommand;
use tokio::sync::oneshot;

use super::*;
use crate::actor::mailbox::{GameHandle, Message, Want};
use crate::convert;
use crate::journal::{Birth, ClaimId, Created, MemoryLog, RecordNumber};
use crate::registry::Found;
use crate::session::outbox::Outbox;
use crate::stored::{SNAPSHOT_VERSION, Snapshot, encode_facts, encode_snapshot};
use crate::testing;
use crate::timeline::Timeline;

/// A game with a player in the lobby whose count of transitions is at its end: its first question makes its task panic, where
/// overflows are checked for.
fn poisoned() -> Birth {
    let facts = testing::facts(testing::mixed_quiz());
    let settings = Settings {
        scoring: convert::scoring_to_core(facts.settings.scoring),
        players_max: facts.players_max,
    };
    let mut game = Game::new(convert::quiz_to_core(&facts.quiz).unwrap(), settings);
    let name = "Ada".to_owned();
    game.apply(0, Command::Join { name }).unwrap();
    let mut state = game.export();
    state.seq = u32::MAX;
    let snapshot = Snapshot {
        at: 0,
        state,
        over_ms: None,
        result_settled: false,
        is_rewound: false,
        timeline: Timeline::new(0),
    };
    Birth {
        owner: Owner {
            game: facts.game,
            create_key: String::new(),
            server: None,
            epoch: 1,
            claim: ClaimId::NONE,
        },
        facts: encode_facts(&facts),
        snapshot: encode_snapshot(&snapshot, SNAPSHOT_VERSION),
        through: RecordNumber::NONE,
    }
}

/// Lets a host start the game, and waits until its task has died of it.
async fn start(game: &GameHandle) {
    let socket = Arc::new(Outbox::new());
    let (reply, seat) = oneshot::channel();
    let (want, message) = (Want::Host, Arc::clone(&socket));
    let opened = game.try_send(Message::Open {
        socket: message,
        want,
        reply,
    });
    assert!(opened.is_ok() && seat.await.unwrap().is_some());
    let sent = game.try_send(Message::Host {
        socket: Arc::clone(&socket),
        command: HostCommand::Start,
    });
    sent.unwrap();
    while !socket.has_ended() {
        socket.changed().await;
    }
    let (frames, _end) = socket.take();
    assert!(
        frames.iter().any(|frame| frame.contains("moved")),
        "it looks for its game again: {frames:?}"
    );
}

#[tokio::test]
async fn a_game_whose_task_panics_is_taken_up_again_and_set_aside_when_that_does_not_help() {
    if !cfg!(debug_assertions) {
        return;
    }
    let log = MemoryLog::new();
    let code = testing::facts(testing::mixed_quiz()).code;
    assert_eq!(log.create(code, poisoned()).await.unwrap(), Created::New);
    let server = GameServer::new(
        Config::default(),
        testing::keys(),
        Arc::new(testing::Taker),
        Arc::new(log.clone()),
    );
    assert_eq!(server.restore().await.unwrap().restored, 1);
    let registry = &server.0.registry;
    for epoch in 2..=5 {
        registry.settled(code).await;
        let Found::Game(game) = registry.find(code) else {
            panic!("nobody took it up again");
        };
        assert_eq!(game.held().epoch, epoch);
        let before = log.load(code).await.unwrap().unwrap();
        start(&game).await;
        // Its code is never free meanwhile.
        assert!(!matches!(registry.find(code), Found::Nothing) || registry.is_opening(code));
        assert_eq!(before.snapshot, log.load(code).await.unwrap().unwrap().snapshot);
    }
    registry.settled(code).await;
    while let Found::Game(_) = registry.find(code) {
        tokio::task::yield_now().await;
    }
    assert!(matches!(registry.find(code), Found::Lost));
    assert!(log.load(code).await.unwrap().is_some(), "its bytes are kept");
}
