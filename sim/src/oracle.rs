//! The judge of a run. It keeps books of its own, from what clients do and hear, what servers say and what the store has, and
//! knows nothing of the server's code. Rules of the game it takes from `game-core`, reckonings of points it makes itself.

mod books;
mod frames;
mod invariant;
mod kept;
mod owners;
mod result;
mod saved;

use std::collections::{BTreeMap, BTreeSet};

use game_core::Phase;
use game_server::{ClaimId, Owner, Restoration, Stored};
use protocol::quiz::QuizDocument;
use protocol::result::GameResult;
use serde_json::Value;

pub use invariant::{Invariant, Violation};

use crate::Millis;
use crate::class::{ClientId, Deed};
use crate::coverage::{Coverage, Seen};
use crate::wire::LineId;
use books::Books;
use frames::Sequences;
use owners::Owners;
use saved::Saved;

/// Longest time that an answer is held for the store, and two ticks of the server's timer.
const WAIT_MS: Millis = 100 + 2;
/// Longest time that a server which may have lost its games looks before it says anything.
const DOUBT_MS: Millis = 1_000;

/// The judge.
pub(crate) struct Oracle {
    broken: Option<Violation>,
    quiz: QuizDocument,
    books: Books,
    saved: Saved,
    sequences: Sequences,
    /// The highest epoch that each client has heard.
    epochs: BTreeMap<usize, u64>,
    /// Clients that send an answer again if they send it now.
    reconnected: BTreeMap<usize, bool>,
    result: Option<GameResult>,
    /// Answers that have reached a process and were not answered yet: since when, and the process.
    unanswered: BTreeMap<(LineId, u64), (Millis, u64)>,
    /// Connections that the server has closed from its side.
    closing: BTreeSet<LineId>,
    owners: Owners,
    /// The player that each open connection was welcomed as: one client may have two, when its first welcome was lost.
    seats: BTreeMap<LineId, u32>,
    /// Among several servers.
    is_cluster: bool,
    /// The store lost the game and has not got it again.
    is_emptied: bool,
    /// The store went back in time, and nobody has written the game again.
    /// The claim of whoever had the game then.
    behind: Option<ClaimId>,
    /// From this epoch on the game says that it may lack something.
    rewound_from: Option<u32>,
    is_lost: bool,
    /// The store went back in time, at some moment.
    has_gone_back: bool,
    /// The class was ended by a server that could not save it; the highest epoch that anybody had heard by then.
    ended_unsaved: Option<u64>,
}

impl Oracle {
    /// `is_untidy`: the store may keep records longer than it must.
    pub(crate) fn new(quiz: &QuizDocument, is_untidy: bool, is_cluster: bool) -> Self {
        Self {
            broken: None,
            books: Books::default(),
            saved: Saved::new(quiz, is_untidy),
            quiz: quiz.clone(),
            sequences: Sequences::default(),
            epochs: BTreeMap::new(),
            reconnected: BTreeMap::new(),
            result: None,
            unanswered: BTreeMap::new(),
            closing: BTreeSet::new(),
            owners: Owners::default(),
            seats: BTreeMap::new(),
            is_cluster,
            is_emptied: false,
            behind: None,
            rewound_from: None,
            is_lost: false,
            has_gone_back: false,
            ended_unsaved: None,
        }
    }

    /// The first broken invariant.
    pub(crate) fn broken(&self) -> Option<&Violation> {
        self.broken.as_ref()
    }

    pub(crate) fn fail(&mut self, invariant: Invariant, detail: String) {
        if self.broken.is_none() {
            self.broken = Some(Violation { invariant, detail });
        }
    }

    fn check(&mut self, judged: Result<(), (Invariant, String)>) {
        if let Err((invariant, detail)) = judged {
            self.fail(invariant, detail);
        }
    }

    /// The host had to draw another code: nobody has played under the one before.
    pub(crate) fn another_game(&mut self) {
        let is_untidy = self.saved.is_untidy;
        self.saved = Saved::new(&self.quiz, is_untidy);
        self.owners = Owners::default();
        self.is_emptied = false;
        self.behind = None;
        self.rewound_from = None;
    }

