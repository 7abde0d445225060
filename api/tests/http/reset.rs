//! New passwords by a link: how it is asked for, what a letter holds, and what spending it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use api::{Api, Config, Keys, Letter, MailError, Mailer, SmtpMailer, reset_link};
use axum::http::StatusCode;
use serde_json::json;
use sqlx::Connection as _;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::support::{Call, Letters, PASSWORD, Reply, Site};

const NEW: &str = "a new password";

async fn ask(site: &Site, email: &str) -> Reply {
    let call = site.call("POST", "/auth/reset-request");
    call.json(&json!({ "email": email })).send().await
}

async fn spend(site: &Site, token: &str, password: &str) -> Reply {
    let call = site.call("POST", "/auth/reset");
    call.json(&json!({ "token": token, "password": password }))
        .send()
        .await
}

async fn login(site: &Site, password: &str) -> Reply {
    let call = site.call("POST", "/auth/login");
    call.json(&json!({ "email": "anna@school.org", "password": password }))
        .send()
        .await
}

#[tokio::test]
async fn a_link_sets_a_password_once_and_signs_out_everywhere() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    assert_eq!(ask(&site, " Anna@School.org ").await.status, StatusCode::ACCEPTED);
    let (reader, token) = site.letters.next().await;
    assert_eq!(reader, "anna@school.org");
    // What stands in the database opens nothing.
    let folder = site.keys_file().parent().unwrap().to_owned();
    for name in ["api.db", "api.db-wal"] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        assert!(
            !bytes.windows(token.len()).any(|part| part == token.as_bytes()),
            "{name}"
        );
    }

    spend(&site, &token, "short").await.refused(422, "bad-password");
    for wrong in ["", "x", &"0".repeat(64), &token[1..]] {
        spend(&site, wrong, NEW).await.refused(410, "reset-ended");
    }
    assert_eq!(
        login(&site, PASSWORD).await.status,
        StatusCode::OK,
        "nothing is changed yet"
    );
    assert_eq!(spend(&site, &token, NEW).await.status, StatusCode::NO_CONTENT);
    spend(&site, &token, "another password")
        .await
        .refused(410, "reset-ended");
    login(&site, PASSWORD).await.refused(401, "bad-credentials");
    assert_eq!(login(&site, NEW).await.status, StatusCode::OK);
    let refresh = site
        .call("POST", "/auth/refresh")
        .header("cookie", &anna.cookie)
        .send()
        .await;
    refresh.refused(401, "session-ended");
}

#[tokio::test]
async fn the_answer_tells_nobody_who_has_an_account() {
    let site = Site::new().await;
    site.teacher("anna").await;
    let told = |reply: Reply| (reply.status, reply.headers.clone(), reply.text());
    let known = told(ask(&site, "anna@school.org").await);
    for other in ["ben@school.org", "no address", "", "\u{0}@x.org"] {
        assert_eq!(told(ask(&site, other).await), known, "{other}");
    }
    site.letters.next().await;
    assert_eq!(site.letters.count(), 0, "nobody else was written to");
}

