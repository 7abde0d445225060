//! Deletions for good: one student's answers, and an account with everything in it.

use axum::http::StatusCode;
use protocol::ids::PlayerId;
use protocol::rest::{DashboardResponse, ReportResponse};
use serde_json::json;

use crate::support::{PASSWORD, Site, document, game};

#[tokio::test]
async fn a_student_is_forgotten_in_one_game() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let mut result = game(5, anna.id);
    result.ended_ms = site.clock.now_ms();
    site.api.save_result(result.clone(), 1).await.unwrap();
    let dashboard = async || {
        let reply = site
            .call("GET", "/quiz-usage/dashboard?days=366")
            .bearer(&anna)
            .send()
            .await;
        reply.read::<DashboardResponse>().played
    };
    assert_eq!(dashboard().await.players, 3);
    let path = |player: &str| format!("/games/{}/students?player={player}", result.game);
    let delete = |path: String| site.call("DELETE", &path).bearer(&anna).send();
    let foreign = site.call("DELETE", &path("1")).bearer(&ben).send().await;
    foreign.refused(404, "no-such-game");
    delete(path("99")).await.refused(404, "no-such-player");
    delete(path("4294967295")).await.refused(404, "no-such-player");
    for bad in ["-1", "x", "", "4294967296"] {
        delete(path(bad)).await.refused(400, "bad-query");
    }
    assert_eq!(delete(path("1")).await.status, StatusCode::NO_CONTENT);
    delete(path("1")).await.refused(404, "no-such-player");

    let report = format!("/games/{}/report", result.game);
    let report: ReportResponse = site.call("GET", &report).bearer(&anna).send().await.read();
    let left: Vec<PlayerId> = report.result.players.iter().map(|player| player.id).collect();
    assert_eq!(left, [PlayerId(3), PlayerId(2)]);
    assert_eq!(report.questions[0].answered, 2, "her answers are in no sum");
    let played = dashboard().await;
    assert_eq!(
        (played.players, played.answers),
        (2, 5),
        "what was remembered is not shown"
    );
    // The game server tries again: it must not stop at a difference, and nobody comes back.
    site.api.save_result(result.clone(), 1).await.unwrap();
    let again = format!("/games/{}/export?format=csv", result.game);
    let csv = site.call("GET", &again).bearer(&anna).send().await.text();
    assert!(!csv.contains("Player 1\""), "{csv}");
}

#[tokio::test]
async fn an_account_is_deleted_with_its_password() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let result = game(5, anna.id);
    site.api.save_result(result.clone(), 1).await.unwrap();
    let quiz = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .json(&document("Mine", 1))
        .send()
        .await;
    assert_eq!(quiz.status, StatusCode::CREATED);
    let delete = |password: &str| {
        let call = site.call("DELETE", "/users/me").bearer(&anna);
        call.json(&json!({ "password": password })).send()
    };
    delete("wrong wrong").await.refused(401, "bad-credentials");
    delete(&"x".repeat(257)).await.refused(401, "bad-credentials");
    let me = site.call("GET", "/users/me").bearer(&anna).send().await;
    assert_eq!(me.status, StatusCode::OK, "a wrong password deletes nothing");
    let deleted = delete(PASSWORD).await;
    assert_eq!(deleted.status, StatusCode::NO_CONTENT);
    assert!(
        deleted.headers["set-cookie"]
            .to_str()
            .unwrap()
            .contains("homeroom_refresh=; ")
    );

    // The access token is good for a while, and finds nothing.
    let me = site.call("GET", "/users/me").bearer(&anna).send().await;
    me.refused(401, "token-invalid");
    let list = site.call("GET", "/quizzes").bearer(&anna).send().await;
    assert_eq!(list.value(), json!({ "items": [] }));
    let store = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .json(&document("Late", 1))
        .send()
        .await;
    store.refused(401, "token-invalid");
    delete(PASSWORD).await.refused(401, "token-invalid");
    let refresh = site
        .call("POST", "/auth/refresh")
        .header("cookie", &anna.cookie)
        .send()
        .await;
    refresh.refused(401, "session-ended");
    let login = site.call("POST", "/auth/login");
    let login = login
        .json(&json!({ "email": "anna@school.org", "password": PASSWORD }))
        .send()
        .await;
    login.refused(401, "bad-credentials");
    assert!(matches!(
        site.api.save_result(result, 1).await,
        Err(api::SaveError::UnknownTeacher)
    ));
    // The address is free.
    site.teacher("anna").await;
}
