//! What an operator asks of a live game, at whatever server.

use serde_json::Value;

use crate::several::{CODE, Site, join};

/// Status, who has the game, and the answer.
async fn ask(site: &Site, server: usize, code: &str) -> (u16, Option<String>, Value) {
    let path = format!("/timeline?g={code}");
    let (status, head) = site.games[server].admin.head(&path, "x: y").await;
    let owner = head
        .lines()
        .find_map(|line| line.strip_prefix("homeroom-owner: "));
    let owner = owner.map(|owner| owner.trim().to_owned());
    let (_, body) = site.games[server].admin.get(&path, None).await.unwrap();
    (status, owner, body)
}

fn kinds(timeline: &Value) -> Vec<&str> {
    let events = timeline["events"].as_array().unwrap().iter();
    events.map(|event| event["what"]["t"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_operator_asks_any_server_what_happened_to_a_live_game() {
    let site = Site::open(2).await;
    let game = site.create(0).await;
    let _host = site.host(0).await;
    let (_ada, _) = site.player(0, join("Ada")).await;
    for server in [0, 1] {
        let (status, owner, timeline) = ask(&site, server, CODE).await;
        assert_eq!((status, owner.as_deref()), (200, Some("game-0")), "{timeline}");
        assert_eq!(
            (&timeline["game"], &timeline["code"]),
            (&game, &Value::from(CODE))
        );
        assert_eq!(kinds(&timeline), ["created", "owner"]);
        let admin = site.games[server].admin.0.to_string();
        let printed = site
            .cluster
            .prints("game-server", &["timeline", CODE, "--admin", &admin]);
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), timeline);
    }
    // No client gets it, and a code without a game has none.
    let (status, _) = site.at(1).get_text(&format!("/timeline?g={CODE}")).await.unwrap();
    assert_eq!(status, 401);
    assert_eq!(ask(&site, 1, "K7Q2MY").await.0, 404);
    assert_eq!(ask(&site, 1, "nothing").await.0, 400);
    // An owner that does not answer is named.
    site.games[0].process.freeze().await;
    let (status, _, refusal) = ask(&site, 1, CODE).await;
    assert_eq!((status, &refusal["code"]), (502, &Value::from("owner-silent")));
    assert!(
        refusal["detail"].as_str().unwrap().starts_with("game-0 "),
        "{refusal}"
    );
    site.games[0].process.thaw();
}
