//! What every store must do, whatever database it is in. One function a promise; [`suite`] runs them all, each on a
//! store of its own.

use std::future::Future;

use protocol::ids::{GameId, PlayerId, QuizId, TeacherId};
use protocol::quiz::{Choice, Question, QuestionKind, QuizDocument};
use protocol::rest::{QuizResponse, QuizUsage, UsageCount, UsageDay};
use protocol::result::{AnswerResult, GameResult, GameSettings, PlayerResult, QuestionResult, Scoring};
use protocol::timeline::{GameTimeline, Happened, TimelineEvent};
use uuid::Uuid;

use super::{
    Account, DAY_MS, EPOCH_GAP, Inserted, MOST_PLAYED_MAX, PageKey, ResultSaved, Store, TIMELINES_MAX,
    TimelinesOf, Usage,
};
use crate::session::Session;

mod library;
mod removal;
mod resets;

/// Runs every check on a fresh store of its own.
pub(super) async fn suite<S: Store, F: Future<Output = S>>(fresh: impl Fn() -> F) {
    accounts_are_unique_by_address(&fresh().await).await;
    a_session_advances_once(&fresh().await).await;
    sessions_are_bounded(&fresh().await).await;
    library::a_quiz_is_its_teachers(&fresh().await).await;
    library::a_quiz_changes_by_version(&fresh().await).await;
    library::quizzes_are_bounded(&fresh().await).await;
    library::a_search_finds_by_words(&fresh().await).await;
    library::a_share_is_one_until_it_is_taken_back(&fresh().await).await;
    pages_hold_every_row_once(&fresh().await).await;
    a_result_is_saved_once(&fresh().await).await;
    a_result_is_saved_whole_or_not_at_all(&fresh().await).await;
    a_deleted_game_stays_deleted(&fresh().await).await;
    a_reserved_epoch_refuses_lower_results(&fresh().await).await;
    a_full_hall_comes_back_as_saved(&fresh().await).await;
    a_timeline_belongs_to_its_game(&fresh().await).await;
    removal::a_students_rows_go_and_the_rest_stays(&fresh().await).await;
    removal::an_account_goes_with_everything(&fresh().await).await;
    resets::a_reset_is_spent_once(&fresh().await).await;
    resets::a_sign_in_by_the_old_password_begins_nothing(&fresh().await).await;
    usage_is_counted(&fresh().await).await;
    usage_by_day_is_counted(&fresh().await).await;
}

fn teacher_id(n: u128) -> TeacherId {
    TeacherId(Uuid::from_u128(n))
}

async fn add_teacher<S: Store>(store: &S, n: u128) -> TeacherId {
    let id = teacher_id(n);
    let account = Account {
        id,
        email: format!("t{n}@school.org"),
        name: format!("Teacher {n}"),
    };
    assert_eq!(
        store.insert_account(&account, "hash", 1).await.unwrap(),
        Inserted::Yes
    );
    id
}

async fn add_session<S: Store>(store: &S, session: &Session) {
    assert!(
        store
            .insert_session(session, "hash", session.issued_ms, 5)
            .await
            .unwrap()
    );
}

pub(super) fn session(id: u128, teacher: TeacherId, issued_ms: u64) -> Session {
    Session {
        id: Uuid::from_u128(id),
        teacher,
        current: [7; 32],
        previous: None,
        issued_ms,
        expires_ms: issued_ms + 1000,
    }
}

pub(super) fn document(title: &str, questions: usize) -> QuizDocument {
    let choice = |text: &str, correct| Choice {
        text: text.to_owned(),
        correct,
    };
    let question = |i| Question {
        kind: QuestionKind::Single,
        text: format!("Frage {i} – 数 <b>?</b>"),
        choices: vec![
            choice("yes", true),
            choice("no", false),
            choice("\u{202e}maybe", false),
        ],
        time_ms: 20_000,
    };
    QuizDocument {
        title: title.to_owned(),
        questions: (0..questions).map(question).collect(),
    }
}

pub(super) fn quiz(id: u128, title: &str, updated_ms: u64) -> QuizResponse {
    QuizResponse {
        id: QuizId(Uuid::from_u128(id)),
        version: 1,
        updated_ms,
        quiz: document(title, 2),
    }
}

