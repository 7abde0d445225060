//! A server on a free port, its API and its keys, and clients that speak JSON.

use std::collections::HashMap;
use std::future::ready;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use futures_util::{SinkExt, StreamExt};
use game_server::{
    Backoffice, BackofficeError, BackofficeFuture, Config, GameLog, GameServer, Keys, MemoryLog, PlanGrant,
    Reserved,
};
use http::{Request, StatusCode};
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use protocol::claims::{
    AUDIENCE_PLAYER, AUDIENCE_QUIZ, AUDIENCE_TEACHER, ISSUER, PlayerClaims, QuizClaims, TYPE_QUIZ,
    TeacherClaims,
};
use protocol::ids::{GameId, QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::result::GameResult;
use protocol::timeline::GameTimeline;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{self, Message};
use tower::ServiceExt;
use uuid::Uuid;

pub(crate) const CODE: &str = "K7Q2MX";
pub(crate) const SECRET: &[u8] = b"a secret of the tests, 32 bytes or more";
const KID: &str = "test-key";
/// How long a test waits for a state that must come.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same where the clock is paused: longer than any timer of the server, and over at once when nothing happens.
const PATIENCE_PAUSED: Duration = Duration::from_secs(48 * 60 * 60);

/// A server and everything around it.
pub(crate) struct Stage {
    pub(crate) server: GameServer,
    pub(crate) address: SocketAddr,
    pub(crate) api: Arc<Api>,
    pub(crate) teacher: TeacherId,
    patience: Duration,
}

impl Stage {
    pub(crate) async fn open() -> Self {
        Self::with(Config::default()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        Self::with_log(config, Arc::new(MemoryLog::new())).await
    }

    pub(crate) async fn with_log(config: Config, log: Arc<dyn GameLog>) -> Self {
        let api = Arc::new(Api::default());
        let server = GameServer::new(config, keys(), Arc::clone(&api) as Arc<dyn Backoffice>, log);
        // Small kernel buffers, so that a client that does not read is noticed before megabytes are on their way.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(4 * 1024).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener: TcpListener = socket.listen(1024).unwrap();
        let address = listener.local_addr().unwrap();
        let router = from_one_client(&server);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            server,
            address,
            api,
            teacher: teacher_id(1),
            patience: PATIENCE,
        }
    }

    /// For tests whose clock stands still.
    pub(crate) fn paused(mut self) -> Self {
        self.patience = PATIENCE_PAUSED;
        self
    }

    pub(crate) fn token(&self) -> String {
        teacher_token(self.teacher)
    }

    /// Creates the game of most tests.
    pub(crate) async fn create(&self) -> Value {
        let (status, body) = self.post(CODE, Some(&self.token()), &self.body("key")).await;
        assert_eq!(status, StatusCode::CREATED, "{body}");
        body
    }

    pub(crate) fn body(&self, key: &str) -> Value {
        json!({ "quiz": { "id": self.api.quiz_id }, "key": key })
    }

    pub(crate) async fn post(&self, code: &str, token: Option<&str>, body: &Value) -> (StatusCode, Value) {
        let mut request = Request::post(format!("/games?g={code}"));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        self.call(request.body(Body::from(body.to_string())).unwrap())
            .await
    }

    pub(crate) async fn status(&self, query: &str) -> (StatusCode, Value) {
        self.call(
            Request::get(format!("/status{query}"))
                .body(Body::empty())
                .unwrap(),
        )
        .await
    }

    pub(crate) async fn call(&self, request: Request<Body>) -> (StatusCode, Value) {
        let response = from_one_client(&self.server).oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        if matches!(
            parts.status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
        ) {
            assert!(parts.headers.contains_key("retry-after"));
        }
        assert_eq!(parts.headers["cache-control"], "no-store");
        assert_eq!(parts.headers["x-content-type-options"], "nosniff");
        if parts.status == StatusCode::METHOD_NOT_ALLOWED {
            assert!(parts.headers.contains_key("allow"));
        }
        let bytes = axum::body::to_bytes(body, 1024 * 1024).await.unwrap();
        if !parts.status.is_success() {
            assert_eq!(parts.headers["content-type"], "application/problem+json");
        }
        (parts.status, serde_json::from_slice(&bytes).unwrap())
    }

    /// A socket that has said nothing yet.
    pub(crate) async fn connect(&self) -> Client {
        self.connect_to(CODE).await
    }

    pub(crate) async fn connect_to(&self, code: &str) -> Client {
        if self.patience == PATIENCE_PAUSED {
            return self.upgrade(self.pipe(), code).await;
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        self.upgrade(stream, code).await
    }

    /// A connection without the kernel: a paused clock runs ahead of frames that the kernel holds.
    fn pipe(&self) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let router = from_one_client(&self.server);
        tokio::spawn(async move {
            let service = hyper_util::service::TowerToHyperService::new(router);
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(hyper_util::rt::TokioIo::new(theirs), service)
                .with_upgrades();
            connection.await
        });
        ours
    }

    /// A socket whose client has the smallest buffers there are.
    pub(crate) async fn connect_narrow(&self) -> Client {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(1024).unwrap();
        let stream = socket.connect(self.address).await.unwrap();
        self.upgrade(stream, CODE).await
    }

    async fn upgrade(&self, stream: impl Wire + 'static, code: &str) -> Client {
        let url = format!("ws://{}/watch?g={code}", self.address);
        let wire: Box<dyn Wire> = Box::new(stream);
        let (socket, _response) = tokio_tungstenite::client_async(url, wire).await.unwrap();
        Client {
            socket,
            patience: self.patience,
            seq: None,
            frames_of_seq: 0,
        }
    }

    /// The HTTP status of an upgrade that is refused.
    pub(crate) async fn refused(&self, query: &str, origin: Option<&str>) -> StatusCode {
        use tokio_tungstenite::tungstenite::client::IntoClientRequest;
        let mut request = format!("ws://{}/watch{query}", self.address)
            .into_client_request()
            .unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        match tokio_tungstenite::client_async(request, stream).await {
            Ok(_) => StatusCode::SWITCHING_PROTOCOLS,
            Err(tungstenite::Error::Http(response)) => response.status(),
            Err(error) => panic!("{error}"),
        }
    }

    /// The host, synced.
    pub(crate) async fn host(&self) -> (Client, Value) {
        let mut host = self.connect().await;
        host.say(json!({ "t": "host", "token": self.token() })).await;
        let sync = host.frame("sync").await;
        (host, sync["state"].clone())
    }

    /// A new player, welcomed.
    pub(crate) async fn join(&self, name: &str) -> (Client, Value) {
        let mut player = self.connect().await;
        player.say(json!({ "t": "join", "name": name })).await;
        let welcome = player.frame("welcome").await;
        (player, welcome)
    }

    /// A player on a fresh page.
    pub(crate) async fn resume(&self, token: &Value) -> (Client, Value) {
        let mut player = self.connect().await;
        player.say(json!({ "t": "resume", "token": token })).await;
        let welcome = player.frame("welcome").await;
        (player, welcome)
    }

    /// Waits until the server holds this many sockets.
    pub(crate) async fn until_sockets(&self, sockets: usize) {
        let seen = tokio::time::timeout(self.patience, async {
            while self.server.counts().sockets != sockets {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        seen.await.expect("the sockets never came to that");
    }

    /// Waits until the API has a result.
    pub(crate) async fn saved_result(&self) -> GameResult {
        let mut saved = self.api.saved.subscribe();
        tokio::time::timeout(self.patience, saved.wait_for(|results| !results.is_empty()))
            .await
            .expect("no result was saved")
            .unwrap()[0]
            .clone()
    }
}

/// The server's routes, all requests of which come from one address.
fn from_one_client(server: &GameServer) -> Router {
    let peer: SocketAddr = "192.0.2.1:50000".parse().unwrap();
    server.router().layer(Extension(ConnectInfo(peer)))
}

/// What a client's bytes travel through.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A client's end of a socket. It checks that the public sequence has no gap.
pub(crate) struct Client {
    socket: WebSocketStream<Box<dyn Wire>>,
    patience: Duration,
    seq: Option<u64>,
    /// Frames seen that carry a number of the sequence.
    pub(crate) frames_of_seq: u64,
}

/// What a client hears.
#[derive(Debug)]
pub(crate) enum Heard {
    Frame(Value),
    Closed(Option<u16>),
}

impl Client {
    pub(crate) async fn say(&mut self, frame: Value) {
        self.say_text(frame.to_string()).await;
    }

    pub(crate) async fn say_text(&mut self, text: String) {
        self.send(Message::text(text)).await;
    }

    pub(crate) async fn send(&mut self, message: Message) {
        self.socket.send(message).await.unwrap();
    }

    /// Bytes past the client's own library.
    pub(crate) async fn say_bytes(&mut self, bytes: &[u8]) {
        self.socket.get_mut().write_all(bytes).await.unwrap();
    }

    /// Sends without caring whether anybody still listens.
    pub(crate) async fn try_say(&mut self, frame: &Value) -> bool {
        self.socket.send(Message::text(frame.to_string())).await.is_ok()
    }

    pub(crate) async fn hear(&mut self) -> Heard {
        tokio::time::timeout(self.patience, self.hear_now())
            .await
            .expect("the server says nothing")
    }

    async fn hear_now(&mut self) -> Heard {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    self.check_seq(&frame);
                    return Heard::Frame(frame);
                }
                Some(Ok(Message::Close(close))) => {
                    return Heard::Closed(close.map(|close| close.code.into()));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Heard::Closed(None),
            }
        }
    }

    fn check_seq(&mut self, frame: &Value) {
        match frame["t"].as_str().unwrap() {
            "welcome" | "sync" => self.seq = frame["state"]["seq"].as_u64(),
            "question" | "result" | "reveal" | "over" => {
                let seq = frame["seq"].as_u64();
                assert_eq!(seq, self.seq.map(|seq| seq + 1), "a gap before {frame}");
                self.seq = seq;
                self.frames_of_seq += 1;
            }
            "pong" => assert_eq!(frame["seq"].as_u64(), self.seq, "pong ahead of its frames"),
            _ => {}
        }
    }

    /// The next frame, which must be of type `t`. Batched news to a host comes when it comes and is passed over.
    pub(crate) async fn frame(&mut self, t: &str) -> Value {
        loop {
            match self.hear().await {
                Heard::Frame(frame) if frame["t"] == t => return frame,
                Heard::Frame(frame) if frame["t"] == "roster" || frame["t"] == "progress" => {}
                heard @ (Heard::Frame(_) | Heard::Closed(_)) => panic!("{t} expected, heard {heard:?}"),
            }
        }
    }

    /// The next frame of type `t`, whatever comes before it.
    pub(crate) async fn until(&mut self, t: &str) -> Value {
        self.until_frame(|frame| frame["t"] == t).await
    }

    pub(crate) async fn until_frame(&mut self, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let patience = self.patience;
        let waiting = async {
            loop {
                match self.hear_now().await {
                    Heard::Frame(frame) if wanted(&frame) => return frame,
                    Heard::Frame(_) => {}
                    Heard::Closed(code) => panic!("closed with {code:?}"),
                }
            }
        };
        tokio::time::timeout(patience, waiting)
            .await
            .expect("the frame never came")
    }

    /// An `error`, which must be the next frame.
    pub(crate) async fn error(&mut self) -> String {
        self.frame("error").await["code"].as_str().unwrap().to_owned()
    }

    /// All frames up to the close, and its code.
    pub(crate) async fn closed(&mut self) -> (Vec<Value>, Option<u16>) {
        let mut frames = Vec::new();
        loop {
            match self.hear().await {
                Heard::Frame(frame) => frames.push(frame),
                Heard::Closed(code) => return (frames, code),
            }
        }
    }

    /// Proves that the server has handled all before: `ping` is answered in order.
    pub(crate) async fn settle(&mut self) -> Value {
        self.say(json!({ "t": "ping" })).await;
        self.until("pong").await
    }

    /// Proves that the socket lives and nothing unexpected came before.
    pub(crate) async fn is_well(&mut self) {
        self.say(json!({ "t": "ping" })).await;
        self.frame("pong").await;
    }

    /// Closes the TCP connection without a word.
    pub(crate) fn vanish(self) {
        drop(self);
    }
}

/// The API of the tests.
pub(crate) struct Api {
    pub(crate) quiz_id: QuizId,
    pub(crate) quiz: QuizDocument,
    pub(crate) players_max: AtomicUsize,
    pub(crate) is_down: AtomicBool,
    pub(crate) refuses: Mutex<Option<(String, String)>>,
    pub(crate) plan_checks: AtomicUsize,
    pub(crate) save_attempts: AtomicUsize,
    pub(crate) saved: watch::Sender<Vec<GameResult>>,
    /// Epochs that were reserved.
    pub(crate) epochs: Mutex<HashMap<GameId, u32>>,
    pub(crate) timelines: watch::Sender<Vec<GameTimeline>>,
}

impl Default for Api {
    fn default() -> Self {
        Self {
            quiz_id: QuizId(Uuid::from_u128(7)),
            quiz: quiz(),
            players_max: AtomicUsize::new(50),
            is_down: AtomicBool::new(false),
            refuses: Mutex::new(None),
            plan_checks: AtomicUsize::new(0),
            save_attempts: AtomicUsize::new(0),
            saved: watch::Sender::new(Vec::new()),
            epochs: Mutex::default(),
            timelines: watch::Sender::new(Vec::new()),
        }
    }
}

impl Api {
    fn unavailable(&self) -> Result<(), BackofficeError> {
        if self.is_down.load(Ordering::SeqCst) {
            Err(BackofficeError::Unavailable("the test says so".into()))
        } else {
            Ok(())
        }
    }
}

impl Backoffice for Api {
    fn plan_check(&self, _teacher: TeacherId, quiz: Option<QuizId>) -> BackofficeFuture<'_, PlanGrant> {
        self.plan_checks.fetch_add(1, Ordering::SeqCst);
        let refusal = self.refuses.lock().unwrap().clone();
        let granted = self.unavailable().and_then(|()| match (refusal, quiz) {
            (Some((code, detail)), _) => Err(BackofficeError::Refused { code, detail }),
            (None, Some(id)) if id != self.quiz_id => Err(BackofficeError::NotFound),
            (None, quiz) => Ok(PlanGrant {
                players_max: u32::try_from(self.players_max.load(Ordering::SeqCst)).unwrap(),
                quiz: quiz.map(|id| (id, self.quiz.clone())),
            }),
        });
        Box::pin(ready(granted))
    }

    fn save_result<'a>(&'a self, result: &'a GameResult, epoch: u32) -> BackofficeFuture<'a, ()> {
        self.save_attempts.fetch_add(1, Ordering::SeqCst);
        let least = self.epochs.lock().unwrap().get(&result.game).copied();
        if least.is_some_and(|least| epoch < least) {
            return Box::pin(ready(Err(BackofficeError::Superseded)));
        }
        let saved = self.unavailable().map(|()| {
            self.saved.send_modify(|results| {
                if results.iter().all(|other| other.game != result.game) {
                    results.push(result.clone());
                }
            });
        });
        Box::pin(ready(saved))
    }

    fn reserve_epoch(&self, game: GameId, above: u32) -> BackofficeFuture<'_, Reserved> {
        let reserved = self.unavailable().map(|()| {
            if self.saved.borrow().iter().any(|result| result.game == game) {
                return Reserved::Over;
            }
            let mut epochs = self.epochs.lock().unwrap();
            let epoch = epochs.entry(game).or_default();
            *epoch = above.max(*epoch) + 1_000;
            Reserved::Epoch(*epoch)
        });
        Box::pin(ready(reserved))
    }

    fn has_result(&self, game: GameId) -> BackofficeFuture<'_, bool> {
        let known = self
            .unavailable()
            .map(|()| self.saved.borrow().iter().any(|result| result.game == game));
        Box::pin(ready(known))
    }

    fn save_timeline<'a>(&'a self, timeline: &'a GameTimeline) -> BackofficeFuture<'a, ()> {
        let saved = self.unavailable();
        if saved.is_ok() {
            self.timelines
                .send_modify(|timelines| timelines.push(timeline.clone()));
        }
        Box::pin(ready(saved))
    }
}

