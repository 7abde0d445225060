//! Results and reports, and what the game server asks of the API.

use std::collections::BTreeMap;

use api::{PlanCheckError, SaveError};
use axum::http::StatusCode;
use protocol::ids::TeacherId;
use protocol::rest::{GameSummary, Page, QuizResponse, ReportResponse};
use protocol::result::GameResult;
use uuid::Uuid;

use crate::support::{Site, document, game};

#[tokio::test]
async fn a_report_equals_a_recomputation_from_the_raw_answers() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let result = game(5, anna.id);
    site.api.save_result(result.clone(), 1).await.unwrap();
    let path = format!("/games/{}/report", result.game);
    let report: ReportResponse = site.call("GET", &path).bearer(&anna).send().await.read();
    assert_eq!(report.result, result);

    let mut times: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
    let mut chosen: BTreeMap<(u16, u8), u32> = BTreeMap::new();
    for answer in result.players.iter().flat_map(|player| &player.answers) {
        times.entry(answer.q).or_default().push(answer.elapsed_ms);
        for choice in &answer.choices {
            *chosen.entry((answer.q, *choice)).or_default() += 1;
        }
    }
    assert_eq!(report.questions.len(), 3, "one a question played");
    for (question, q) in report.questions.iter().zip(1..) {
        assert_eq!(
            (question.q, question.answered),
            (q, u32::try_from(times[&q].len()).unwrap())
        );
        let bars: Vec<u32> = (0..3)
            .map(|choice| chosen.get(&(q, choice)).copied().unwrap_or(0))
            .collect();
        assert_eq!(question.histogram, bars, "question {q}");
    }
    let by_hand: Vec<_> = report.questions.iter().map(|q| (q.right, q.median_ms)).collect();
    assert_eq!(by_hand, [(2, Some(3_000)), (0, Some(9_000)), (0, Some(4_500))]);
}

#[tokio::test]
async fn a_result_counts_once() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let result = game(5, anna.id);
    let save = |result: &GameResult| site.api.save_result(result.clone(), 1);
    let (one, two) = tokio::join!(save(&result), save(&result));
    one.unwrap();
    two.unwrap();
    let mut shuffled = result.clone();
    shuffled.questions.reverse();
    shuffled.players[0].answers.reverse();
    save(&shuffled)
        .await
        .expect("the same result, put together in another order");
    let mut different = result.clone();
    different.players[0].total += 1;
    assert!(matches!(save(&different).await, Err(SaveError::Different)));
    let list: Page<GameSummary> = site.call("GET", "/games").bearer(&anna).send().await.read();
    assert_eq!(list.items.len(), 1);
    let path = format!("/games/{}/report", result.game);
    let report: ReportResponse = site.call("GET", &path).bearer(&anna).send().await.read();
    assert_eq!(report.result, result, "the first one stays");
    let nobodys = game(6, TeacherId(Uuid::nil()));
    assert!(matches!(save(&nobodys).await, Err(SaveError::UnknownTeacher)));
}

#[tokio::test]
async fn a_game_without_players_or_questions_has_a_report() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let empty = GameResult {
        questions: vec![],
        players: vec![],
        ..game(5, anna.id)
    };
    site.api.save_result(empty.clone(), 1).await.unwrap();
    let path = format!("/games/{}/report", empty.game);
    let report: ReportResponse = site.call("GET", &path).bearer(&anna).send().await.read();
    assert_eq!(
        report,
        ReportResponse {
            result: empty,
            questions: vec![]
        }
    );
}

#[tokio::test]
async fn games_are_listed_and_deleted_by_their_teacher_alone() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    for n in 1..=3 {
        site.api.save_result(game(n, anna.id), 1).await.unwrap();
    }
    let page: Page<GameSummary> = site
        .call("GET", "/games?limit=2")
        .bearer(&anna)
        .send()
        .await
        .read();
    let ids = |page: &Page<GameSummary>| {
        page.items
            .iter()
            .map(|row| row.id.0.as_u128())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&page), [3, 2]);
    let row = &page.items[0];
    assert_eq!(
        (row.title.as_str(), row.players, row.questions, row.ended_ms),
        ("Atoms as played", 3, 3, 600_003)
    );
    let next = format!("/games?limit=2&after={}", page.next.unwrap());
    let rest: Page<GameSummary> = site.call("GET", &next).bearer(&anna).send().await.read();
    assert_eq!((ids(&rest), rest.next), (vec![1], None));

    let game_path = format!("/games/{}", Uuid::from_u128(2));
    let report_path = format!("{game_path}/report");
    site.call("GET", &report_path)
        .bearer(&ben)
        .send()
        .await
        .refused(404, "no-such-game");
    site.call("DELETE", &game_path)
        .bearer(&ben)
        .send()
        .await
        .refused(404, "no-such-game");
    assert_eq!(
        site.call("DELETE", &game_path).bearer(&anna).send().await.status,
        StatusCode::NO_CONTENT
    );
    site.call("GET", &report_path)
        .bearer(&anna)
        .send()
        .await
        .refused(404, "no-such-game");
    site.api
        .save_result(game(2, anna.id), 1)
        .await
        .expect("a repeated save is fine");
    site.call("GET", &report_path)
        .bearer(&anna)
        .send()
        .await
        .refused(404, "no-such-game");
}

#[tokio::test]
async fn a_plan_check_grants_what_the_plan_allows() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let created = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .json(&document("Atoms", 2))
        .send()
        .await;
    let stored: QuizResponse = created.read();
    let grant = site.api.plan_check(anna.id, Some(stored.id)).await.unwrap();
    assert_eq!((grant.players_max, grant.quiz), (500, Some(stored.quiz)));
    assert_eq!(site.api.plan_check(anna.id, None).await.unwrap().quiz, None);
    let theirs = site.api.plan_check(ben.id, Some(stored.id)).await;
    assert!(matches!(theirs, Err(PlanCheckError::UnknownQuiz)));
    let nobody = site.api.plan_check(TeacherId(Uuid::nil()), None).await;
    assert!(matches!(nobody, Err(PlanCheckError::UnknownTeacher)));
    site.store.close().await;
    let closed = site.api.plan_check(anna.id, None).await;
    assert!(matches!(closed, Err(PlanCheckError::Unavailable(_))));
}
