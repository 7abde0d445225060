//! The actor without its task: its journal is its game, and its frames tell every transition once.

use std::collections::BTreeMap;

use game_core::Settings;
use proptest::prelude::*;
use protocol::host::HostCommand;
use protocol::ids::PlayerId;
use protocol::player::PlayerCommand;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::leaving::HandedIn;
use super::mailbox::{Seat, Want};
use super::*;
use crate::cluster::Verdict;
use crate::journal::{Birth, ClaimId, GameLog, MemoryLog, Owner, RecordNumber, ServerId, StoreId};
use crate::stored;
use crate::testing::{self, Taker};
use crate::tokens::Pass;

async fn actor(log: Arc<dyn GameLog>) -> Actor {
    actor_among(log, None).await
}

/// At a server among others, who say what they hold.
async fn actor_among(
    log: Arc<dyn GameLog>,
    verdicts: Option<watch::Receiver<Option<Arc<Verdict>>>>,
) -> Actor {
    let mut facts = testing::facts(testing::mixed_quiz());
    facts.players_max = settings().players_max;
    let quiz = convert::quiz_to_core(&facts.quiz).unwrap();
    let owner = Owner {
        game: facts.game,
        create_key: "key".into(),
        server: Some(ServerId {
            name: "test".into(),
            incarnation: uuid::Uuid::nil(),
        }),
        epoch: 1,
        claim: ClaimId::draw(),
    };
    let restored = Restored {
        game: Game::new(quiz, settings()),
        at: 0,
        over_ms: None,
        result_settled: false,
        timeline: Timeline::new(0),
        last: RecordNumber::NONE,
        torn: false,
        lost: 0,
        facts,
    };
    let birth = Birth {
        owner: owner.clone(),
        facts: stored::encode_facts(&restored.facts),
        snapshot: stored::encode_snapshot(
            &Snapshot {
                at: 0,
                state: restored.game.export(),
                over_ms: None,
                result_settled: false,
                is_rewound: false,
                timeline: Timeline::new(0),
            },
            stored::SNAPSHOT_VERSION,
        ),
        through: RecordNumber::NONE,
    };
    let run = log.runs().borrow().clone();
    let ownership = Ownership {
        log: log.bound(&run).unwrap_or_else(|| Arc::clone(&log)),
        run,
        verdicts,
        backoffice: Arc::new(Taker),
        writes: Arc::default(),
        code: restored.facts.code,
        owner,
        facts: birth.facts.clone(),
    };
    log.create(restored.facts.code, birth).await.unwrap();
    around(restored, ownership)
}

fn around(restored: Restored, ownership: Ownership) -> Actor {
    let registry = Arc::new(Registry::new(1));
    let around = Surroundings {
        config: Arc::new(Config::default()),
        keys: Arc::new(testing::keys()),
        results: ResultSaver::new(Arc::new(Taker), Ambient::machine()),
        ambient: Ambient::machine(),
        registry: Arc::clone(&registry),
        cluster: None,
        server: Weak::new(),
    };
    let shown = Arc::new(ShownCell::new(shown_of(&restored.game), 1));
    let place = Arc::new(registry.take_place().unwrap());
    Actor::new(restored, ownership, around, place, shown)
}

fn settings() -> Settings {
    Settings {
        scoring: game_core::Scoring::Speed,
        players_max: 4,
    }
}