    /// The store has gone back in time. What it has of the game says nothing until somebody has written that in its present run: whoever
    /// had it under `latest`, if anybody did, with all that was saved.
    pub(crate) fn went_back(&mut self, latest: ClaimId) {
        self.behind = Some(latest);
        self.has_gone_back = true;
        self.saved.gone();
    }

    /// Whether the store has gone back, and not got the game again.
    pub(crate) fn is_behind(&self) -> bool {
        self.behind.is_some()
    }

    /// The claim of whoever had the game when the store went back, while it has not got that again.
    pub(crate) fn latest_claim(&self) -> Option<ClaimId> {
        self.behind
    }

    /// The game is there again after the store went back.
    fn comes_back(&mut self, latest: ClaimId, stored: &Stored, coverage: &mut Coverage) {
        if stored.owner.claim == latest {
            // Its holder has all of it.
            return coverage.saw(Seen::AssertedByHolder);
        }
        coverage.saw(Seen::Rewound);
        let is_new = !self.owners.knows(stored.owner.claim);
        if is_new {
            self.rewound_from.get_or_insert(stored.owner.epoch);
        } else {
            // Somebody who was taken over while it stood still, and whose successor is gone, cannot know that.
            self.epochs.clear();
        }
        self.owners.forget_epochs();
        self.saved.forget();
        let judged = self.saved.follow(stored);
        self.check(judged);
        let lost = self.books.forgive(|player, q| self.saved.has(player, q));
        for _ in 0..lost {
            coverage.saw(Seen::AckedAnswerLost);
        }
    }

    /// The store lost the game and has not got it again.
    pub(crate) fn is_emptied(&self) -> bool {
        self.is_emptied
    }

    /// The game is lost: the store lost it when nobody had it.
    pub(crate) fn loses(&mut self) {
        self.is_lost = true;
    }

    /// Whether a question is open, as far as the store knows.
    pub(crate) fn is_question_open(&self) -> bool {
        matches!(self.saved.phase(), Phase::Question { .. })
    }

    /// Whether the game has come to its end.
    pub(crate) fn is_nobody_here(&self) -> bool {
        self.saved.phase() == Phase::Ended
    }

    /// The game is lost for good, by the store's fault.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// The class was ended, as not saved, by a server that had lost the game to another one, which waits with what is saved for somebody to
    /// come.
    pub(crate) fn is_left_behind(&self) -> bool {
        !self.has_result()
            && self
                .ended_unsaved
                .is_some_and(|epoch| u64::from(self.saved.epoch) > epoch)
    }

    /// Everything is done, and the game may be forgotten.
    fn is_ended(&self) -> bool {
        self.has_result() && self.saved.phase() == Phase::Ended
    }

    /// The API has the result.
    pub(crate) fn has_result(&self) -> bool {
        self.result.is_some()
    }

    /// Whether an answer was sent and nothing was heard of it yet.
    pub(crate) fn has_answers_in_flight(&self) -> bool {
        self.books
            .entries()
            .any(|(_, _, entry)| entry.copies > 0 && !entry.is_settled())
    }

    // --- what clients do ---------------------------------------------------------------------------------------------

    pub(crate) fn deed(&mut self, client: ClientId, deed: Deed) {
        match deed {
            Deed::Joined { player } => self.books.is_player(client.0, player),
            Deed::Answered { q, choices } => self.books.answered(client.0, q, choices),
            // Over, or lost if it is; a game that has ended is forgotten after a while, by a store without data at once.
            Deed::Stopped { code: 1_000 } => self.books.told(client.0, u16::MAX),
            Deed::Stopped { code: 4_404 } if self.is_lost || self.is_ended() => {}
            // Played to its end, and removed since its store went back: the host of a run shows no ticket.
            Deed::Stopped { code: 4_404 } if self.has_result() && self.has_gone_back => {}
            Deed::Stopped { code } => {
                let detail = format!("client {} is sent away with {code}", client.0);
                self.fail(Invariant::LossIsTold, detail);
            }
        }
    }

