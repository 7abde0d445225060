//! An API behind a real listener, a client of it, and the things that requests are about.

use std::net::SocketAddr;
use std::time::Duration;

use api::Config;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use runtime::http::{Options, serve};
use runtime::lifecycle::{Shutdown, ShutdownTrigger};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::case::{Body, Case, Which, Who};
use crate::support::{Account, PASSWORD, Site, document, game};
use crate::surface::Call;

/// The longest that an answer may take; everything beyond hangs.
const ANSWER_MAX: Duration = Duration::from_secs(10);

pub(crate) struct World {
    site: Site,
    address: SocketAddr,
    connection: Option<Connection>,
    /// Who asks, and somebody else.
    anna: Account,
    ben: Account,
    ben_email: String,
    /// Ben's.
    strange_quiz: String,
    strange_game: String,
    strange_share: String,
    /// Token of the last link that was sent.
    link: String,
    made: u128,
    /// Stops the listener when it goes.
    _listener: ShutdownTrigger,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn told(&self) -> String {
        format!(
            "{} {:?}\n{}",
            self.status,
            self.headers,
            String::from_utf8_lossy(&self.body)
        )
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        // Nobody types as fast as this test.
        let config = Config {
            teacher_requests_max: u32::MAX,
            address_sign_ins_max: u32::MAX,
            ..Config::default()
        };
        let site = Site::with(config).await;
        let listener = runtime::http::bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let options = Options {
            connections_max: 10,
            shared: false,
            tls: None,
            drain: Duration::ZERO,
        };
        let (trigger, shutdown) = Shutdown::channel();
        tokio::spawn(serve(listener, site.router.clone(), options, shutdown));
        let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
        site.teacher("cara").await;
        let quiz = site
            .call("POST", "/quizzes")
            .bearer(&ben)
            .json(&document("Ben's", 1))
            .send()
            .await;
        let strange_quiz = quiz.value()["id"].as_str().unwrap().to_owned();
        let share = site.call("POST", &format!("/quizzes/{strange_quiz}/share"));
        let share = share.bearer(&ben).send().await;
        let strange = game(1, ben.id);
        site.api.save_result(strange.clone(), 1).await.unwrap();
        Self {
            site,
            address,
            connection: None,
            anna,
            ben,
            ben_email: "ben@school.org".to_owned(),
            strange_quiz,
            strange_game: strange.game.to_string(),
            strange_share: share.value()["share"].as_str().unwrap().to_owned(),
            link: String::new(),
            made: 1,
            _listener: trigger,
        }
    }

    pub(crate) async fn document(&mut self) -> Value {
        let request = Request::get("/openapi.json").body(Full::default()).unwrap();
        let reply = self.exchange(request).await;
        assert_eq!(reply.status, 200, "{}", reply.told());
        serde_json::from_slice(&reply.body).unwrap()
    }

