//! The one process and a forgotten password: a link by a letter where there is a mail server, and by a command where there is none.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::Teacher;
use crate::client::Http;
use crate::processes::{Cluster, PATIENCE};

const SITE: &str = "https://quiz.example";
const NEW: &str = "a new password";

/// Takes one letter as a mail server does, and gives its text.
async fn take_letter(listener: TcpListener) -> String {
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 mail.test\r\n").await.unwrap();
    loop {
        let mut line = String::new();
        assert!(
            stream.read_line(&mut line).await.unwrap() > 0,
            "it sent no letter"
        );
        if !line.starts_with("DATA") {
            stream.write_all(b"250 fine\r\n").await.unwrap();
            continue;
        }
        stream.write_all(b"354 go on\r\n").await.unwrap();
        let mut letter = String::new();
        while !letter.ends_with("\r\n.\r\n") {
            assert!(stream.read_line(&mut letter).await.unwrap() > 0, "{letter}");
        }
        stream.write_all(b"250 taken\r\n").await.unwrap();
        // Long lines are folded, as mail does.
        return letter.replace("=\r\n", "");
    }
}

/// The token of the link in `text`.
fn token(text: &str) -> &str {
    let (_, rest) = text
        .split_once(&format!("{SITE}/teach#/reset/"))
        .unwrap_or_else(|| panic!("no link in {text}"));
    rest.split_whitespace().next().unwrap()
}

/// Sets the new password by `token`, and signs in with it.
async fn spend(at: &Http, token: &str) {
    let body = json!({ "token": token, "password": NEW });
    let (status, answer) = at.post("/store/auth/reset", None, &body).await;
    assert_eq!((status, answer), (204, Value::Null));
    for (password, expected) in [(NEW, 200), ("correct horse", 401)] {
        let body = json!({ "email": "anna@school.org", "password": password });
        let (status, answer) = at.post("/store/auth/login", None, &body).await;
        assert_eq!(status, expected, "{password}: {answer}");
    }
}

#[tokio::test]
async fn the_one_process_writes_letters() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let smtp = format!("--smtp=smtp://{}", listener.local_addr().unwrap());
    let cluster = Cluster::new();
    let public = format!("--public-url={SITE}");
    let from = "--mail-from=Homeroom <homeroom@school.org>";
    let (_process, at) = cluster.homeroom(&[&smtp, &public, from]).await;
    Teacher::sign_up(&at).await;
    let asked = json!({ "email": "anna@school.org" });
    let (status, _) = at.post("/store/auth/reset-request", None, &asked).await;
    assert_eq!(status, 202);
    let letter = timeout(PATIENCE, take_letter(listener)).await.expect("a letter");
    assert!(
        letter.contains("From: Homeroom <homeroom@school.org>") && letter.contains("To: anna@school.org"),
        "{letter}"
    );
    spend(&at, token(&letter)).await;
}

#[tokio::test]
async fn without_mail_an_operator_prints_a_link_while_the_one_process_runs() {
    let cluster = Cluster::new();
    let (process, at) = cluster.homeroom(&[]).await;
    Teacher::sign_up(&at).await;
    let asked = json!({ "email": "anna@school.org" });
    let (status, refused) = at.post("/store/auth/reset-request", None, &asked).await;
    assert_eq!((status, &refused["code"]), (403, &json!("mail-off")));
    let link = cluster.prints(
        "api",
        &[
            "reset-link",
            "Anna@school.org",
            "--public-url",
            SITE,
            "--database=sqlite:data/homeroom.db",
        ],
    );
    spend(&at, token(&link)).await;
    process.ask_to_stop();
    process.ended_well().await;
}