    /// A client opens a socket.
    pub(crate) fn reconnects(&mut self, client: ClientId) {
        self.reconnected.insert(client.0, true);
    }

    /// A client sends a frame.
    pub(crate) fn said(&mut self, client: ClientId, frame: &Value, coverage: &mut Coverage) {
        if frame["t"] != "answer" {
            return;
        }
        let q = frame["q"]
            .as_u64()
            .and_then(|q| u16::try_from(q).ok())
            .unwrap_or_default();
        if let Some(entry) = self.books.entry_mut(client.0, q) {
            entry.copies += 1;
            if entry.copies > 1 {
                coverage.saw(Seen::AnswerResent);
            }
        }
    }

    // --- what servers say --------------------------------------------------------------------------------------------

    /// A server says something, which is on its way now.
    pub(crate) fn emitted(&mut self, line: LineId, frame: &Value, run: u64, coverage: &mut Coverage) {
        if frame["saved"] == false {
            let is_ack = frame["t"] == "ack";
            coverage.saw(if is_ack {
                Seen::AckUnsaved
            } else {
                Seen::FrameUnsaved
            });
        }
        if (frame["t"] == "ack" || frame["t"] == "error")
            && let Some(q) = frame["q"].as_u64()
        {
            self.unanswered.remove(&(line, q));
        }
        let judged = self.owners.judge(line, frame, run);
        self.check(judged);
        let judged = self.sequences.judge(line, frame);
        self.check(judged);
        if frame["t"] == "welcome"
            && let Some(id) = frame["id"].as_u64().and_then(|id| id.try_into().ok())
        {
            self.seats.insert(line, id);
        }
        let judged = frames::judge(frame, self.seats.get(&line).copied(), &self.saved);
        self.check(judged);
        self.tells_loss(line, frame, run);
    }

    /// A game that may lack something says so in every state.
    fn tells_loss(&mut self, line: LineId, frame: &Value, run: u64) {
        let Some(from) = self.rewound_from else { return };
        let state = &frame["state"];
        let is_of_it = state["epoch"]
            .as_u64()
            .is_some_and(|epoch| epoch >= u64::from(from));
        if is_of_it && state["rewound"] != true {
            let detail = format!("run {run} on line {} says nothing of it: {frame}", line.0);
            self.fail(Invariant::LossIsTold, detail);
        }
    }

    /// The server has said its last word on a connection: what still reaches it there is read by nobody.
    pub(crate) fn line_closes(&mut self, line: LineId, code: Option<u16>, run: u64) {
        self.unanswered.retain(|(other, _), _| *other != line);
        self.closing.insert(line);
        let judged = self.owners.closes(line, code, run);
        self.check(judged);
    }

    /// An answer reaches a server. One that passes it on need not answer it.
    pub(crate) fn answer_arrives(&mut self, now: Millis, line: LineId, q: u64, run: u64) {
        let serves = !self.is_cluster || self.owners.serves(line, run);
        if serves && !self.owners.is_stopping(run) && !self.closing.contains(&line) {
            self.unanswered.entry((line, q)).or_insert((now, run));
        }
    }

    /// A server was asked to stop: its games take no more commands.
    pub(crate) fn stopping(&mut self, run: u64) {
        self.owners.stopping(run);
        self.unanswered.retain(|_, (_, other)| *other != run);
    }

    /// A server stands still.
    pub(crate) fn stands_still(&mut self, run: u64) {
        self.owners.stands_still(run);
        self.unanswered.retain(|_, (_, other)| *other != run);
    }

    /// A server hears that the game is another one's.
    pub(crate) fn fenced(&mut self, now: Millis, run: u64) {
        self.unanswered.retain(|_, (_, other)| *other != run);
        self.owners.fenced(now, run);
    }

    /// A server hears that the game is its own.
    pub(crate) fn claims(&mut self, run: u64) {
        self.owners.claims(run);
    }

