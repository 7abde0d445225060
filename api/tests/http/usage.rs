//! The dashboard and its history, and that no answer from memory outlives a change, on whichever process.

use std::sync::Arc;

use api::{Api, Keys, LocalShared};
use axum::http::StatusCode;
use protocol::rest::{DashboardResponse, HistoryResponse, Page, QuizResponse, QuizSummary, UsageCount};

use crate::support::{Account, Call, Site, document, game};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

async fn dashboard(site: &Site, account: &Account) -> DashboardResponse {
    let reply = site
        .call("GET", "/quiz-usage/dashboard?days=30")
        .bearer(account)
        .send()
        .await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text());
    assert_eq!(reply.headers["content-type"], "application/json");
    reply.read()
}

#[tokio::test]
async fn the_dashboard_counts_what_was_played() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let today_ms = site.clock.now_ms() / DAY_MS * DAY_MS;
    let mut result = game(1, anna.id);
    let answers = result.players.iter().flat_map(|player| &player.answers);
    let played = UsageCount {
        games: 1,
        players: result.players.len() as u64,
        answers: answers.clone().count() as u64,
        right: answers.filter(|answer| answer.correct).count() as u64,
    };
    assert!(played.answers > played.right && played.right > 0);
    result.ended_ms = today_ms + 1;
    site.api.save_result(result.clone(), 1).await.unwrap();
    // A millisecond before the first of thirty days.
    let mut old = game(2, anna.id);
    old.ended_ms = today_ms - 29 * DAY_MS - 1;
    site.api.save_result(old, 1).await.unwrap();

    let counted = dashboard(&site, &anna).await;
    assert_eq!(
        (counted.days, counted.since_ms, counted.quizzes),
        (30, today_ms - 29 * DAY_MS, 0)
    );
    assert_eq!(counted.played, played);
    assert_eq!(counted.most_played.len(), 1);
    assert_eq!(
        (counted.most_played[0].quiz, counted.most_played[0].played),
        (result.quiz_id, played)
    );
    assert_eq!(dashboard(&site, &ben).await.played, UsageCount::default());

    let history: HistoryResponse = site
        .call("GET", "/quiz-usage/history")
        .bearer(&anna)
        .send()
        .await
        .read();
    assert_eq!(history.items.len(), 1);
    assert_eq!(
        (history.items[0].day_ms, history.items[0].played),
        (today_ms, played)
    );
    let both: HistoryResponse = site
        .call("GET", "/quiz-usage/history?days=31")
        .bearer(&anna)
        .send()
        .await
        .read();
    assert_eq!(both.items.len(), 2);

    for (query, code) in [
        ("?days=0", "bad-query"),
        ("?days=367", "bad-query"),
        ("?days=x", "bad-query"),
    ] {
        for path in ["dashboard", "history"] {
            let path = format!("/quiz-usage/{path}{query}");
            site.call("GET", &path)
                .bearer(&anna)
                .send()
                .await
                .refused(400, code);
            site.call("GET", &path).send().await.refused(401, "token-missing");
        }
    }
}

#[tokio::test]
async fn every_change_shows_at_once_on_every_process() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    // Two processes of one database.
    let shared = Arc::new(LocalShared::alone());
    let keys_file = site.keys_file();
    let process = || {
        let keys = Keys::load_or_create(&keys_file).unwrap();
        Api::open(api::Config::default(), site.store.clone(), keys).sharing(shared.clone())
    };
    let (here, there) = (process(), process());
    let read = |api: &Api, path: &str| Call::to(api.router(), "GET", path).bearer(&anna).send();
    let games = async |api: &Api| {
        let counted: DashboardResponse = read(api, "/quiz-usage/dashboard").await.read();
        counted.played.games
    };
    let titles = async |api: &Api| {
        let page: Page<QuizSummary> = read(api, "/quizzes").await.read();
        page.items.into_iter().map(|quiz| quiz.title).collect::<Vec<_>>()
    };

    let mut result = game(1, anna.id);
    result.ended_ms = site.clock.now_ms();
    for saved in 0..5 {
        assert_eq!((games(&here).await, games(&there).await), (saved, saved));
        result.game = protocol::ids::GameId(uuid::Uuid::from_u128(100 + u128::from(saved)));
        here.save_result(result.clone(), 1).await.unwrap();
    }
    assert_eq!((games(&here).await, games(&there).await), (5, 5));
    let delete = format!("/games/{}", result.game);
    let deleted = Call::to(here.router(), "DELETE", &delete)
        .bearer(&anna)
        .send()
        .await;
    assert_eq!(deleted.status, StatusCode::NO_CONTENT);
    assert_eq!((games(&there).await, games(&here).await), (4, 4));

    assert!(titles(&here).await.is_empty() && titles(&there).await.is_empty());
    let made = Call::to(here.router(), "POST", "/quizzes")
        .bearer(&anna)
        .json(&document("One", 1));
    let made: QuizResponse = made.send().await.read();
    assert_eq!(titles(&there).await, ["One"]);
    let path = format!("/quizzes/{}", made.id);
    let change = Call::to(there.router(), "PUT", &path)
        .bearer(&anna)
        .json(&document("Two", 1));
    assert_eq!(change.header("if-match", "1").send().await.status, StatusCode::OK);
    assert_eq!(titles(&here).await, ["Two"]);
    let gone = Call::to(here.router(), "DELETE", &path)
        .bearer(&anna)
        .send()
        .await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert!(titles(&there).await.is_empty() && titles(&here).await.is_empty());
}

/// Without this, the test above would pass on an API that remembers nothing.
#[tokio::test]
async fn an_unchanged_answer_comes_from_memory() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    for path in [
        "/users/me",
        "/quizzes",
        "/quiz-usage/dashboard",
        "/quiz-usage/history",
    ] {
        let first = site.call("GET", path).bearer(&anna).send().await;
        assert_eq!(first.status, StatusCode::OK);
    }
    site.store.close().await;
    for path in [
        "/users/me",
        "/quizzes",
        "/quiz-usage/dashboard",
        "/quiz-usage/history",
    ] {
        let again = site.call("GET", path).bearer(&anna).send().await;
        assert_eq!(again.status, StatusCode::OK, "{path}");
    }
    site.call("GET", "/quizzes?limit=7")
        .bearer(&anna)
        .send()
        .await
        .refused(500, "internal-error");
}