/// Single choice (0), multiple choice (0 and 2), true/false (0 is true).
pub(crate) fn quiz() -> QuizDocument {
    serde_json::from_value(json!({
        "title": "Rivers",
        "questions": [
            { "kind": "single", "text": "Which is the longest?", "time_ms": 20_000, "choices": [
                { "text": "Nile", "correct": true }, { "text": "Rhine", "correct": false },
                { "text": "Thames", "correct": false }] },
            { "kind": "multiple", "text": "Which end in the North Sea?", "time_ms": 30_000, "choices": [
                { "text": "Rhine", "correct": true }, { "text": "Danube", "correct": false },
                { "text": "Elbe", "correct": true }] },
            { "kind": "true_false", "text": "The Seine is in France.", "time_ms": 5_000, "choices": [
                { "text": "True", "correct": true }, { "text": "False", "correct": false }] },
        ],
    }))
    .unwrap()
}

pub(crate) fn teacher_id(n: u128) -> TeacherId {
    TeacherId(Uuid::from_u128(n))
}

pub(crate) fn keys() -> Keys {
    let mut jwk = Jwk::from_encoding_key(&signing_key(1), Algorithm::EdDSA).unwrap();
    jwk.common.key_id = Some(KID.to_owned());
    Keys::new(&JwkSet { keys: vec![jwk] }, SECRET).unwrap()
}

