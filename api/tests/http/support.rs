//! A whole API in a scratch folder, and a small client for it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::{Api, Clock, Config, Keys, Letter, MailError, Mailer, SqliteStore};
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use protocol::ids::{GameId, PlayerId, QuizId, TeacherId};
use protocol::quiz::{Choice, Question, QuestionKind, QuizDocument};
use protocol::result::{AnswerResult, GameResult, GameSettings, PlayerResult, QuestionResult};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;
use tower::ServiceExt as _;
use uuid::Uuid;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// A postbox that keeps the letters.
#[derive(Default)]
pub(crate) struct Letters {
    sent: Mutex<Vec<Letter>>,
    more: Notify,
}

#[async_trait::async_trait]
impl Mailer for Letters {
    async fn send(&self, letter: Letter) -> Result<(), MailError> {
        self.sent.lock().unwrap().push(letter);
        self.more.notify_one();
        Ok(())
    }
}

impl Letters {
    /// Waits for the next letter.
    pub(crate) async fn next_letter(&self) -> Letter {
        let letter = async {
            loop {
                if let Some(letter) = self.sent.lock().unwrap().pop() {
                    return letter;
                }
                self.more.notified().await;
            }
        };
        let letter = tokio::time::timeout(Duration::from_secs(20), letter).await;
        letter.expect("a letter")
    }

    /// Waits for the next letter: its reader, and the token of the link in it.
    pub(crate) async fn next(&self) -> (String, String) {
        let letter = self.next_letter().await;
        let token = letter.text.split("/teach#/reset/").nth(1).unwrap();
        (letter.to, token.split_whitespace().next().unwrap().to_owned())
    }

    pub(crate) fn count(&self) -> usize {
        self.sent.lock().unwrap().len()
    }
}

/// An API of its own, with a clock that can be moved.
pub(crate) struct Site {
    pub(crate) api: Api,
    pub(crate) router: Router,
    pub(crate) clock: Clock,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) letters: Arc<Letters>,
    folder: TempDir,
}

/// A signed-in teacher.
pub(crate) struct Account {
    pub(crate) id: TeacherId,
    pub(crate) token: String,
    pub(crate) cookie: String,
}

impl Site {
    pub(crate) async fn new() -> Self {
        Self::with(Config::default()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&folder.path().join("api.db")).await.unwrap());
        let keys = Keys::load_or_create(&folder.path().join("keys.json")).unwrap();
        let clock = Clock::system();
        let letters = Arc::new(Letters::default());
        let api = Api::with_clock(config, store.clone(), keys, clock.clone());
        let api = api.mailing(letters.clone(), "http://homeroom.test".to_owned());
        Self {
            router: api.router(),
            api,
            clock,
            store,
            letters,
            folder,
        }
    }

    /// What the tokens are signed with.
    pub(crate) fn keys_file(&self) -> PathBuf {
        self.folder.path().join("keys.json")
    }

    /// Registers `NAME@school.org`.
    pub(crate) async fn teacher(&self, name: &str) -> Account {
        let body = json!({ "email": format!("{name}@school.org"), "password": PASSWORD, "name": name });
        let reply = self.call("POST", "/auth/register").json(&body).send().await;
        assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.text());
        let session = reply.value();
        Account {
            id: session["user"]["id"].as_str().unwrap().parse().unwrap(),
            token: session["access_token"].as_str().unwrap().to_owned(),
            cookie: reply.cookie(),
        }
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        Call::to(self.router.clone(), method, path)
    }
}

/// A request in the making.
pub(crate) struct Call {
    router: Router,
    request: Request<Body>,
}

impl Call {
    /// A request to another router than the public one.
    pub(crate) fn to(router: Router, method: &str, path: &str) -> Self {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(Body::empty())
            .unwrap();
        Self { router, request }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.request.headers_mut().insert(name, value.parse().unwrap());
        self
    }