#[derive(Debug, Clone)]
enum Act {
    Join(u8),
    Resume(u32),
    Gone(u32),
    Player(u32, PlayerCommand),
    Host(HostCommand),
    Wait(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let id = 0_u32..6;
    let q = 0_u16..8;
    let answer = (q.clone(), 0_u8..5).prop_map(|(q, choice)| PlayerCommand::Answer {
        q,
        choice: Some(choice),
        choices: None,
    });
    let answers = (q.clone(), proptest::collection::vec(0_u8..5, 0..4)).prop_map(|(q, choices)| {
        PlayerCommand::Answer {
            q,
            choice: None,
            choices: Some(choices),
        }
    });
    let player = prop_oneof![
        8 => answer,
        4 => answers,
        1 => Just(PlayerCommand::Leave),
        1 => "[a-c]{0,2}".prop_map(|name| PlayerCommand::Rename { name }),
        1 => Just(PlayerCommand::Resume { token: String::new(), seq: 0 }),
    ];
    let host = prop_oneof![
        3 => Just(HostCommand::Start),
        6 => q.clone().prop_map(|q| HostCommand::Next { q }),
        2 => q.clone().prop_map(|q| HostCommand::Close { q }),
        1 => q.prop_map(|q| HostCommand::Skip { q }),
        1 => Just(HostCommand::End),
        1 => Just(HostCommand::Finish),
        1 => any::<bool>().prop_map(|on| HostCommand::Lock { on }),
        1 => id.clone().prop_map(|id| HostCommand::Kick { id: PlayerId(id) }),
        1 => (id.clone(), "[a-c]{0,2}")
            .prop_map(|(id, name)| HostCommand::Rename { id: PlayerId(id), name }),
    ];
    let act = prop_oneof![
        3 => (0_u8..6).prop_map(Act::Join),
        2 => id.clone().prop_map(Act::Resume),
        2 => id.clone().prop_map(Act::Gone),
        12 => (id, player).prop_map(|(id, command)| Act::Player(id, command)),
        8 => host.prop_map(Act::Host),
        3 => prop_oneof![1_u64..200, 2_000_u64..25_000].prop_map(Act::Wait),
    ];
    proptest::collection::vec(act, 1..120)
}

/// A class at the actor's door.
struct Class {
    actor: Actor,
    host: Arc<Outbox>,
    sockets: BTreeMap<u32, Arc<Outbox>>,
    seen: Vec<(Arc<Outbox>, Option<u64>)>,
}

impl Class {
    fn open(&mut self, want: Want) -> (Arc<Outbox>, Option<Seat>) {
        let socket = Arc::new(Outbox::new());
        let (reply, mut answer) = oneshot::channel();
        self.actor.receive(Message::Open {
            socket: Arc::clone(&socket),
            want,
            reply,
        });
        self.seen.push((Arc::clone(&socket), None));
        (socket, answer.try_recv().unwrap())
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Join(n) => {
                if let (socket, Some(Seat::Player(id))) = self.open(Want::Join {
                    name: format!("P{n}"),
                }) {
                    self.sockets.insert(id.0, socket);
                }
            }
            Act::Resume(id) => {
                let known = self.actor.game.player(game_core::PlayerId(id));
                let pass = Pass {
                    player: PlayerId(id),
                    joined_at: known.map_or(0, |player| player.joined_at),
                    epoch: 1,
                };
                if let (socket, Some(_)) = self.open(Want::Resume { pass }) {
                    self.sockets.insert(id, socket);
                }
            }
            Act::Gone(id) => {
                if let Some(socket) = self.sockets.remove(&id) {
                    self.actor.receive(Message::Gone {
                        socket,
                        seat: Seat::Player(PlayerId(id)),
                    });
                }
            }
            Act::Player(id, command) => {
                if let Some(socket) = self.sockets.get(&id).cloned() {
                    self.actor.receive(Message::Player {
                        socket,
                        player: PlayerId(id),
                        command,
                    });
                }
            }
            Act::Host(command) => {
                let socket = Arc::clone(&self.host);
                self.actor.receive(Message::Host { socket, command });
            }
            Act::Wait(ms) => tokio::time::advance(Duration::from_millis(ms)).await,
        }
        self.turn().await;
    }

    /// One turn of the actor's loop, without its waiting.
    async fn turn(&mut self) {
        let now = Instant::now();
        self.actor.run_due(now);
        self.actor.start_write(now);
        while self.actor.pipeline.is_writing() {
            let answer = self.actor.pipeline.answered().await;
            assert!(self.actor.settle(answer));
            self.actor.start_write(Instant::now());
        }
        for (socket, seq) in &mut self.seen {
            for frame in socket.take().0 {
                check_seq(seq, &serde_json::from_str(&frame).unwrap());
            }
        }
    }
}