/// An Ed25519 key as PKCS #8: a fixed head and 32 bytes of seed.
fn signing_key(seed: u8) -> EncodingKey {
    let mut der = vec![
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ];
    der.extend([seed; 32]);
    EncodingKey::from_ed_der(&der)
}

pub(crate) fn exp(from_now_s: i64) -> u64 {
    jsonwebtoken::get_current_timestamp()
        .checked_add_signed(from_now_s)
        .unwrap()
}

pub(crate) fn teacher_token(teacher: TeacherId) -> String {
    sign(&teacher_claims(teacher), 1)
}

pub(crate) fn teacher_claims(teacher: TeacherId) -> TeacherClaims {
    TeacherClaims {
        iss: ISSUER.into(),
        aud: AUDIENCE_TEACHER.into(),
        sub: teacher,
        exp: exp(900),
        players_max: 5,
    }
}

/// The quiz of most tests as the API signs it for a teacher.
pub(crate) fn signed_quiz(teacher: TeacherId) -> String {
    sign_as(TYPE_QUIZ, &quiz_claims(teacher), 1)
}

pub(crate) fn quiz_claims(teacher: TeacherId) -> QuizClaims {
    QuizClaims {
        iss: ISSUER.into(),
        aud: AUDIENCE_QUIZ.into(),
        sub: teacher,
        exp: exp(900),
        quiz_id: QuizId(Uuid::from_u128(7)),
        quiz: quiz(),
    }
}

/// Signs with the API's key (seed 1) or a stranger's.
pub(crate) fn sign<T: Serialize>(claims: &T, seed: u8) -> String {
    sign_as("JWT", claims, seed)
}

/// The same with a type of one's own.
pub(crate) fn sign_as<T: Serialize>(typ: &str, claims: &T, seed: u8) -> String {
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some(KID.to_owned());
    header.typ = Some(typ.to_owned());
    jsonwebtoken::encode(&header, claims, &signing_key(seed)).unwrap()
}

pub(crate) fn sign_hs256<T: Serialize>(claims: &T, secret: &[u8]) -> String {
    let header = Header::new(Algorithm::HS256);
    jsonwebtoken::encode(&header, claims, &EncodingKey::from_secret(secret).unwrap()).unwrap()
}

/// What a resume token says.
pub(crate) fn player_claims(token: &str) -> PlayerClaims {
    let mut validation = Validation::new(Algorithm::HS256);
    validation.set_audience(&[AUDIENCE_PLAYER]);
    jsonwebtoken::decode(token, &DecodingKey::from_secret(SECRET).unwrap(), &validation)
        .unwrap()
        .claims
}
