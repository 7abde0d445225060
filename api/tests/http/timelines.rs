//! What happened to games: kept for game servers, told to the games' own teacher.

use axum::http::StatusCode;
use protocol::ids::GameId;
use protocol::rest::Page;
use protocol::result::GameResult;
use protocol::timeline::{GameTimeline, Happened, TimelineEvent};
use serde_json::json;
use uuid::Uuid;

use crate::internal;
use crate::support::{Account, Site, game};

fn timeline(of: &GameResult) -> GameTimeline {
    let event = |at_ms, what| TimelineEvent { at_ms, what };
    GameTimeline {
        game: of.game,
        code: of.code,
        events: vec![event(1_000, Happened::Created), event(9_000, Happened::Over)],
        left_out: 2,
    }
}

/// The page of timelines at an address.
async fn told(site: &Site, teacher: &Account, query: &str) -> Vec<GameTimeline> {
    let path = format!("/timelines?{query}");
    let page: Page<GameTimeline> = site.call("GET", &path).bearer(teacher).send().await.read();
    page.items
}

#[tokio::test]
async fn a_teacher_finds_what_happened_to_a_game_by_its_code_and_nobody_elses() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let result = game(5, anna.id);
    let save = |body: serde_json::Value| {
        internal::call(&site, "/internal/timelines", &internal::token(&site))
            .json(&body)
            .send()
    };
    // Without a result there is nothing to help with, and nothing to repeat.
    let kept = timeline(&result);
    assert_eq!(save(json!(kept)).await.status, StatusCode::NO_CONTENT);
    assert_eq!(told(&site, &anna, "code=K7Q2MX").await, []);
    site.api.save_result(result.clone(), 1).await.unwrap();
    for _ in 0..2 {
        assert_eq!(save(json!(kept)).await.status, StatusCode::NO_CONTENT);
    }
    for query in [
        "code=K7Q2MX".to_owned(),
        "code=k7q-2mx".to_owned(),
        format!("game={}", result.game),
    ] {
        assert_eq!(
            told(&site, &anna, &query).await,
            std::slice::from_ref(&kept),
            "{query}"
        );
        assert_eq!(told(&site, &ben, &query).await, [], "{query}");
    }
    assert_eq!(told(&site, &anna, "code=M7Q2KX").await, []);
    assert_eq!(
        told(&site, &anna, &format!("game={}", GameId(Uuid::nil()))).await,
        []
    );
    for query in [
        "",
        "code=x",
        "game=x",
        "code=K7Q2MX&game=00000000-0000-0000-0000-000000000000",
    ] {
        let path = format!("/timelines?{query}");
        let refused = site.call("GET", &path).bearer(&anna).send().await;
        refused.refused(400, "bad-query");
    }

    let stranger = site
        .call("POST", "/internal/timelines")
        .bearer(&anna)
        .json(&kept)
        .send()
        .await;
    stranger.refused(404, "unknown-route");
    let unsigned = internal::call(&site, "/internal/timelines", "nonsense")
        .json(&kept)
        .send()
        .await;
    unsigned.refused(401, "service-token-invalid");
    let mut endless = kept.clone();
    endless.events = vec![endless.events[0].clone(); 10_000];
    save(json!(endless)).await.refused(413, "body-too-large");
}