    /// A server hears that a write under its claim was kept.
    pub(crate) fn hears_kept(&mut self, claim: ClaimId) {
        self.saved.heard(claim);
    }

    /// A write was kept that was made under `claim`, of a game of which `owner` was the owner.
    pub(crate) fn written_under(&mut self, claim: ClaimId, owner: Option<&Owner>) {
        if owner.is_none_or(|owner| owner.claim != claim) {
            let detail = format!("a write under claim {} into a game of {owner:?}", claim.0);
            self.fail(Invariant::OwnerWrites, detail);
        }
    }

    fn nobody_waits(&mut self, now: Millis) {
        let wait_ms = if self.is_cluster {
            WAIT_MS + DOUBT_MS
        } else {
            WAIT_MS
        };
        let mut unanswered = self.unanswered.iter();
        let waits = unanswered.find(|(_, (since, _))| since + wait_ms < now);
        if let Some(((line, q), (since, _))) = waits {
            let detail = format!("the answer to question {q} on line {} since {since} ms", line.0);
            self.fail(Invariant::NobodyWaits, detail);
        }
    }

    /// A connection is over.
    pub(crate) fn line_over(&mut self, line: LineId) {
        self.unanswered.retain(|(other, _), _| *other != line);
        self.sequences.over(line);
        self.owners.line_over(line);
        self.seats.remove(&line);
    }

    /// A client hears something.
    pub(crate) fn heard(&mut self, client: ClientId, frame: &Value, coverage: &mut Coverage) {
        let q = frame["q"]
            .as_u64()
            .and_then(|q| u16::try_from(q).ok())
            .unwrap_or_default();
        match frame["t"].as_str().unwrap_or_default() {
            // What is marked may be lost with its server: it decides nothing.
            "welcome" | "sync" | "result" | "over" if frame["saved"] == false => {}
            "welcome" | "sync" => self.heard_state(client, &frame["state"]),
            "ack" => {
                let is_saved = frame["saved"] == true;
                let Some(entry) = self.books.entry_mut(client.0, q) else {
                    let detail = format!("client {} gave no answer to question {q}", client.0);
                    return self.fail(Invariant::NothingInvented, detail);
                };
                if is_saved && entry.is_unsaved {
                    coverage.saw(Seen::AckSavedLater);
                }
                entry.is_unsaved = !is_saved;
                entry.is_saved |= is_saved;
            }
            "error" if q > 0 && frame["code"] != "busy" => {
                coverage.saw(Seen::AnswerRefused);
                if let Some(entry) = self.books.entry_mut(client.0, q).filter(|entry| !entry.is_saved) {
                    entry.refused = frame["code"].as_str().map(str::to_owned);
                }
            }
            "result" => self.books.told(client.0, q),
            "over" => self.books.told(client.0, u16::MAX),
            "bye" if frame["reason"] == "ended" && frame["saved"] == false => {
                self.ended_unsaved = Some(self.epochs.values().copied().max().unwrap_or_default());
            }
            _ => {}
        }
    }

    fn heard_state(&mut self, client: ClientId, state: &Value) {
        let epoch = state["epoch"].as_u64().unwrap_or_default();
        let before = self.epochs.insert(client.0, epoch).unwrap_or_default();
        if epoch < before {
            let detail = format!("client {} hears epoch {epoch} after {before}", client.0);
            self.fail(Invariant::EpochsNeverGoBack, detail);
        }
        let q = state["question"]["q"]
            .as_u64()
            .and_then(|q| u16::try_from(q).ok());
        match state["phase"].as_str().unwrap_or_default() {
            // What came before the question on the screen is decided.
            "question" => self.books.told(client.0, q.unwrap_or(1) - 1),
            "results" => self.books.told(client.0, q.unwrap_or_default()),
            "podium" | "ended" => self.books.told(client.0, u16::MAX),
            _ => {}
        }
    }

    // --- the store, the processes, the API ---------------------------------------------------------------------------