/// A game in which player `p` chose choice `(p + q) % 3` of question `q`.
pub(crate) fn game(id: u128, teacher: TeacherId, ended_ms: u64, players: u32, questions: u16) -> GameResult {
    let answer = |p: u32, q: u16| AnswerResult {
        q,
        choices: vec![u8::try_from((p + u32::from(q)) % 3).unwrap()],
        elapsed_ms: p * 10 + u32::from(q),
        correct: (p + u32::from(q)).is_multiple_of(3),
        points: 500 + p,
    };
    let player = |p: u32| PlayerResult {
        id: PlayerId(p),
        name: format!("👩🏽‍🔬 {p}"),
        rank: 1 + (p - 1) / 2,
        total: 1000 - p,
        answers: (1..=questions).map(|q| answer(p, q)).collect(),
    };
    GameResult {
        game: GameId(Uuid::from_u128(id)),
        code: "K7Q2MX".parse().unwrap(),
        teacher,
        quiz_id: QuizId(Uuid::from_u128(99)),
        settings: GameSettings {
            scoring: Scoring::Accuracy,
        },
        quiz: document("As played", usize::from(questions) + 1),
        created_ms: ended_ms - 60_000,
        ended_ms,
        questions: (1..=questions)
            .map(|q| QuestionResult { q, skipped: q == 2 })
            .collect(),
        // The order of ranking is not the order of joining.
        players: (1..=players).rev().map(player).collect(),
    }
}

async fn accounts_are_unique_by_address<S: Store>(store: &S) {
    let id = add_teacher(store, 1).await;
    let second = Account {
        id: teacher_id(2),
        email: "t1@school.org".into(),
        name: "Other".into(),
    };
    assert_eq!(
        store.insert_account(&second, "other", 2).await.unwrap(),
        Inserted::Refused
    );
    let (account, hash) = store.account_by_email("t1@school.org").await.unwrap().unwrap();
    assert_eq!(
        (account.id, account.name.as_str(), hash.as_str()),
        (id, "Teacher 1", "hash")
    );
    assert_eq!(store.account(id).await.unwrap(), Some(account));
    assert_eq!(store.account(teacher_id(2)).await.unwrap(), None);
    assert_eq!(store.account_by_email("t2@school.org").await.unwrap(), None);
    assert!(store.replace_hash(id, "hash", "stronger").await.unwrap());
    assert_eq!(
        store.account_by_email("t1@school.org").await.unwrap().unwrap().1,
        "stronger"
    );
}

async fn a_session_advances_once<S: Store>(store: &S) {
    let teacher = add_teacher(store, 1).await;
    let first = session(1, teacher, 10);
    assert!(store.insert_session(&first, "hash", 10, 5).await.unwrap());
    assert_eq!(store.session(first.id).await.unwrap(), Some(first.clone()));
    let next = Session {
        current: [8; 32],
        previous: Some([7; 32]),
        issued_ms: 20,
        expires_ms: 2000,
        ..first.clone()
    };
    assert!(store.advance_session(&next, &first.current).await.unwrap());
    assert!(
        !store.advance_session(&next, &first.current).await.unwrap(),
        "only from its current token"
    );
    assert_eq!(store.session(first.id).await.unwrap(), Some(next));
    store.delete_session(first.id).await.unwrap();
    store.delete_session(first.id).await.unwrap();
    assert_eq!(store.session(first.id).await.unwrap(), None);
}

