//! Finding, sharing and exporting quizzes, and a game's results as files.

use api::import::import;
use axum::http::StatusCode;
use protocol::rest::{Page, QuizResponse, QuizSummary, ShareResponse, SharedQuizResponse};

use crate::support::{Account, Reply, Site, document, game};

async fn add(site: &Site, teacher: &Account, title: &str) -> QuizResponse {
    let call = site.call("POST", "/quizzes").bearer(teacher);
    let reply = call.json(&document(title, 2)).send().await;
    assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.text());
    reply.read()
}

async fn get(site: &Site, teacher: &Account, path: &str) -> Reply {
    site.call("GET", path).bearer(teacher).send().await
}

#[tokio::test]
async fn a_search_is_paged_by_key_and_never_stale() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    for title in ["Étoile 1", "Planet", "étoile 2", "ETOILE 3"] {
        site.clock.advance(std::time::Duration::from_secs(1));
        add(&site, &anna, title).await;
    }
    add(&site, &ben, "Étoile of Ben").await;
    let titles = async |path: &str| {
        let page: Page<QuizSummary> = get(&site, &anna, path).await.read();
        let titles: Vec<String> = page.items.into_iter().map(|row| row.title).collect();
        (titles, page.next)
    };
    let (first, next) = titles("/quizzes?search=etoile&limit=2").await;
    assert_eq!(first, ["ETOILE 3", "étoile 2"]);
    let (rest, none) = titles(&format!("/quizzes?search=etoile&limit=2&after={}", next.unwrap())).await;
    assert_eq!((rest, none), (vec!["Étoile 1".to_owned()], None));
    assert_eq!(titles("/quizzes?search=2+%C3%89TOILE").await.0, ["étoile 2"]);
    assert_eq!(
        titles("/quizzes?search=%00&limit=1").await.0,
        ["ETOILE 3"],
        "no word is in all"
    );

    add(&site, &anna, "A new etoile").await;
    assert_eq!(titles("/quizzes?search=new").await.0, ["A new etoile"]);
    let long = "a".repeat(121);
    let refused = get(&site, &anna, &format!("/quizzes?search={long}")).await;
    assert!(refused.refused(400, "bad-query").contains("120"));
}

#[tokio::test]
async fn a_shared_quiz_can_be_seen_and_copied_until_it_is_taken_back() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let quiz = add(&site, &anna, "Atoms").await;
    let path = format!("/quizzes/{}/share", quiz.id);
    get(&site, &anna, &path).await.refused(404, "not-shared");
    let foreign = site.call("POST", &path).bearer(&ben).send().await;
    foreign.refused(404, "no-such-quiz");
    let share: ShareResponse = site.call("POST", &path).bearer(&anna).send().await.read();
    let again: ShareResponse = site.call("POST", &path).bearer(&anna).send().await.read();
    assert_eq!(share, again);
    assert_eq!(get(&site, &anna, &path).await.read::<ShareResponse>(), share);

    let shared = format!("/shared/{}", share.share);
    let seen: SharedQuizResponse = get(&site, &ben, &shared).await.read();
    assert_eq!((seen.by.as_str(), &seen.quiz), ("anna", &quiz.quiz));
    site.call("GET", &shared)
        .send()
        .await
        .refused(401, "token-missing");
    // What is seen is what it is now; what was copied is the copier's.
    let copied = site
        .call("POST", &format!("{shared}/copy"))
        .bearer(&ben)
        .send()
        .await;
    assert_eq!(copied.status, StatusCode::CREATED);
    let copy: QuizResponse = copied.read();
    assert_ne!(copy.id, quiz.id);
    assert_eq!(
        copied.headers["location"],
        format!("/store/quizzes/{}", copy.id).as_str()
    );
    let change = site
        .call("PUT", &format!("/quizzes/{}", quiz.id))
        .bearer(&anna)
        .header("if-match", "\"1\"");
    change.json(&document("Molecules", 1)).send().await;
    let seen: SharedQuizResponse = get(&site, &ben, &shared).await.read();
    assert_eq!(seen.quiz.title, "Molecules");
    let kept: QuizResponse = get(&site, &ben, &format!("/quizzes/{}", copy.id)).await.read();
    assert_eq!(kept.quiz, quiz.quiz);

    let not_his = site.call("DELETE", &path).bearer(&ben).send().await;
    not_his.refused(404, "not-shared");
    let taken = site.call("DELETE", &path).bearer(&anna).send().await;
    assert_eq!(taken.status, StatusCode::NO_CONTENT);
    get(&site, &ben, &shared).await.refused(404, "not-shared");
    let late = site
        .call("POST", &format!("{shared}/copy"))
        .bearer(&ben)
        .send()
        .await;
    late.refused(404, "not-shared");
    let fresh: ShareResponse = site.call("POST", &path).bearer(&anna).send().await.read();
    assert_ne!(fresh, share, "an old link never works again");
}