    /// As if the connection came from this address.
    pub(crate) fn peer(mut self, address: &str) -> Self {
        let peer = SocketAddr::new(address.parse().unwrap(), 1);
        self.request.extensions_mut().insert(ConnectInfo(peer));
        self
    }

    pub(crate) fn bearer(self, account: &Account) -> Self {
        self.header("authorization", &format!("Bearer {}", account.token))
    }

    pub(crate) fn json(self, body: &impl Serialize) -> Self {
        self.header("content-type", "application/json")
            .body(serde_json::to_vec(body).unwrap())
    }

    pub(crate) fn body(mut self, body: impl Into<Body>) -> Self {
        *self.request.body_mut() = body.into();
        self
    }

    pub(crate) async fn send(self) -> Reply {
        let response = self.router.oneshot(self.request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply {
            status: parts.status,
            headers: parts.headers,
            body: body.to_vec(),
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Vec<u8>,
}

impl Reply {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.body
    }

    pub(crate) fn value(&self) -> Value {
        self.read()
    }

    pub(crate) fn read<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {} {}", self.status, self.text()))
    }

    /// The refresh cookie as the browser would send it back.
    pub(crate) fn cookie(&self) -> String {
        let set = self.headers["set-cookie"].to_str().unwrap();
        set.split(';').next().unwrap().to_owned()
    }

    /// Asserts a well-formed refusal of this status and code, and returns its sentence.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        assert_eq!(self.headers["content-type"], "application/problem+json");
        let problem: protocol::rest::Problem = self.read();
        assert_eq!(
            (problem.status, problem.code.as_str()),
            (status, code),
            "{}",
            problem.detail
        );
        assert!(
            !problem.title.is_empty() && problem.detail.ends_with(['.', '?']),
            "{problem:?}"
        );
        problem.detail
    }
}

pub(crate) fn document(title: &str, questions: usize) -> QuizDocument {
    let choice = |text: &str, correct| Choice {
        text: text.to_owned(),
        correct,
    };
    let question = |i| Question {
        kind: QuestionKind::Single,
        text: format!("Question {i}?"),
        choices: vec![choice("yes", true), choice("no", false), choice("maybe", false)],
        time_ms: 20_000,
    };
    QuizDocument {
        title: title.to_owned(),
        questions: (1..=questions).map(question).collect(),
    }
}

/// Three questions of four were played, the second skipped; not everybody answered everything.
pub(crate) fn game(n: u128, teacher: TeacherId) -> GameResult {
    let answer = |q: u16, choices: &[u8], elapsed_ms: u32| AnswerResult {
        q,
        choices: choices.to_vec(),
        elapsed_ms,
        correct: choices == [0],
        points: if choices == [0] {
            1000 - elapsed_ms / 100
        } else {
            0
        },
    };
    let player = |id: u32, rank: u32, answers: Vec<AnswerResult>| PlayerResult {
        id: PlayerId(id),
        name: format!("Player {id}"),
        rank,
        total: answers.iter().map(|a| a.points).sum(),
        answers,
    };
    GameResult {
        game: GameId(Uuid::from_u128(n)),
        code: "K7Q2MX".parse().unwrap(),
        teacher,
        quiz_id: QuizId(Uuid::from_u128(1)),
        settings: GameSettings::default(),
        quiz: document("Atoms as played", 4),
        created_ms: 1_000,
        ended_ms: 600_000 + u64::try_from(n).unwrap(),
        questions: [1, 2, 3].map(|q| QuestionResult { q, skipped: q == 2 }).to_vec(),
        players: vec![
            player(
                3,
                1,
                vec![
                    answer(1, &[0], 2_000),
                    answer(2, &[1], 9_000),
                    answer(3, &[0, 2], 4_001),
                ],
            ),
            player(1, 2, vec![answer(1, &[0], 7_000)]),
            player(2, 3, vec![answer(1, &[2], 3_000), answer(3, &[1], 5_000)]),
        ],
    }
}