async fn sessions_are_bounded<S: Store>(store: &S) {
    let (teacher, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    add_session(store, &session(100, other, 1)).await;
    for n in 1..=5_u64 {
        store
            .insert_session(&session(u128::from(n), teacher, n), "hash", n, 3)
            .await
            .unwrap();
    }
    let kept = |n: u128| store.session(Uuid::from_u128(n));
    for (n, there) in [
        (1, false),
        (2, false),
        (3, true),
        (4, true),
        (5, true),
        (100, true),
    ] {
        assert_eq!(kept(n).await.unwrap().is_some(), there, "session {n}");
    }
    // At 1004 the third has expired; it goes before anything that is still good.
    store
        .insert_session(&session(6, teacher, 1004), "hash", 1004, 3)
        .await
        .unwrap();
    for (n, there) in [(3, false), (4, false), (5, true), (6, true), (100, true)] {
        assert_eq!(kept(n).await.unwrap().is_some(), there, "session {n} later");
    }
}

async fn pages_hold_every_row_once<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    // Several rows of one moment: the id settles their order.
    for (n, at_ms) in [(1, 50), (2, 70), (3, 50), (4, 50), (5, 60), (6, 50), (7, 70)] {
        store.insert_quiz(owner, &quiz(n, "Q", at_ms), 10).await.unwrap();
        store
            .save_result(&game(n, owner, 60_000 + at_ms, 1, 1), 1)
            .await
            .unwrap();
    }
    store.insert_quiz(other, &quiz(8, "Q", 60), 10).await.unwrap();
    store.save_result(&game(8, other, 60_060, 1, 1), 1).await.unwrap();
    let order = [7, 2, 5, 6, 4, 3, 1].map(Uuid::from_u128);

    let (mut quizzes, mut games, mut after) = (Vec::new(), Vec::new(), None);
    loop {
        let page = store.quizzes(owner, after, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(PageKey {
            at_ms: last.updated_ms,
            id: last.id.0,
        });
        quizzes.extend(page.into_iter().map(|row| row.id.0));
    }
    after = None;
    loop {
        let page = store.games(owner, after, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(PageKey {
            at_ms: last.ended_ms,
            id: last.id.0,
        });
        games.extend(page.into_iter().map(|row| row.id.0));
    }
    assert_eq!(quizzes, order);
    assert_eq!(games, order);
}

async fn a_result_is_saved_once<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    let result = game(1, owner, 90_000, 3, 2);
    assert_eq!(store.save_result(&result, 1).await.unwrap(), ResultSaved::Now);
    assert_eq!(store.save_result(&result, 1).await.unwrap(), ResultSaved::Before);
    let mut different = result.clone();
    different.players[0].answers[0].elapsed_ms += 1;
    assert_eq!(
        store.save_result(&different, 1).await.unwrap(),
        ResultSaved::Different
    );
    assert_eq!(
        store.game(owner, result.game).await.unwrap(),
        Some(result.clone())
    );
    assert_eq!(store.game(other, result.game).await.unwrap(), None);
    let row = store.games(owner, None, 10).await.unwrap().remove(0);
    assert_eq!(
        (row.players, row.questions, row.title.as_str()),
        (3, 2, "As played")
    );
    let nobody = game(2, teacher_id(3), 90_000, 1, 1);
    assert_eq!(
        store.save_result(&nobody, 1).await.unwrap(),
        ResultSaved::NoTeacher
    );
}

async fn a_result_is_saved_whole_or_not_at_all<S: Store>(store: &S) {
    let owner = add_teacher(store, 1).await;
    let mut broken = game(1, owner, 90_000, 3, 2);
    // The last row of the last table is the one that fails.
    let twice = broken.players[2].answers[1].clone();
    broken.players[2].answers.push(twice);
    store.save_result(&broken, 1).await.unwrap_err();
    assert_eq!(store.game(owner, broken.game).await.unwrap(), None);
    assert!(store.games(owner, None, 10).await.unwrap().is_empty());
    let whole = game(1, owner, 90_000, 3, 2);
    assert_eq!(
        store.save_result(&whole, 1).await.unwrap(),
        ResultSaved::Now,
        "the failed one left nothing"
    );
}

async fn a_deleted_game_stays_deleted<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    let (result, kept) = (game(1, owner, 90_000, 3, 2), game(2, owner, 91_000, 3, 2));
    store.save_result(&result, 1).await.unwrap();
    store.save_result(&kept, 1).await.unwrap();
    assert!(!store.delete_game(other, result.game).await.unwrap());
    assert!(store.delete_game(owner, result.game).await.unwrap());
    assert!(!store.delete_game(owner, result.game).await.unwrap());
    assert_eq!(store.game(owner, result.game).await.unwrap(), None);
    assert_eq!(store.save_result(&result, 1).await.unwrap(), ResultSaved::Deleted);
    assert_eq!(store.game(owner, result.game).await.unwrap(), None);
    assert_eq!(store.game(owner, kept.game).await.unwrap(), Some(kept));
}

