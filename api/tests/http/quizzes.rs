//! The library.

use api::store::QuizStore as _;
use axum::http::StatusCode;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use protocol::claims::{AUDIENCE_QUIZ, ISSUER, QuizClaims, TYPE_QUIZ};
use protocol::ids::QuizId;
use protocol::quiz::{Choice, Question, QuestionKind, QuizDocument};
use protocol::rest::{Page, Plan, QuizResponse, QuizSummary, SignedQuizResponse};
use serde_json::json;
use uuid::Uuid;

use crate::support::{Account, Site, document};

async fn create(site: &Site, teacher: &Account, quiz: &QuizDocument) -> QuizResponse {
    let reply = site
        .call("POST", "/quizzes")
        .bearer(teacher)
        .json(quiz)
        .send()
        .await;
    assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.text());
    reply.read()
}

#[tokio::test]
async fn a_quiz_lives() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let reply = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .json(&document("Atoms", 2))
        .send()
        .await;
    assert_eq!(reply.status, StatusCode::CREATED);
    let stored: QuizResponse = reply.read();
    assert_eq!((stored.version, &stored.quiz), (1, &document("Atoms", 2)));
    assert_eq!(
        reply.headers["location"],
        format!("/store/quizzes/{}", stored.id).as_str()
    );
    assert_eq!(reply.headers["etag"], "\"1\"");

    let path = format!("/quizzes/{}", stored.id);
    let read = site.call("GET", &path).bearer(&anna).send().await;
    assert_eq!(
        (
            read.read::<QuizResponse>(),
            read.headers["etag"].to_str().unwrap()
        ),
        (stored.clone(), "\"1\"")
    );
    assert_eq!(read.headers["cache-control"], "no-store");

    let change = site
        .call("PUT", &path)
        .bearer(&anna)
        .header("if-match", "\"1\"")
        .json(&document("Molecules", 0));
    let changed = change.send().await;
    assert_eq!(
        (changed.status, changed.headers["etag"].to_str().unwrap()),
        (StatusCode::OK, "\"2\"")
    );
    let again = site
        .call("GET", &path)
        .bearer(&anna)
        .send()
        .await
        .read::<QuizResponse>();
    assert_eq!(again, changed.read());
    assert_eq!((again.version, again.quiz), (2, document("Molecules", 0)));

    assert_eq!(
        site.call("DELETE", &path).bearer(&anna).send().await.status,
        StatusCode::NO_CONTENT
    );
    site.call("GET", &path)
        .bearer(&anna)
        .send()
        .await
        .refused(404, "no-such-quiz");
    site.call("DELETE", &path)
        .bearer(&anna)
        .send()
        .await
        .refused(404, "no-such-quiz");
}

#[tokio::test]
async fn another_teachers_quiz_is_as_good_as_missing() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let stored = create(&site, &anna, &document("Atoms", 1)).await;
    let path = format!("/quizzes/{}", stored.id);
    let missing = site
        .call("GET", &format!("/quizzes/{}", Uuid::nil()))
        .bearer(&ben)
        .send()
        .await;
    let reply = site.call("GET", &path).bearer(&ben).send().await;
    reply.refused(404, "no-such-quiz");
    assert_eq!(reply.text(), missing.text());
    site.call("GET", &format!("{path}/signed"))
        .bearer(&ben)
        .send()
        .await
        .refused(404, "no-such-quiz");
    let put = site
        .call("PUT", &path)
        .bearer(&ben)
        .header("if-match", "1")
        .json(&document("Mine", 1));
    put.send().await.refused(404, "no-such-quiz");
    site.call("DELETE", &path)
        .bearer(&ben)
        .send()
        .await
        .refused(404, "no-such-quiz");
    let list: Page<QuizSummary> = site.call("GET", "/quizzes").bearer(&ben).send().await.read();
    assert_eq!(
        list,
        Page {
            items: vec![],
            next: None
        }
    );
    let untouched: QuizResponse = site.call("GET", &path).bearer(&anna).send().await.read();
    assert_eq!(untouched, stored);
}

