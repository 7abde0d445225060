//! The calls of game servers: who may make them, what they answer, and that no public route leads there.

use axum::Router;
use axum::http::StatusCode;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use protocol::claims::{AUDIENCE_PLAYER, AUDIENCE_SERVICE, ISSUER, ServiceClaims};
use protocol::ids::{PlayerId, QuizId, TeacherId};
use protocol::rest::{
    HasResultResponse, PlanCheckRequest, PlanCheckResponse, QuizResponse, ReportResponse,
    ReserveEpochResponse,
};
use protocol::result::{AnswerResult, GameResult, PlayerResult};
use runtime::secret::Secret;
use serde_json::json;
use uuid::Uuid;

use crate::support::{Call, Site, document, game};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const OLD_SECRET: &str = "fedcba9876543210fedcba9876543210";

fn secret(text: &str) -> Secret {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Secret::read(file.path()).unwrap()
}

fn internal(site: &Site) -> Router {
    site.api.internal_router(&[secret(SECRET), secret(OLD_SECRET)])
}

fn claims(site: &Site) -> ServiceClaims {
    ServiceClaims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE_SERVICE.to_owned(),
        sub: "game-0".to_owned(),
        exp: site.clock.now_ms() / 1000 + 60,
    }
}

fn sign(claims: &impl serde::Serialize, algorithm: Algorithm, secret: &str) -> String {
    let key = EncodingKey::from_secret(secret.as_bytes()).unwrap();
    jsonwebtoken::encode(&Header::new(algorithm), claims, &key).unwrap()
}

pub(crate) fn token(site: &Site) -> String {
    sign(&claims(site), Algorithm::HS256, SECRET)
}

pub(crate) fn call(site: &Site, path: &str, token: &str) -> Call {
    Call::to(internal(site), "POST", path).header("authorization", &format!("Bearer {token}"))
}

fn asked(teacher: TeacherId, quiz: Option<QuizId>) -> PlanCheckRequest {
    PlanCheckRequest { teacher, quiz }
}

#[tokio::test]
async fn a_plan_check_grants_and_brings_the_quiz() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let quiz: QuizResponse = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .json(&document("Atoms", 2))
        .send()
        .await
        .read();
    let check = |teacher, quiz| {
        call(&site, "/internal/plan-check", &token(&site))
            .json(&asked(teacher, quiz))
            .send()
    };
    let granted: PlanCheckResponse = check(anna.id, Some(quiz.id)).await.read();
    assert_eq!((granted.players_max, granted.quiz), (500, Some(quiz.quiz)));
    let granted: PlanCheckResponse = check(anna.id, None).await.read();
    assert_eq!((granted.players_max, granted.quiz), (500, None));
    check(ben.id, Some(quiz.id)).await.refused(404, "no-such-quiz");
    check(TeacherId(Uuid::from_u128(9)), None)
        .await
        .refused(403, "unknown-teacher");
}

#[tokio::test]
async fn too_many_starts_are_told_to_the_game_server() {
    let site = Site::with(api::Config {
        teacher_games_max: 1,
        ..api::Config::default()
    })
    .await;
    let anna = site.teacher("anna").await;
    let check = || {
        call(&site, "/internal/plan-check", &token(&site))
            .json(&asked(anna.id, None))
            .send()
    };
    assert_eq!(check().await.status, StatusCode::OK);
    let refused = check().await;
    refused.refused(429, "quota-exceeded");
    assert!(refused.headers.contains_key("retry-after"));
    assert!(
        refused.headers["ratelimit-policy"]
            .to_str()
            .unwrap()
            .starts_with("\"games\";q=1")
    );
}

#[tokio::test]
async fn a_result_is_saved_once_and_shown_in_the_report() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let result = game(5, anna.id);
    let save = |result: GameResult| {
        call(&site, "/internal/results", &token(&site))
            .json(&result)
            .send()
    };
    for _ in 0..2 {
        assert_eq!(save(result.clone()).await.status, StatusCode::NO_CONTENT);
    }
    let path = format!("/games/{}/report", result.game);
    let report: ReportResponse = site.call("GET", &path).bearer(&anna).send().await.read();
    assert_eq!(report.result, result);

    let mut other = result.clone();
    other.players[0].total += 1;
    save(other).await.refused(409, "different-result");
    save(game(6, TeacherId(Uuid::from_u128(9))))
        .await
        .refused(403, "unknown-teacher");
}