    /// Sends the request that a case is.
    pub(crate) async fn send(&mut self, call: &Call, case: &Case) -> Reply {
        let mut path = call.path.clone();
        if path.contains("{id}") {
            let id = self.id(call, &case.which).await;
            path = path.replace("{id}", &encoded(&id));
        }
        for (i, (name, value)) in case.query.iter().enumerate() {
            // Of the games here only some numbers are taken.
            let value = if name == "player" && value.len() % 2 == 0 {
                "1"
            } else {
                value
            };
            path.push(if i == 0 { '?' } else { '&' });
            path.push_str(&format!("{}={}", encoded(name), encoded(value)));
        }
        let body = match &case.body {
            Body::None => Bytes::new(),
            Body::Json(value) => self.hinted(call, value).to_string().into(),
            Body::Bytes(bytes) => bytes.clone().into(),
        };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = call.method.parse().unwrap();
        *request.uri_mut() = path.parse().unwrap();
        let headers = request.headers_mut();
        for (name, value) in &case.headers {
            // Own origins are rare among random ones; versions are those that a new quiz has.
            let value = match (name.as_str(), value.len() % 3) {
                ("If-Match", 0..2) => "\"1\"".to_owned(),
                ("Origin", 0..2) => "http://homeroom.test".to_owned(),
                _ => value.clone(),
            };
            let name: axum::http::HeaderName = name.parse().unwrap();
            if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
                headers.append(name, value);
            }
        }
        if let Some(media_type) = &case.media_type
            && let Ok(value) = HeaderValue::from_bytes(media_type.as_bytes())
        {
            headers.insert("content-type", value);
        }
        self.sign(headers, call, &case.who).await;
        let reply = self.exchange(request).await;
        self.learn(call, &case.who, &reply).await;
        reply
    }

    /// Names that stand for something get values that exist, half of the time.
    fn hinted(&self, call: &Call, value: &Value) -> Value {
        let mut value = value.clone();
        if let Some(fields) = value
            .as_object_mut()
            .filter(|_| call.path.starts_with("/auth/reset"))
        {
            // Cara forgets her password all the time.
            let even = fields
                .values()
                .map(|field| field.to_string().len())
                .sum::<usize>()
                % 2
                == 0;
            match (call.id.as_str(), even) {
                ("request_reset", true) => fields.insert("email".to_owned(), json!("cara@school.org")),
                ("reset_password", true) => fields.insert("token".to_owned(), json!(self.link)),
                _ => None,
            };
        }
        if (call.path == "/auth/login" || call.id == "delete_account")
            && let Some(fields) = value.as_object_mut()
            && fields
                .get("password")
                .is_some_and(|password| password.to_string().len() % 2 == 0)
        {
            fields.insert("email".to_owned(), json!(self.ben_email));
            fields.insert("password".to_owned(), json!(PASSWORD));
        }
        value
    }

    async fn id(&mut self, call: &Call, which: &Which) -> String {
        let of_games = call.path.starts_with("/games");
        match which {
            Which::Own if of_games => {
                self.made += 1;
                let own = game(self.made, self.anna.id);
                self.site.api.save_result(own.clone(), 1).await.unwrap();
                own.game.to_string()
            }
            Which::Own => {
                let create = self.site.call("POST", "/quizzes").bearer(&self.anna);
                let made = create.json(&document("Own", 2)).send().await;
                let id = made.value()["id"]
                    .as_str()
                    .unwrap_or(&self.strange_quiz)
                    .to_owned();
                self.shared(call, id).await
            }
            Which::Strange if of_games => self.strange_game.clone(),
            Which::Strange if call.path.starts_with("/shared/") => self.strange_share.clone(),
            Which::Strange => self.strange_quiz.clone(),
            // Without any, it is another address.
            Which::Text(text) if text.is_empty() => "-".to_owned(),
            Which::Text(text) => text.clone(),
        }
    }

    /// Shares a quiz if the call is about shares, and tells which id the call takes.
    async fn shared(&self, call: &Call, quiz: String) -> String {
        let of_share = call.path.starts_with("/shared/");
        if !of_share && (!call.path.ends_with("/share") || call.method == "POST") {
            return quiz;
        }
        let share = self
            .site
            .call("POST", &format!("/quizzes/{quiz}/share"))
            .bearer(&self.anna);
        let share = share.send().await;
        match share.value()["share"].as_str() {
            Some(share) if of_share => share.to_owned(),
            Some(_) | None => quiz,
        }
    }

    async fn sign(&mut self, headers: &mut HeaderMap, call: &Call, who: &Who) {
        let name = match call.security.as_deref() {
            Some("refresh_cookie") => "cookie",
            _ => "authorization",
        };
        let value = match (name, who) {
            (_, Who::Nobody) => return,
            ("cookie", Who::Signed) => self.anna.cookie.clone(),
            ("cookie", Who::Other) => self.ben.cookie.clone(),
            (_, Who::Signed) => format!("Bearer {}", self.anna.token),
            (_, Who::Other) => format!("Bearer {}", self.ben.token),
            (_, Who::Text(text)) => text.clone(),
        };
        headers.insert(name, value.parse().unwrap());
    }

    /// Sessions go on or end, libraries fill: then somebody new asks.
    async fn learn(&mut self, call: &Call, who: &Who, reply: &Reply) {
        let full = reply.status == 403 && String::from_utf8_lossy(&reply.body).contains("quiz-limit");
        if self.site.letters.count() > 0 {
            self.link = self.site.letters.next().await.1;
        }
        let gone = call.id == "delete_account" && reply.status.is_success();
        let ended = gone || call.security.as_deref() == Some("refresh_cookie");
        match who {
            Who::Signed if full || ended => {
                self.made += 1;
                self.anna = self.site.teacher(&format!("anna{}", self.made)).await;
            }
            Who::Other if ended => {
                self.made += 1;
                let name = format!("ben{}", self.made);
                self.ben = self.site.teacher(&name).await;
                self.ben_email = format!("{name}@school.org");
            }
            Who::Signed | Who::Other | Who::Nobody | Who::Text(_) => {}
        }
    }

    async fn exchange(&mut self, mut request: Request<Full<Bytes>>) -> Reply {
        let host = HeaderValue::from_static("homeroom.test");
        request.headers_mut().insert("host", host);
        let exchanged = async {
            // A server that refused a body it did not read closes the connection, perhaps only now.
            if let Some(used) = self.connection.take()
                && let Some((reply, used)) = attempt(used, request.clone()).await
            {
                self.connection = Some(used);
                return reply;
            }
            let fresh = connect(self.address).await;
            let (reply, used) = attempt(fresh, request).await.expect("an answer");
            self.connection = Some(used);
            reply
        };
        let limited = tokio::time::timeout(ANSWER_MAX, exchanged);
        limited.await.expect("an answer in time")
    }
}

type Connection = SendRequest<Full<Bytes>>;

/// The answer, and the connection for the next request; none when the connection was closed.
async fn attempt(mut connection: Connection, request: Request<Full<Bytes>>) -> Option<(Reply, Connection)> {
    connection.ready().await.ok()?;
    let response = connection.send_request(request).await.ok()?;
    let (parts, body) = response.into_parts();
    let reply = Reply {
        status: parts.status,
        headers: parts.headers,
        body: body.collect().await.unwrap().to_bytes(),
    };
    Some((reply, connection))
}

async fn connect(address: SocketAddr) -> Connection {
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

fn encoded(text: &str) -> String {
    let bytes = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    bytes.collect()
}