#[tokio::test]
async fn a_quiz_leaves_as_a_file_and_comes_back() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let quiz = add(&site, &anna, "Größe \"1\"").await;
    let path = |format: &str| format!("/quizzes/{}/export?format={format}", quiz.id);
    for (format, media_type) in [
        ("gift", "text/plain; charset=utf-8"),
        ("json", "application/json"),
    ] {
        let file = get(&site, &anna, &path(format)).await;
        assert_eq!(file.headers["content-type"], media_type);
        let name = file.headers["content-disposition"].to_str().unwrap();
        let told = format!(
            "attachment; filename=\"Gr__e -1-.{format}\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20-1-.{format}"
        );
        assert_eq!(name, told);
        assert_eq!(
            import("", file.text().as_bytes()).unwrap().quiz,
            quiz.quiz,
            "{format}"
        );
        let upload = site
            .call("POST", "/quizzes/import")
            .bearer(&ben)
            .body(file.text());
        let imported = upload.send().await;
        assert_eq!(imported.status, StatusCode::CREATED, "{}", imported.text());
        assert_eq!(imported.value()["format"], format);
    }
    get(&site, &ben, &path("gift")).await.refused(404, "no-such-quiz");
    get(&site, &anna, &path("xls")).await.refused(400, "bad-query");
    let bare = format!("/quizzes/{}/export", quiz.id);
    get(&site, &anna, &bare).await.refused(400, "bad-query");

    let mut all_right = document("All right", 1);
    for choice in &mut all_right.questions[0].choices {
        choice.correct = true;
    }
    let stored: QuizResponse = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .json(&all_right)
        .send()
        .await
        .read();
    let refused = get(
        &site,
        &anna,
        &format!("/quizzes/{}/export?format=gift", stored.id),
    )
    .await;
    let sentence = refused.refused(422, "export-refused");
    assert!(
        sentence.contains("question 1 ") && sentence.contains("JSON"),
        "{sentence}"
    );
}

#[tokio::test]
async fn results_leave_as_tables() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let mut result = game(5, anna.id);
    result.players[0].name = "=1+1".to_owned();
    result.players[1].name = "Zoë".to_owned();
    site.api.save_result(result.clone(), 1).await.unwrap();
    let path = |format: &str| format!("/games/{}/export?format={format}", result.game);
    let csv = get(&site, &anna, &path("csv")).await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    let text = csv.text();
    assert!(text.starts_with("\u{feff}\"Place\",\"Name\","), "{text}");
    assert!(text.contains("\"'=1+1\"") && text.contains("\"Zoë\""), "{text}");
    assert_eq!(text.lines().count(), 1 + result.players.len());
    let xlsx = get(&site, &anna, &path("xlsx")).await;
    let told = xlsx.headers["content-disposition"].to_str().unwrap();
    assert!(told.contains("filename=\"Atoms as played.xlsx\""), "{told}");
    assert!(xlsx.bytes().starts_with(b"PK"));
    get(&site, &ben, &path("csv")).await.refused(404, "no-such-game");
    get(&site, &anna, &path("pdf")).await.refused(400, "bad-query");
    assert_eq!(xlsx.headers["cache-control"], "no-store");
}