async fn a_reserved_epoch_refuses_lower_results<S: Store>(store: &S) {
    let owner = add_teacher(store, 1).await;
    let result = game(1, owner, 90_000, 3, 2);
    let id = result.game;
    assert!(!store.has_result(id).await.unwrap());
    // Above what the caller knows, and above all that was reserved before.
    assert_eq!(store.reserve_epoch(id, 7).await.unwrap(), Some(7 + EPOCH_GAP));
    assert_eq!(store.reserve_epoch(id, 7).await.unwrap(), Some(7 + 2 * EPOCH_GAP));
    assert_eq!(
        store.reserve_epoch(id, 5_000).await.unwrap(),
        Some(5_000 + EPOCH_GAP)
    );
    let least = 5_000 + EPOCH_GAP;
    for _ in 0..2 {
        let saved = store.save_result(&result, least - 1).await.unwrap();
        assert_eq!(saved, ResultSaved::Superseded);
    }
    assert_eq!(
        store.game(owner, id).await.unwrap(),
        None,
        "nothing of it is there"
    );
    assert_eq!(store.save_result(&result, least).await.unwrap(), ResultSaved::Now);
    // The same one is fine under whatever epoch, and the game is over.
    assert_eq!(store.save_result(&result, 1).await.unwrap(), ResultSaved::Before);
    assert!(store.has_result(id).await.unwrap());
    assert_eq!(store.reserve_epoch(id, 9_000).await.unwrap(), None);
    assert!(store.delete_game(owner, id).await.unwrap());
    assert!(store.has_result(id).await.unwrap(), "it had one");
    assert_eq!(store.reserve_epoch(id, 9_000).await.unwrap(), None);
    let other = game(2, owner, 90_000, 1, 1);
    assert!(!store.has_result(other.game).await.unwrap());
}

/// 500 players and 20 questions: more rows than one insert takes, in every table.
async fn a_full_hall_comes_back_as_saved<S: Store>(store: &S) {
    let owner = add_teacher(store, 1).await;
    let result = game(1, owner, 90_000, 501, 20);
    assert_eq!(store.save_result(&result, 1).await.unwrap(), ResultSaved::Now);
    let stored = store.game(owner, result.game).await.unwrap().unwrap();
    assert!(
        stored == result,
        "a result of {} players changed in the store",
        result.players.len()
    );
    assert_eq!(store.save_result(&result, 1).await.unwrap(), ResultSaved::Before);
}

/// What [`game`] comes to, counted by hand: `players` times `questions` answers, every third of them right.
fn counted(games: &[GameResult]) -> UsageCount {
    let answers = || games.iter().flat_map(|g| &g.players).flat_map(|p| &p.answers);
    UsageCount {
        games: u32::try_from(games.len()).unwrap(),
        players: games.iter().map(|game| game.players.len() as u64).sum(),
        answers: answers().count() as u64,
        right: answers().filter(|answer| answer.correct).count() as u64,
    }
}

async fn usage_is_counted<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    assert_eq!(store.usage(owner, 0).await.unwrap(), Usage::default());
    for n in 1..=2 {
        store.insert_quiz(owner, &quiz(n, "Atoms", 5), 50).await.unwrap();
    }
    let of_quiz = |id: u128, quiz: u128, teacher, ended_ms| GameResult {
        quiz_id: QuizId(Uuid::from_u128(quiz)),
        ..game(id, teacher, ended_ms, 4 + u32::try_from(id % 3).unwrap(), 3)
    };
    // Quiz 2 three times, quiz 1 twice, and twelve quizzes that were deleted since once each.
    let mut games = vec![
        of_quiz(1, 1, owner, 100_000),
        of_quiz(2, 2, owner, 101_000),
        of_quiz(3, 2, owner, 102_000),
        of_quiz(4, 1, owner, 103_000),
        of_quiz(5, 2, owner, 104_000),
    ];
    games.extend((0..12).map(|n| of_quiz(20 + n, 50 + n, owner, 110_000)));
    // Too old by a millisecond, and another teacher's.
    let before = of_quiz(40, 1, owner, 99_999);
    let others = of_quiz(41, 1, other, 105_000);
    for result in games.iter().chain([&before, &others]) {
        store.save_result(result, 1).await.unwrap();
    }
    let usage = store.usage(owner, 100_000).await.unwrap();
    assert_eq!((usage.quizzes, usage.played), (2, counted(&games)));
    let row = |quiz: u128, title: Option<&str>| {
        let quiz = QuizId(Uuid::from_u128(quiz));
        let games: Vec<_> = games
            .iter()
            .filter(|game| game.quiz_id == quiz)
            .cloned()
            .collect();
        QuizUsage {
            quiz,
            title: title.map(str::to_owned),
            played: counted(&games),
            last_ms: games.iter().map(|game| game.ended_ms).max().unwrap(),
        }
    };
    assert_eq!(usage.most_played.len(), usize::try_from(MOST_PLAYED_MAX).unwrap());
    assert_eq!(
        usage.most_played[..3],
        [row(2, Some("Atoms")), row(1, Some("Atoms")), row(50, None)]
    );

    store.delete_game(owner, games[4].game).await.unwrap();
    let usage = store.usage(owner, 100_000).await.unwrap();
    games.remove(4);
    assert_eq!(usage.played, counted(&games));
}

