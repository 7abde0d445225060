//! How often a call asks the server. Past the API's capacity its goodput is the number of connections divided by how long a call keeps one,
//! and what is admitted then are changes, so that every round trip too many of theirs is capacity that is lost.

use super::server::PORT_DEFAULT;
use super::*;

/// Statements since the last look, `BEGIN` and `COMMIT` among them.
fn statements(server: &PostgresServer) -> String {
    let statements = server.sql(
        "d0",
        "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
         WHERE datname = 'd0' AND query NOT LIKE '%pg_stat_statements%'",
    );
    server.sql("d0", "SELECT FROM pg_stat_statements_reset()");
    statements
}

#[tokio::test]
async fn what_teachers_and_classes_do_all_day_takes_few_round_trips() {
    let server = PostgresServer::start_with(PORT_DEFAULT, |_| {
        vec!["shared_preload_libraries=pg_stat_statements".to_owned()]
    });
    let store = fresh(&server).await;
    server.sql("d0", "CREATE EXTENSION pg_stat_statements");
    let teacher = account(1).id;
    store.insert_account(&account(1), "hash", 1).await.unwrap();
    let quiz = contract::quiz(1, "Q", 1);
    store.insert_quiz(teacher, &quiz, 5).await.unwrap();
    let session = contract::session(1, teacher, 1);
    statements(&server);

    store.insert_session(&session, 1, 5).await.unwrap();
    assert_eq!(statements(&server), "1", "the end of a sign-in");
    store.session(session.id).await.unwrap().unwrap();
    store.advance_session(&session, &session.current).await.unwrap();
    assert_eq!(statements(&server), "2", "a refresh");
    let changed = store
        .update_quiz(teacher, quiz.id, 1, &quiz.quiz, 2)
        .await
        .unwrap();
    assert_eq!(
        (changed, statements(&server).as_str()),
        (QuizChange::Changed(2), "1")
    );
    let stale = store
        .update_quiz(teacher, quiz.id, 1, &quiz.quiz, 3)
        .await
        .unwrap();
    assert_eq!((stale, statements(&server).as_str()), (QuizChange::Stale(2), "2"));
    let result = contract::game(1, teacher, 90_000, 30, 5);
    let saved = store.save_result(&result, 1).await.unwrap();
    assert_eq!((saved, statements(&server).as_str()), (ResultSaved::Now, "7"));
}
