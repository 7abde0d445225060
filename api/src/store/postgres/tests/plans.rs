//! No call of the store reads a table from end to end, however large it is.
//!
//! The server counts its sequential scans itself, so what is tested is what the store really sends, also after the server
//! has turned a prepared statement into a plan for any teacher.

use protocol::ids::{GameId, QuizId, ShareId};

use super::*;
use crate::store::{RemovalStore as _, Reset, ResetStore as _, ShareStore as _};

/// Games of one teacher in the data of this test.
const GAMES_PER_TEACHER: u32 = 100;
/// Calls with different teachers: after five the server may keep one plan for all.
const CALLS: u32 = 8;

/// Teachers, 25 quizzes each, and games spread over 100 days.
fn fill(server: &PostgresServer, games: u32) {
    let teachers = games / GAMES_PER_TEACHER;
    let id = |n: &str| format!("lpad(to_hex({n}), 32, '0')::UUID");
    let teacher = id(&format!("1 + g % {teachers}"));
    server.sql(
        "d0",
        &format!(
            "INSERT INTO teachers (id, email, name, password_hash, created_ms)
                 SELECT {}, 't' || g || '@school.org', 'T', 'hash', 1 FROM generate_series(1, {teachers}) g;
             INSERT INTO quizzes (id, teacher_id, version, title, questions, document, created_ms, updated_ms)
                 SELECT {}, {teacher}, 1, 'Q', 1, '{{}}', 1, g FROM generate_series(0, {teachers} * 25 - 1) g;
             INSERT INTO games (id, teacher_id, quiz_id, code, settings, title, document, questions, players, answers,
                                right_answers, created_ms, ended_ms)
                 SELECT {}, {teacher}, {}, 'K7Q2MX', '{{}}', 'Q', '{{}}', 1, 30, 300, 100, 1, (g / {teachers}) * {DAY_MS}::BIGINT
                 FROM generate_series(0, {games} - 1) g",
            id("g"),
            id("g"),
            id("g"),
            id(&format!("g % ({teachers} * 25)")),
        ),
    );
    // Rightly, an empty table is read from end to end.
    server.sql(
        "d0",
        &format!(
            "INSERT INTO sessions (id, teacher_id, current, issued_ms, expires_ms)
                 SELECT {}, {teacher}, '', 1, 9000000000000 FROM generate_series(1, 10000) g;
             INSERT INTO password_resets (token_hash, teacher_id, expires_ms)
                 SELECT decode(lpad(to_hex(g), 64, '0'), 'hex'), {teacher}, 9000000000000 FROM generate_series(1, 10000) g;
             INSERT INTO quiz_shares (id, quiz_id, created_ms) SELECT id, id, 1 FROM quizzes ORDER BY id LIMIT 10000;
             INSERT INTO deleted_games (id) SELECT {} FROM generate_series(20000000, 20010000) g;
             INSERT INTO game_epochs (game_id, epoch) SELECT {}, 1 FROM generate_series(30000000, 30010000) g;
             INSERT INTO game_questions (game_id, q, skipped) SELECT id, 1, false FROM games ORDER BY id LIMIT 10000;
             INSERT INTO game_players (game_id, player_id, position, name, rank, total)
                 SELECT id, n, n, 'P', 1, 1 FROM (SELECT id FROM games ORDER BY id LIMIT 10000) g, generate_series(0, 3) n;
             INSERT INTO game_answers (game_id, player_id, q, elapsed_ms, points, correct, choices)
                 SELECT game_id, player_id, 1, 1, 1, true, '' FROM game_players",
            id("g"),
            id("g"),
            id("g"),
        ),
    );
    server.sql("d0", "VACUUM ANALYZE");
}