    /// A write reached the store, which has this of the game now.
    /// `is_present`: it was written in the store's present run.
    pub(crate) fn stored(
        &mut self,
        kept: Option<&Stored>,
        is_present: bool,
        owner_run: Option<u64>,
        coverage: &mut Coverage,
    ) {
        if let Some(latest) = self.behind {
            let Some(stored) = kept.filter(|_| is_present) else {
                return;
            };
            self.behind = None;
            self.comes_back(latest, stored, coverage);
        }
        if self.is_cluster {
            let judged = self.owners.stored(kept.map(|kept| &kept.owner), owner_run);
            self.check(judged);
            self.unanswered.retain(|_, (_, run)| Some(*run) == owner_run);
        }
        let Some(stored) = kept else {
            if self.saved.is_there {
                self.is_emptied = !self.is_ended();
            }
            return self.saved.gone();
        };
        if std::mem::take(&mut self.is_emptied) {
            coverage.saw(Seen::Rewritten);
        }
        let judged = self.saved.follow(stored);
        self.check(judged);
    }

    /// A process is gone, with all its connections. `was_holder` says that others may have nothing of its game.
    pub(crate) fn killed(&mut self, run: u64, was_holder: bool) {
        self.owners.killed(run);
        self.unanswered.retain(|_, (_, other)| *other != run);
        if was_holder && self.is_emptied {
            self.is_lost = true;
        }
    }

    /// A process has taken up the games of its store.
    pub(crate) fn restored(&mut self, restoration: Restoration, coverage: &mut Coverage) {
        if self.saved.is_there {
            if restoration.restored != 1 {
                self.fail(Invariant::GameComesBack, format!("{restoration:?}"));
            }
            if matches!(self.saved.phase(), Phase::Question { .. }) {
                coverage.saw(Seen::RestoreOfOpenQuestion);
            }
        } else if self.is_emptied {
            // Its owner is dead, and the store has nothing of it.
            self.is_lost = true;
            coverage.saw(Seen::GameLost);
        }
    }

    /// A result reaches the API.
    pub(crate) fn result(&mut self, result: &GameResult, coverage: &mut Coverage) {
        if !self.saved.was_over {
            self.fail(
                Invariant::ResultOnce,
                "its game is not over, as far as the store knows".to_owned(),
            );
        }
        match &self.result {
            Some(before) => {
                coverage.saw(Seen::ResultRepeated);
                if before != result {
                    self.fail(
                        Invariant::ResultOnce,
                        "the second one says something else".to_owned(),
                    );
                }
            }
            None => {
                let judged = result::judge(result, &self.quiz, &self.books);
                self.check(judged);
                self.result = Some(result.clone());
            }
        }
    }

    /// After every step: what was acked is there.
    /// `is_out_of_reach` tells of a connection whether a process's word may not have got to it.
    pub(crate) fn step(&mut self, now: Millis, is_out_of_reach: &dyn Fn(LineId, u64) -> bool) {
        self.nobody_waits(now);
        let judged = self.owners.step(now, is_out_of_reach);
        self.check(judged);
        if !self.saved.is_there {
            return;
        }
        let lost = self
            .books
            .entries()
            .find(|(player, q, entry)| entry.is_saved && !self.saved.has(*player, *q))
            .map(|(player, q, _)| format!("player {player} question {q} is not in the store"));
        if let Some(detail) = lost {
            self.fail(Invariant::AckedAnswersKept, detail);
        }
    }

    /// The run is over.
    pub(crate) fn finish(&mut self) {
        // What was marked as not saved is not settled, and the rest was held against the store all the time.
        if self.is_lost || self.is_left_behind() {
            return;
        }
        let open = self
            .books
            .entries()
            .find(|(_, _, entry)| !entry.is_settled())
            .map(|(player, q, entry)| format!("player {player} question {q}: {entry:?}"));
        if let Some(detail) = open {
            self.fail(Invariant::AnswersSettled, detail);
        }
        let Some(result) = self.result.clone() else {
            return self.fail(Invariant::ResultOnce, "there is none".to_owned());
        };
        let judged = result::judge(&result, &self.quiz, &self.books);
        self.check(judged);
    }
}