/// Every number of the public sequence comes once and in order, or is covered by the whole state.
fn check_seq(seen: &mut Option<u64>, frame: &Value) {
    match frame["t"].as_str().unwrap() {
        "welcome" | "sync" => *seen = frame["state"]["seq"].as_u64(),
        "question" | "result" | "reveal" | "over" => {
            let seq = frame["seq"].as_u64();
            assert_eq!(seq, seen.map(|seq| seq + 1), "a gap before {frame}");
            *seen = seq;
        }
        _ => assert!(frame.get("seq").is_none(), "{frame}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_journal_replays_to_the_same_game(acts in acts()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let log = Arc::new(MemoryLog::new());
            let mut class = Class {
                actor: actor(Arc::clone(&log) as Arc<dyn GameLog>).await,
                host: Arc::new(Outbox::new()),
                sockets: BTreeMap::new(),
                seen: Vec::new(),
            };
            let (host, seat) = class.open(Want::Host);
            assert_eq!(seat, Some(Seat::Host));
            class.host = host;
            for act in acts {
                class.act(act).await;
            }
            // The time of the last command is part of a game; make it one that is in the journal.
            let on = !class.actor.game.locked();
            class.act(Act::Host(HostCommand::Lock { on })).await;
            assert!(class.actor.pipeline.is_settled());
            let kept = log.load(class.actor.facts.code).await.unwrap().unwrap();
            let replayed = stored::restore(&kept).unwrap();
            assert_eq!(replayed.game, class.actor.game);
            assert_eq!(replayed.facts, class.actor.facts);
            assert_eq!(replayed.last, class.actor.pipeline.last());
            assert_eq!(replayed.over_ms, class.actor.over_ms);
            assert!(!replayed.torn);
        });
    }
}

#[tokio::test]
async fn an_actor_that_is_gone_leaves_nobody_waiting() {
    let mut class = Class {
        actor: actor(Arc::new(MemoryLog::new())).await,
        host: Arc::new(Outbox::new()),
        sockets: BTreeMap::new(),
        seen: Vec::new(),
    };
    let (host, _) = class.open(Want::Host);
    let (ada, _) = class.open(Want::Join { name: "Ada".into() });
    class.turn().await;
    drop(class);
    for socket in [host, ada] {
        let (frames, end) = socket.take();
        assert!(frames.back().unwrap().contains(r#""reason":"moved""#));
        assert_eq!(
            end,
            Some(crate::session::outbox::End::Close(protocol::close::MOVED))
        );
    }
}

/// A stop and a failover at once: what the store lost is in nobody's memory afterwards.
#[tokio::test(start_paused = true)]
async fn a_game_is_given_back_to_a_store_that_changed_once_it_may_be_written_to() {
    let log = MemoryLog::new();
    let (verdicts, given) = watch::channel(None);
    let mut actor = actor_among(Arc::new(log.clone()), Some(given)).await;
    let code = actor.facts.code;
    actor.command(Command::Join {
        name: "Ada".to_owned(),
    });
    // Everything is saved, so that there is nothing else to wait for.
    actor.start_write(Instant::now());
    let answer = actor.pipeline.answered().await;
    assert!(actor.settle(answer) && actor.pipeline.is_settled());
    log.lose_all();
    log.come_back(StoreId::new("next"));
    let said = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(log.tail(code).await.unwrap(), None);
        verdicts.send_replace(Some(Arc::new(Verdict::alone(StoreId::new("next")))));
    };
    let (handed_in, ()) = tokio::join!(actor.hand_in(), said);
    assert_eq!(handed_in, HandedIn::Yes);
    let tail = log.tail(code).await.unwrap().unwrap();
    assert_eq!((tail.last, tail.owner.server), (actor.pipeline.last(), None));
    assert!(tail.last > RecordNumber::NONE);
}