#[tokio::test]
async fn a_reserved_epoch_stops_the_server_before() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let result = game(5, anna.id);
    let reserve = || {
        let asked = json!({ "game": result.game, "above": 3 });
        call(&site, "/internal/games/epoch", &token(&site))
            .json(&asked)
            .send()
    };
    let has_result = || {
        let asked = json!({ "game": result.game });
        call(&site, "/internal/games/has-result", &token(&site))
            .json(&asked)
            .send()
    };
    let save = |path| call(&site, path, &token(&site)).json(&result).send();
    let known: HasResultResponse = has_result().await.read();
    assert!(!known.has_result);
    let reserved: ReserveEpochResponse = reserve().await.read();
    assert_eq!(reserved.epoch, Some(1_003));
    save("/internal/results?epoch=3")
        .await
        .refused(409, "superseded-result");
    // An older release does not say its epoch.
    save("/internal/results").await.refused(409, "superseded-result");
    let saved = save("/internal/results?epoch=1003").await;
    assert_eq!(saved.status, StatusCode::NO_CONTENT);
    let known: HasResultResponse = has_result().await.read();
    assert!(known.has_result);
    let reserved: ReserveEpochResponse = reserve().await.read();
    assert_eq!(reserved.epoch, None, "the game is over");
}

#[tokio::test]
async fn the_largest_result_fits() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let mut result = game(7, anna.id);
    let answer = |q: u16| AnswerResult {
        q,
        choices: (0..10).collect(),
        elapsed_ms: 600_000,
        correct: false,
        points: 1_000,
    };
    // Both bounds are game-core's and the quiz document's.
    result.players = (1..=500)
        .map(|id| PlayerResult {
            id: PlayerId(id),
            name: "\u{1F469}\u{200D}\u{1F680}".repeat(20),
            rank: id,
            total: 200_000,
            answers: (1..=200).map(answer).collect(),
        })
        .collect();
    let bytes = serde_json::to_vec(&result).unwrap().len();
    let quiz_bytes = api::config::QUIZ_BODY_BYTES_MAX;
    assert!(bytes + quiz_bytes < api::config::RESULT_BODY_BYTES_MAX, "{bytes}");
}

#[tokio::test]
async fn only_a_token_signed_for_the_service_with_a_shared_secret_opens() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let body = asked(anna.id, None);
    let good = claims(&site);
    let changed = |change: fn(&mut ServiceClaims)| {
        let mut claims = good.clone();
        change(&mut claims);
        sign(&claims, Algorithm::HS256, SECRET)
    };
    let without = |claim: &str| {
        let mut claims = json!(good);
        claims.as_object_mut().unwrap().remove(claim);
        sign(&claims, Algorithm::HS256, SECRET)
    };
    let bad = [
        (
            "another secret",
            sign(&good, Algorithm::HS256, "0123456789abcdef0123456789abcdeX"),
        ),
        ("another algorithm", sign(&good, Algorithm::HS512, SECRET)),
        ("the secret itself", SECRET.to_owned()),
        ("a player's", changed(|c| c.aud = AUDIENCE_PLAYER.to_owned())),
        ("another issuer's", changed(|c| c.iss = "school".to_owned())),
        ("an expired one", changed(|c| c.exp -= 120)),
        ("without aud", without("aud")),
        ("without iss", without("iss")),
        ("without exp", without("exp")),
        ("without sub", without("sub")),
        ("a teacher's", anna.token.clone()),
        ("an endless one", "x".repeat(5_000)),
        ("none", String::new()),
    ];
    for (what, token) in bad {
        for path in [
            "/internal/plan-check",
            "/internal/results",
            "/internal/games/epoch",
            "/internal/games/has-result",
            "/internal/timelines",
            "/internal/other",
        ] {
            let reply = call(&site, path, &token).json(&body).send().await;
            assert_eq!(reply.status, 401, "{what} opened {path}");
            reply.refused(401, "service-token-invalid");
        }
    }
    Call::to(internal(&site), "POST", "/internal/plan-check")
        .json(&body)
        .send()
        .await
        .refused(401, "service-token-invalid");

    for secret in [SECRET, OLD_SECRET] {
        let token = sign(&good, Algorithm::HS256, secret);
        let reply = call(&site, "/internal/plan-check", &token)
            .json(&body)
            .send()
            .await;
        assert_eq!(reply.status, 200, "{secret}");
    }
}

#[tokio::test]
async fn no_public_route_leads_to_an_internal_call_nor_the_other_way_round() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    for path in [
        "/internal/plan-check",
        "/internal/results",
        "/internal/timelines",
        "/internal",
    ] {
        for token in [token(&site), anna.token.clone()] {
            site.call("POST", path)
                .header("authorization", &format!("Bearer {token}"))
                .json(&asked(anna.id, None))
                .send()
                .await
                .refused(404, "unknown-route");
        }
    }
    for path in ["/auth/login", "/quizzes", "/plans"] {
        call(&site, path, &token(&site))
            .json(&json!({}))
            .send()
            .await
            .refused(404, "unknown-route");
    }
}