#[tokio::test]
async fn a_change_names_the_version_it_is_made_to() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let stored = create(&site, &anna, &document("Atoms", 1)).await;
    let path = format!("/quizzes/{}", stored.id);
    let put = |version: Option<&str>| {
        let call = site.call("PUT", &path).bearer(&anna).json(&document("New", 1));
        match version {
            Some(version) => call.header("if-match", version),
            None => call,
        }
        .send()
    };
    put(None).await.refused(428, "version-missing");
    for malformed in ["", "*", "\"one\"", "-1", "99999999999"] {
        put(Some(malformed)).await.refused(400, "version-malformed");
    }
    for stale in ["\"0\"", "2", "\"7\""] {
        let sentence = put(Some(stale)).await.refused(412, "version-stale");
        assert!(sentence.contains("is 1 now"), "{sentence}");
    }
    assert_eq!(put(Some("1")).await.status, StatusCode::OK);
    put(Some("1")).await.refused(412, "version-stale");
}

#[tokio::test]
async fn a_bad_document_is_refused_with_its_place() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let stored = create(&site, &anna, &document("Atoms", 1)).await;
    let mut no_answer = document("Atoms", 3);
    no_answer.questions[1].choices[0].correct = false;
    let path = format!("/quizzes/{}", stored.id);
    for (quiz, place) in [
        (no_answer, "question 2"),
        (document(" ", 1), "title"),
        (document("x", 201), "201"),
    ] {
        let created = site
            .call("POST", "/quizzes")
            .bearer(&anna)
            .json(&quiz)
            .send()
            .await;
        assert!(created.refused(422, "bad-quiz").contains(place));
        let put = site
            .call("PUT", &path)
            .bearer(&anna)
            .header("if-match", "1")
            .json(&quiz)
            .send()
            .await;
        assert!(put.refused(422, "bad-quiz").contains(place));
    }
}

#[tokio::test]
async fn the_largest_document_fits() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let choice = |i| Choice {
        text: "🜁".repeat(250),
        correct: i == 0,
    };
    let question = Question {
        kind: QuestionKind::Multiple,
        text: "𝔘".repeat(1000),
        choices: (0..10).map(choice).collect(),
        time_ms: 600_000,
    };
    let quiz = QuizDocument {
        title: "題".repeat(120),
        questions: vec![question; 200],
    };
    let stored = create(&site, &anna, &quiz).await;
    assert!(stored.quiz == quiz);
}

#[tokio::test]
async fn a_list_comes_in_pages_newest_change_first() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let mut titles = Vec::new();
    for n in 1..=5 {
        let title = format!("Quiz {n}");
        create(&site, &anna, &document(&title, n)).await;
        titles.insert(0, title);
        site.clock.advance(std::time::Duration::from_millis(5));
    }
    let (mut seen, mut path) = (Vec::new(), "/quizzes?limit=2".to_owned());
    loop {
        let page: Page<QuizSummary> = site.call("GET", &path).bearer(&anna).send().await.read();
        assert!(page.items.len() == 2 || page.next.is_none());
        seen.extend(page.items.into_iter().map(|row| row.title));
        let Some(next) = page.next else { break };
        path = format!("/quizzes?limit=2&after={next}");
    }
    assert_eq!(seen, titles);
    let exact: Page<QuizSummary> = site
        .call("GET", "/quizzes?limit=5")
        .bearer(&anna)
        .send()
        .await
        .read();
    assert_eq!((exact.items.len(), exact.next), (5, None));
    for query in [
        "limit=0",
        "limit=101",
        "limit=x",
        "limit=-1",
        "after=x",
        "after=1.x",
        "after=-1.0",
        "limit=1&limit=2",
    ] {
        let reply = site
            .call("GET", &format!("/quizzes?{query}"))
            .bearer(&anna)
            .send()
            .await;
        reply.refused(400, "bad-query");
    }
}