/// Every call of the store that a request makes, for one teacher.
async fn call_everything(store: &PostgresStore, n: u128) {
    let (teacher, new) = (account(n).id, 10_000_000_000 + n);
    let session = contract::session(new, teacher, 1);
    store.account(teacher).await.unwrap().unwrap();
    store.account_by_email(&account(n).email).await.unwrap().unwrap();
    assert!(store.replace_hash(teacher, "hash", "other").await.unwrap());
    assert!(store.insert_session(&session, "other", 1, 5).await.unwrap());
    store.session(session.id).await.unwrap().unwrap();
    store.advance_session(&session, &session.current).await.unwrap();
    store.delete_session(session.id).await.unwrap();
    let reset = Reset {
        token_hash: [u8::try_from(n).unwrap(); 32],
        teacher,
        expires_ms: 5,
    };
    assert!(store.insert_reset(&reset, 1, 1_000).await.unwrap());
    store.reset_of(&reset.token_hash, 1).await.unwrap().unwrap();
    let spent = store.reset_password(&reset.token_hash, 1, "new").await.unwrap();
    assert_eq!(spent, Some(teacher));
    store.usage(teacher, 70 * DAY_MS).await.unwrap();
    store.usage_by_day(teacher, 70 * DAY_MS).await.unwrap();
    store.quizzes(teacher, None, 50).await.unwrap();
    let words = ["q".to_owned()];
    store.find_quizzes(teacher, &words, None, 50).await.unwrap();
    let quiz = contract::quiz(new, "Q", 1);
    assert_eq!(
        store.insert_quiz(teacher, &quiz, 500).await.unwrap(),
        Inserted::Yes
    );
    store.quiz(teacher, quiz.id).await.unwrap().unwrap();
    let share = ShareId(quiz.id.0);
    let shared = store.share_quiz(teacher, quiz.id, share, 1).await.unwrap();
    assert_eq!(shared, Some(share));
    store.share_of(teacher, quiz.id).await.unwrap().unwrap();
    store.shared_quiz(share).await.unwrap().unwrap();
    assert!(store.unshare_quiz(teacher, quiz.id).await.unwrap());
    store
        .update_quiz(teacher, quiz.id, 1, &quiz.quiz, 2)
        .await
        .unwrap();
    assert!(store.delete_quiz(teacher, QuizId(quiz.id.0)).await.unwrap());
    store.games(teacher, None, 50).await.unwrap();
    let result = contract::game(new, teacher, 90_000, 3, 2);
    let epoch = store.reserve_epoch(result.game, 1).await.unwrap().unwrap();
    assert!(!store.has_result(result.game).await.unwrap());
    assert_eq!(store.save_result(&result, epoch).await.unwrap(), ResultSaved::Now);
    store.game(teacher, result.game).await.unwrap().unwrap();
    let player = result.players[0].id;
    assert!(store.delete_player(teacher, result.game, player).await.unwrap());
    let timeline = contract::timeline(&result, 3);
    assert!(store.save_timeline(&timeline).await.unwrap());
    for of in [TimelinesOf::Game(result.game), TimelinesOf::Code(result.code)] {
        for teacher in [Some(teacher), None] {
            assert_eq!(store.timelines(teacher, of).await.unwrap().len(), 1);
        }
    }
    assert!(store.delete_game(teacher, GameId(result.game.0)).await.unwrap());
    assert!(store.delete_account(teacher).await.unwrap());
}

/// Sequential scans of every table so far.
fn scans(server: &PostgresServer) -> String {
    server.sql(
        "d0",
        "SELECT relname, seq_scan FROM pg_stat_user_tables WHERE relname <> '_sqlx_migrations' ORDER BY relname",
    )
}

async fn no_call_scans(games: u32) {
    let server = PostgresServer::start();
    fresh(&server).await.close().await;
    fill(&server, games);
    let before = scans(&server);
    let config = PostgresConfig::parse(&server.url("d0"))
        .unwrap()
        .with_connections(1);
    let store = PostgresStore::open(&config).await.unwrap();
    let started = Instant::now();
    for n in 1..=u128::from(CALLS) {
        call_everything(&store, n).await;
    }
    let took = started.elapsed();
    // A connection hands in its counts when it ends.
    store.close().await;
    let deadline = Instant::now() + Duration::from_secs(20);
    while server.sql(
        "d0",
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'homeroom-api'",
    ) != "0"
    {
        assert!(Instant::now() < deadline, "the connections do not end");
    }
    assert_eq!(scans(&server), before, "at {games} games");
    eprintln!("{games} games: {CALLS} times every call took {took:?}, without a sequential scan");
    // The test can fail: this is what it looks for.
    server.sql("d0", "SELECT count(*) FROM games WHERE code = 'none'");
    assert_ne!(scans(&server), before);
}

#[tokio::test]
async fn no_call_scans_a_table() {
    no_call_scans(50_000).await;
}

#[cfg(feature = "long")]
#[tokio::test]
async fn long_no_call_scans_a_table_of_a_million_games() {
    no_call_scans(1_000_000).await;
}
