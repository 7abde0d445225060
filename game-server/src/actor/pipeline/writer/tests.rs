//! When a snapshot is taken, and that nothing is lost when too much waits.

use game_core::{Command, Game, Scoring, Settings};

use super::*;
use crate::convert;
use crate::journal::{Birth, ClaimId, MemoryLog, ServerId, Stored, Trouble};
use crate::testing;
use crate::timeline::Timeline;

struct Desk {
    log: MemoryLog,
    writer: Writer,
    code: GameCode,
    /// Numbers at which snapshots were seen, and when.
    snapshots: Vec<(RecordNumber, Instant)>,
}

pub(in crate::actor::pipeline) fn state() -> Snapshot {
    let facts = testing::facts(testing::mixed_quiz());
    let settings = Settings {
        scoring: Scoring::Speed,
        players_max: 4,
    };
    let game = Game::new(convert::quiz_to_core(&facts.quiz).unwrap(), settings);
    Snapshot {
        at: 0,
        state: game.export(),
        over_ms: None,
        result_settled: false,
        is_rewound: false,
        timeline: Timeline::default(),
    }
}

impl Desk {
    async fn new() -> Self {
        let log = MemoryLog::new();
        let facts = testing::facts(testing::mixed_quiz());
        let owner = Owner {
            game: facts.game,
            create_key: String::new(),
            server: Some(ServerId {
                name: "test".into(),
                incarnation: uuid::Uuid::nil(),
            }),
            epoch: 1,
            claim: ClaimId::draw(),
        };
        let birth = Birth {
            owner: owner.clone(),
            facts: Vec::new(),
            snapshot: Vec::new(),
            through: RecordNumber::NONE,
        };
        log.create(facts.code, birth).await.unwrap();
        let ownership = Ownership {
            log: Arc::new(log.clone()),
            run: StoreRun::default(),
            verdicts: None,
            backoffice: Arc::new(testing::Taker),
            writes: Arc::default(),
            code: facts.code,
            owner,
            facts: Vec::new(),
        };
        Self {
            writer: Writer::new(ownership, RecordNumber::NONE, false, Instant::now()),
            log,
            code: facts.code,
            snapshots: Vec::new(),
        }
    }

    /// Records names of this many bytes.
    fn record(&mut self, count: usize, bytes: usize) {
        for _ in 0..count {
            let name = "x".repeat(bytes);
            self.writer.record(&Record::of(0, Command::Join { name }));
        }
    }

    /// Writes what is due now.
    async fn write(&mut self) {
        self.writer.start(Instant::now(), state);
        while self.writer.is_writing() {
            let answer = self.writer.answered().await;
            let now = Instant::now();
            self.writer.settle(answer, now);
            if let Some(through) = self.stored().await.map(|stored| stored.through)
                && self.snapshots.last().is_none_or(|(last, _)| *last < through)
                && through > RecordNumber::NONE
            {
                self.snapshots.push((through, now));
            }
            self.writer.start(now, state);
        }
    }

    async fn stored(&self) -> Option<Stored> {
        self.log.load(self.code).await.ok().flatten()
    }
}