#[tokio::test]
async fn links_end_after_an_hour() {
    let site = Site::new().await;
    site.teacher("anna").await;
    let mut last = String::new();
    for _ in 0..3 {
        ask(&site, "anna@school.org").await;
        last = site.letters.next().await.1;
    }
    assert_eq!(
        ask(&site, "anna@school.org").await.status,
        StatusCode::ACCEPTED,
        "the answer is the same"
    );
    site.clock.advance(Duration::from_secs(60 * 60));
    spend(&site, &last, NEW).await.refused(410, "reset-ended");
    ask(&site, "anna@school.org").await;
    let (_, token) = site.letters.next().await;
    assert_eq!(spend(&site, &token, NEW).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn without_mail_an_operator_hands_out_links() {
    let site = Site::new().await;
    site.teacher("anna").await;
    let keys = Keys::load_or_create(&site.keys_file()).unwrap();
    let silent = Api::open(Config::default(), site.store.clone(), keys).router();
    let call = Call::to(silent, "POST", "/auth/reset-request");
    let refused = call.json(&json!({ "email": "anna@school.org" })).send().await;
    refused.refused(403, "mail-off");
    let now_ms = site.clock.now_ms();
    let link = async |email: &str| {
        reset_link(&*site.store, email, "https://quiz.example", now_ms)
            .await
            .unwrap()
    };
    assert_eq!(link("ben@school.org").await, None);
    assert_eq!(link("nobody").await, None);
    let link = link("ANNA@school.org").await.unwrap();
    let token = link.strip_prefix("https://quiz.example/teach#/reset/").unwrap();
    assert_eq!(spend(&site, token, NEW).await.status, StatusCode::NO_CONTENT);
    assert_eq!(login(&site, NEW).await.status, StatusCode::OK);
}

/// A mail server that refuses letters or lets them wait, as it is told.
struct Troubled {
    letters: Letters,
    refuses: AtomicBool,
    refused: AtomicU32,
    /// Letters that it takes.
    takes: Semaphore,
    /// Letters that it was asked to take, and was not yet done with.
    asked: AtomicU32,
}

#[async_trait::async_trait]
impl Mailer for Troubled {
    async fn send(&self, letter: Letter) -> Result<(), MailError> {
        if self.refuses.load(Ordering::SeqCst) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(MailError::Silent);
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.takes.acquire().await.unwrap().forget();
        self.asked.fetch_sub(1, Ordering::SeqCst);
        self.letters.send(letter).await
    }
}

/// A site with a mail server that refuses all letters, or is silent.
async fn troubled(refuses: bool, permits: u32) -> (Site, Arc<Troubled>) {
    let mut site = Site::with(Config {
        permits,
        ..Config::default()
    })
    .await;
    let mailer = Arc::new(Troubled {
        letters: Letters::default(),
        refuses: AtomicBool::new(refuses),
        refused: AtomicU32::new(0),
        takes: Semaphore::new(0),
        asked: AtomicU32::new(0),
    });
    let origin = "http://homeroom.test".to_owned();
    site.api = site.api.clone().mailing(mailer.clone(), origin);
    site.router = site.api.router();
    (site, mailer)
}

async fn until(state: impl AsyncFn() -> bool) {
    let states = async {
        while !state().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), states)
        .await
        .expect("it never comes to that");
}

#[tokio::test]
async fn a_letter_that_was_not_sent_does_not_count() {
    let (site, mailer) = troubled(true, 8).await;
    site.teacher("anna").await;
    // Twice as many as an account may have links.
    until(async || {
        assert_eq!(ask(&site, "anna@school.org").await.status, StatusCode::ACCEPTED);
        mailer.refused.load(Ordering::SeqCst) >= 6
    })
    .await;
    mailer.refuses.store(false, Ordering::SeqCst);
    mailer.takes.add_permits(100);
    until(async || {
        ask(&site, "anna@school.org").await;
        mailer.letters.count() > 0
    })
    .await;
    let (_, token) = mailer.letters.next().await;
    assert_eq!(spend(&site, &token, NEW).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_silent_mail_server_tells_nobody_who_has_an_account() {
    let (site, mailer) = troubled(false, 8).await;
    for name in ["anna", "ben", "cleo", "dora"] {
        site.teacher(name).await;
    }
    // More letters than are sent at once, and one more request for each teacher than there are letters.
    for name in ["anna", "ben", "cleo", "dora", "nobody"] {
        for _ in 0..4 {
            let reply = ask(&site, &format!("{name}@school.org")).await;
            assert_eq!(reply.status, StatusCode::ACCEPTED, "{name}");
        }
    }
    until(async || mailer.asked.load(Ordering::SeqCst) == 8).await;
    mailer.takes.add_permits(100);
    until(async || mailer.letters.count() == 12).await;
}

#[tokio::test]
async fn a_letter_says_nothing_that_a_stranger_chose() {
    let site = Site::new().await;
    let advertisement = "Buy now: spam.example";
    let body = json!({ "email": "victim@school.org", "password": PASSWORD, "name": advertisement });
    let registered = site.call("POST", "/auth/register").json(&body).send().await;
    assert_eq!(registered.status, StatusCode::CREATED);
    ask(&site, "victim@school.org").await;
    let letter = site.letters.next_letter().await;
    assert!(
        !letter.text.contains("spam") && !letter.subject.contains("spam"),
        "{}",
        letter.text
    );
}

/// What a request for a letter asks of the database, it asks with the permit that it came in with.
#[tokio::test]
async fn a_link_is_made_with_a_permit() {
    let (site, _mailer) = troubled(false, 1).await;
    let anna = site.teacher("anna").await;
    let database = site.keys_file().parent().unwrap().join("api.db");
    let database = format!("sqlite:{}", database.display());
    let mut other = sqlx::SqliteConnection::connect(&database).await.unwrap();
    // Nothing can be written for now.
    let locked = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let refused = async || {
        ask(&site, "anna@school.org").await;
        let reply = site.call("GET", "/quizzes").bearer(&anna).send().await;
        reply.status == StatusCode::SERVICE_UNAVAILABLE
    };
    until(refused).await;
    locked.rollback().await.unwrap();
    let served = async || {
        let reply = site.call("GET", "/quizzes").bearer(&anna).send().await;
        reply.status == StatusCode::OK
    };
    until(served).await;
}

/// Takes one letter as a mail server does.
async fn take_letter(listener: TcpListener) -> (Vec<String>, String) {
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = BufReader::new(stream);
    let (mut commands, mut letter) = (Vec::new(), String::new());
    stream.write_all(b"220 mail.test\r\n").await.unwrap();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap() == 0 {
            return (commands, letter);
        }
        commands.push(line.trim_end().to_owned());
        let answer: &[u8] = match line.split([' ', '\r']).next().unwrap() {
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await.unwrap();
                while !letter.ends_with("\r\n.\r\n") {
                    stream.read_line(&mut letter).await.unwrap();
                }
                b"250 taken\r\n"
            }
            "QUIT" => b"221 bye\r\n",
            _ => b"250 fine\r\n",
        };
        stream.write_all(answer).await.unwrap();
        if !letter.is_empty() {
            return (commands, letter);
        }
    }
}

#[tokio::test]
async fn a_letter_goes_out_by_smtp() {
    let mut site = Site::new().await;
    site.teacher("anna").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let mailer = SmtpMailer::parse(&url, "Homeroom <homeroom@school.org>").unwrap();
    site.api = site
        .api
        .clone()
        .mailing(Arc::new(mailer), "https://quiz.example".to_owned());
    site.router = site.api.router();
    assert_eq!(ask(&site, "anna@school.org").await.status, StatusCode::ACCEPTED);
    let taken = tokio::time::timeout(Duration::from_secs(20), take_letter(listener)).await;
    let (commands, letter) = taken.expect("a letter in time");
    let said = |start: &str| commands.iter().any(|line| line.starts_with(start));
    assert!(
        said("MAIL FROM:<homeroom@school.org>") && said("RCPT TO:<anna@school.org>"),
        "{commands:?}"
    );
    for header in [
        "From: Homeroom <homeroom@school.org>",
        "To: anna@school.org",
        "Subject: Your new Homeroom password",
    ] {
        assert!(letter.contains(header), "{letter}");
    }
    // Long lines are folded, as mail does.
    let letter = letter.replace("=\r\n", "");
    let token = letter
        .split("https://quiz.example/teach#/reset/")
        .nth(1)
        .expect("a link");
    let token = token.split_whitespace().next().unwrap();
    assert_eq!(
        spend(&site, token, NEW).await.status,
        StatusCode::NO_CONTENT,
        "{letter}"
    );
}