async fn usage_by_day_is_counted<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    assert_eq!(store.usage_by_day(owner, 0).await.unwrap(), []);
    // The first and the last millisecond of day 7, and the first of day 9.
    let ends = [7 * DAY_MS, 8 * DAY_MS - 1, 9 * DAY_MS];
    let games: Vec<_> = (1..)
        .zip(ends)
        .map(|(n, ended_ms)| game(n, owner, ended_ms, 5, 2))
        .collect();
    let before = game(9, owner, 7 * DAY_MS - 1, 5, 2);
    for result in games.iter().chain([&before, &game(10, other, 8 * DAY_MS, 5, 2)]) {
        store.save_result(result, 1).await.unwrap();
    }
    let day = |day: u64, games| UsageDay {
        day_ms: day * DAY_MS,
        played: counted(games),
    };
    assert_eq!(
        store.usage_by_day(owner, 7 * DAY_MS).await.unwrap(),
        [day(9, &games[2..]), day(7, &games[..2])]
    );
}

/// A timeline of `events` events.
pub(super) fn timeline(of: &GameResult, events: u64) -> GameTimeline {
    let event = |n| TimelineEvent {
        at_ms: n,
        what: Happened::CaughtUp { after_ms: n },
    };
    GameTimeline {
        game: of.game,
        code: of.code,
        events: (0..events).map(event).collect(),
        left_out: 0,
    }
}

async fn a_timeline_belongs_to_its_game<S: Store>(store: &S) {
    let (anna, ben) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    let first = game(1, anna, 1_000_000, 2, 1);
    let of = |game: &GameResult| TimelinesOf::Game(game.game);
    let none: Vec<GameTimeline> = Vec::new();
    assert!(
        !store.save_timeline(&timeline(&first, 1)).await.unwrap(),
        "without a result"
    );
    store.save_result(&first, 1).await.unwrap();
    assert_eq!(store.timelines(Some(anna), of(&first)).await.unwrap(), none);
    // The later one counts: another server may have seen more.
    for events in [1, 700] {
        assert!(store.save_timeline(&timeline(&first, events)).await.unwrap());
    }
    assert_eq!(
        store.timelines(Some(anna), of(&first)).await.unwrap(),
        [timeline(&first, 700)]
    );
    // It changes nothing about the result, which is the same when it comes again.
    assert_eq!(store.save_result(&first, 1).await.unwrap(), ResultSaved::Before);
    assert_eq!(store.game(anna, first.game).await.unwrap().as_ref(), Some(&first));

    // Games of one code, those that ended last first, and everybody's own.
    let mut all = vec![first.clone()];
    for n in 2..=u128::from(TIMELINES_MAX) + 2 {
        let later = game(
            n,
            if n == 3 { ben } else { anna },
            1_000_000 + u64::try_from(n).unwrap(),
            1,
            1,
        );
        store.save_result(&later, 1).await.unwrap();
        store.save_timeline(&timeline(&later, 1)).await.unwrap();
        all.insert(0, later);
    }
    let by_code = |teacher| store.timelines(teacher, TimelinesOf::Code(first.code));
    let games = |timelines: Vec<GameTimeline>| timelines.into_iter().map(|t| t.game).collect::<Vec<_>>();
    let newest = |teacher: Option<TeacherId>| {
        let theirs = all
            .iter()
            .filter(|game| teacher.is_none_or(|teacher| game.teacher == teacher));
        let max = usize::try_from(TIMELINES_MAX).unwrap();
        theirs.map(|game| game.game).take(max).collect::<Vec<_>>()
    };
    for teacher in [None, Some(anna), Some(ben)] {
        assert_eq!(
            games(by_code(teacher).await.unwrap()),
            newest(teacher),
            "{teacher:?}"
        );
    }
    let other_code = TimelinesOf::Code("M7Q2KX".parse().unwrap());
    assert_eq!(store.timelines(None, other_code).await.unwrap(), none);
    assert_eq!(
        store.timelines(Some(ben), of(&first)).await.unwrap(),
        none,
        "another teacher's"
    );
    assert_eq!(store.timelines(None, of(&first)).await.unwrap().len(), 1);

    assert!(store.delete_game(anna, first.game).await.unwrap());
    assert_eq!(store.timelines(Some(anna), of(&first)).await.unwrap(), none);
    assert!(!store.save_timeline(&timeline(&first, 1)).await.unwrap());
}