#[tokio::test]
async fn a_plan_bounds_the_library() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let plans: Page<Plan> = site.call("GET", "/plans").send().await.read();
    let quizzes_max = plans.items[0].quizzes_max;
    let mut last = None;
    for n in 1..=quizzes_max {
        let id = QuizId(Uuid::from_u128(u128::from(n)));
        let quiz = QuizResponse {
            id,
            version: 1,
            updated_ms: 1,
            quiz: document("Q", 0),
        };
        site.store.insert_quiz(anna.id, &quiz, quizzes_max).await.unwrap();
        last = Some(id);
    }
    let refused = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .json(&document("One more", 1))
        .send()
        .await;
    assert!(
        refused
            .refused(403, "quiz-limit")
            .contains(&quizzes_max.to_string())
    );
    let import = site
        .call("POST", "/quizzes/import?filename=a.gift")
        .bearer(&anna)
        .body("Is it? {T}\n")
        .send()
        .await;
    import.refused(403, "quiz-limit");
    let path = format!("/quizzes/{}", last.unwrap());
    assert_eq!(
        site.call("DELETE", &path).bearer(&anna).send().await.status,
        StatusCode::NO_CONTENT
    );
    create(&site, &anna, &document("One more", 1)).await;
}

#[tokio::test]
async fn a_signed_document_is_checked_by_the_public_keys() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let stored = create(&site, &anna, &document("Atoms", 2)).await;
    let path = format!("/quizzes/{}/signed", stored.id);
    let signed: SignedQuizResponse = site.call("GET", &path).bearer(&anna).send().await.read();
    let jwks: jsonwebtoken::jwk::JwkSet = site.call("GET", "/.well-known/jwks.json").send().await.read();
    assert_eq!(jwks, site.api.jwks());
    let header = jsonwebtoken::decode_header(&signed.signed).unwrap();
    assert_eq!(header.typ.as_deref(), Some(TYPE_QUIZ));
    assert_eq!(signed.expires_in_s, 43_200);
    let key = DecodingKey::from_jwk(jwks.find(&header.kid.unwrap()).unwrap()).unwrap();
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_audience(&[AUDIENCE_QUIZ]);
    validation.set_issuer(&[ISSUER]);
    let claims = jsonwebtoken::decode::<QuizClaims>(&signed.signed, &key, &validation)
        .unwrap()
        .claims;
    assert_eq!(
        (claims.sub, claims.quiz_id, claims.quiz),
        (anna.id, stored.id, stored.quiz)
    );
    let life_s = claims.exp - site.clock.now_s();
    assert!((43_190..=43_200).contains(&life_s), "{life_s}");
}

#[tokio::test]
async fn an_id_that_is_none_is_told_apart_from_a_missing_one() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    for path in [
        "/quizzes/7",
        "/quizzes/7/signed",
        "/quizzes/%3Cb%3E",
        "/games/x/report",
        "/quizzes/%ff",
    ] {
        site.call("GET", path)
            .bearer(&anna)
            .send()
            .await
            .refused(400, "bad-id");
    }
    let put = site
        .call("PUT", "/quizzes/7")
        .bearer(&anna)
        .header("if-match", "1")
        .json(&json!({}))
        .send()
        .await;
    put.refused(400, "bad-id");
    site.call("DELETE", "/games/7")
        .bearer(&anna)
        .send()
        .await
        .refused(400, "bad-id");
}

#[tokio::test]
async fn a_duplicate_is_a_quiz_of_its_own() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let long = "ä".repeat(protocol::quiz::TITLE_CHARS_MAX);
    for (title, copied) in [
        ("Atoms".to_owned(), "Atoms (copy)".to_owned()),
        (
            long.clone(),
            format!("{} (copy)", &long[..long.len() - 2 * " (copy)".len()]),
        ),
    ] {
        let made = site
            .call("POST", "/quizzes")
            .bearer(&anna)
            .json(&document(&title, 2))
            .send();
        let original: QuizResponse = made.await.read();
        let path = format!("/quizzes/{}/duplicate", original.id);
        let reply = site.call("POST", &path).bearer(&anna).send().await;
        assert_eq!(reply.status.as_u16(), 201, "{}", reply.text());
        let copy: QuizResponse = reply.read();
        assert_eq!(
            reply.headers["location"],
            format!("/store/quizzes/{}", copy.id).as_str()
        );
        assert!(copy.id != original.id && copy.version == 1);
        assert_eq!(
            (&copy.quiz.title, &copy.quiz.questions),
            (&copied, &original.quiz.questions)
        );
        site.call("POST", &path)
            .bearer(&ben)
            .send()
            .await
            .refused(404, "no-such-quiz");
    }
    let page: Page<QuizSummary> = site.call("GET", "/quizzes").bearer(&anna).send().await.read();
    assert_eq!(page.items.len(), 4);
}