#[tokio::test(start_paused = true)]
async fn snapshots_come_when_asked_for_and_after_a_while() {
    let mut desk = Desk::new().await;
    let started = Instant::now();
    // A hundred transitions in ten seconds ask for one each; a snapshot comes every two seconds.
    for _ in 0..100 {
        desk.record(1, 3);
        desk.writer.want_snapshot(Instant::now());
        desk.write().await;
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    assert!((4..=5).contains(&desk.snapshots.len()), "{:?}", desk.snapshots);
    for pair in desk.snapshots.windows(2) {
        assert!(pair[1].1 - pair[0].1 >= SNAPSHOT_PAUSE);
    }
    assert!(desk.snapshots[0].1 - started >= SNAPSHOT_PAUSE);
    // Little is written and nobody asks.
    tokio::time::advance(SNAPSHOT_PAUSE).await;
    desk.write().await;
    let before = desk.snapshots.len();
    desk.record(1, 3);
    desk.write().await;
    let wake = desk.writer.next_wake().unwrap();
    assert_eq!(desk.snapshots.len(), before);
    assert_eq!(wake, desk.writer.snapshot_at + SNAPSHOT_AFTER);
    tokio::time::advance(wake - Instant::now()).await;
    desk.write().await;
    assert_eq!(desk.snapshots.len(), before + 1);
    assert_eq!(desk.writer.next_wake(), None, "nothing is dirty");
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_comes_when_the_journal_is_as_large_as_the_last_one() {
    let mut desk = Desk::new().await;
    let (least, most) = (*SNAPSHOT_AT_BYTES.start(), *SNAPSHOT_AT_BYTES.end());
    // The last one's bytes, and those after which the next one is due.
    for (number, (last, due)) in [(0, least), (3 * least, 3 * least), (2 * most, most)]
        .into_iter()
        .enumerate()
    {
        desk.writer.snapshot_bytes = last;
        tokio::time::advance(SNAPSHOT_PAUSE).await;
        desk.record(1, due - least / 2);
        desk.write().await;
        assert_eq!(desk.snapshots.len(), number, "{last}");
        desk.record(1, least / 2);
        desk.write().await;
        assert_eq!(desk.snapshots.len(), number + 1, "{last}");
        let stored = desk.stored().await.unwrap();
        assert!(stored.journal.is_empty());
        assert_eq!(desk.writer.snapshot_bytes, stored.snapshot.len());
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_journal_is_replaced_whatever_the_time() {
    let mut desk = Desk::new().await;
    for _ in 0..12 {
        desk.record(100, 1_000);
        desk.write().await;
        let bytes = desk.stored().await.unwrap().journal.len();
        assert!(bytes <= JOURNAL_BYTES_MAX, "{bytes}");
    }
    assert_eq!(desk.snapshots.len(), 1);
    assert_eq!(desk.stored().await.unwrap().last, RecordNumber(1_200));
}

#[tokio::test(start_paused = true)]
async fn too_much_waiting_is_forgotten_and_a_snapshot_brings_it_all() {
    let mut desk = Desk::new().await;
    desk.log.set_trouble(Trouble::Away);
    desk.record(1, 3);
    desk.write().await;
    desk.record(1_500, 1_000);
    assert!(desk.writer.unsaved.bytes().len() <= JOURNAL_BYTES_MAX);
    assert_eq!(desk.writer.last(), RecordNumber(1_501));
    assert_eq!(desk.writer.saved(), RecordNumber::NONE);
    desk.log.set_trouble(Trouble::None);
    tokio::time::advance(RETRY_MAX).await;
    desk.write().await;
    assert_eq!(desk.writer.saved(), RecordNumber(1_501));
    let stored = desk.stored().await.unwrap();
    assert_eq!(
        (stored.through, stored.last),
        (RecordNumber(1_501), RecordNumber(1_501))
    );
    desk.record(1, 3);
    desk.write().await;
    assert_eq!(desk.writer.saved(), RecordNumber(1_502));
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_looked_up_before_anything_is_repeated() {
    let mut desk = Desk::new().await;
    desk.record(3, 3);
    desk.log.set_trouble(Trouble::Unanswered);
    desk.write().await;
    assert_eq!(desk.writer.saved(), RecordNumber::NONE);
    desk.record(2, 3);
    desk.log.set_trouble(Trouble::None);
    tokio::time::advance(RETRY_FIRST).await;
    desk.writer.start(Instant::now(), state);
    assert_eq!(desk.writer.flight.as_ref().unwrap().what, What::Tail);
    desk.write().await;
    assert_eq!(desk.writer.saved(), RecordNumber(5));
    let journal =
        crate::journal::read_journal(&desk.stored().await.unwrap().journal, RecordNumber::NONE).unwrap();
    assert_eq!((journal.records.len(), journal.torn), (5, false));
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_that_is_due_and_failed_waits_before_it_is_tried_again() {
    let mut desk = Desk::new().await;
    desk.record(1, 3);
    desk.write().await;
    tokio::time::advance(SNAPSHOT_AFTER).await;
    desk.log.set_trouble(Trouble::Refusing);
    desk.write().await;
    // A wake in the past would keep the game's task running without a pause.
    let wake = desk.writer.next_wake().unwrap();
    assert_eq!(wake - Instant::now(), RETRY_FIRST);
    desk.log.set_trouble(Trouble::None);
    tokio::time::advance(RETRY_FIRST).await;
    desk.write().await;
    assert_eq!(desk.snapshots.len(), 1);
    assert_eq!(desk.writer.next_wake(), None, "nothing is dirty");
}

#[tokio::test(start_paused = true)]
async fn the_owner_s_epoch_is_the_log_s_whatever_became_of_the_attempts() {
    let mut desk = Desk::new().await;
    desk.record(1, 3);
    desk.log.lose_all();
    desk.writer.start(Instant::now(), state);
    let missing = desk.writer.answered().await;
    desk.writer.settle(missing, Instant::now());
    // The game is written again, once or several times, and nobody knows.
    for trouble in [Trouble::Away, Trouble::Unanswered, Trouble::Away] {
        desk.log.set_trouble(trouble);
        tokio::time::advance(RETRY_MAX).await;
        desk.write().await;
        assert_eq!(
            desk.writer.epoch(),
            1,
            "another one is nobody's, as far as is known"
        );
    }
    desk.log.set_trouble(Trouble::None);
    while desk.writer.saved() < desk.writer.last() {
        tokio::time::advance(RETRY_MAX).await;
        desk.write().await;
    }
    let kept = desk.stored().await.unwrap().owner;
    assert_eq!((desk.writer.epoch(), kept.epoch > 1), (kept.epoch, true));
}

#[tokio::test(start_paused = true)]
async fn snapshots_are_written_in_the_version_of_the_moment() {
    let mut desk = Desk::new().await;
    for version in [3, 2] {
        desk.writer.at.writes = Arc::new(stored::WriteVersion::fixed(version));
        desk.record(1, 3);
        desk.writer.need_snapshot();
        desk.write().await;
        let snapshot = desk.stored().await.unwrap().snapshot;
        assert_eq!(snapshot.first(), Some(&version));
    }
}
