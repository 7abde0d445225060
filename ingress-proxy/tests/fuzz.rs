//! Damaged requests through the proxy to a server that takes nothing on trust: good ones are taken from a collection, cut up,
//! mixed, and spoilt with what parsers stumble over. Whatever arrives must be one well-formed request that only one game's
//! server could be meant by. `PROPTEST_CASES` says how many; `./test --long fuzz` takes 100,000.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ingress_proxy::{Group, Kind, Member, Proxy, Settings};
use proptest::prelude::*;
use runtime::http::{Options, serve};
use runtime::lifecycle::{Shutdown, ShutdownTrigger};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// Requests sent at once.
const AT_ONCE: usize = 32;
/// How long a client listens when nothing comes: most damage leaves the proxy waiting for more.
const QUIET: Duration = Duration::from_millis(60);
/// The longest that a client listens at all.
const LISTEN_MAX: Duration = Duration::from_secs(20);

const GOOD: [&str; 12] = [
    "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
    "GET /game/status?g=K7Q2MX HTTP/1.1\r\nhost: a\r\n\r\n",
    "GET /game/status?x=1&g=K7Q2MX&y HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n",
    "GET http://a/store/x?a=%00;b HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
    "POST /game/games?g=K7Q2MX HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n12345",
    "POST /store/x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\n123\r\n0\r\n\r\n",
    "PUT /store/x HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\nx",
    "GET /game/watch?g=K7Q2MX HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "GET /a HTTP/1.1\r\nhost: a\r\ncookie: a=b\r\nauthorization: Bearer x\r\nx-forwarded-for: 1.2.3.4\r\nhomeroom-peer: x\r\n\r\n",
    "OPTIONS /store/x HTTP/1.1\r\nhost: a\r\norigin: https://b\r\n\r\nGET /second HTTP/1.1\r\nhost: a\r\n\r\n",
    "HEAD / HTTP/1.0\r\n\r\n",
    "DELETE /store/x HTTP/1.1\r\nhost: a\r\nvia: 1.0 b\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n",
];

/// What parsers stumble over.
const SPOIL: [&[u8]; 40] = [
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\0",
    b" ",
    b"\t",
    b":",
    b";",
    b"&",
    b"=",
    b"?",
    b"#",
    b"%",
    b"/",
    b"//",
    b"..",
    b"@",
    b"\x7f",
    b"\x80",
    b"\xff",
    b"g=K7Q2MY",
    b"&g=K7Q2MY",
    b"%67=K7Q2MY",
    b"g=",
    b"%4b",
    b"+",
    b"/game",
    b"/game/../store",
    b"HTTP/1.1",
    b"HTTP/2.0",
    b"content-length: 3\r\n",
    b"Content-Length: 0\r\n",
    b"transfer-encoding: chunked\r\n",
    b"Transfer-Encoding : identity\r\n",
    b"host: b\r\n",
    b"homeroom-unreachable: game-0\r\n",
    b"connection: host, x-forwarded-for\r\n",
    b"x-forwarded-for: 6.6.6.6\r\n",
    b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n",
];

/// What a query may begin or end with, so that there are two keys for one reader and one for another.
const KEYS: [&str; 8] = [
    "%67=K7Q2MY&",
    "g=K7Q2MY;",
    "x;g=K7Q2MY&",
    "g&",
    "&%67=K7Q2MY",
    ";g=K7Q2MY",
    "&g",
    ";%67",
];

#[derive(Debug, Clone)]
enum Damage {
    Key(usize),
    Insert(usize, usize),
    Replace(usize, usize),
    Delete(usize, usize),
    Flip(usize, u8),
    Repeat(usize, usize),
    Cut(usize),
    Append(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<usize>;
    prop_oneof![
        4 => (at(), at()).prop_map(|(at, what)| Damage::Insert(at, what)),
        2 => (at(), at()).prop_map(|(at, what)| Damage::Replace(at, what)),
        2 => (at(), 1..9_usize).prop_map(|(at, long)| Damage::Delete(at, long)),
        2 => (at(), any::<u8>()).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        1 => (at(), 1..40_usize).prop_map(|(at, long)| Damage::Repeat(at, long)),
        2 => at().prop_map(Damage::Key),
        1 => at().prop_map(Damage::Cut),
        1 => at().prop_map(Damage::Append),
    ]
}

fn damaged(good: usize, damages: &[Damage]) -> Vec<u8> {
    let mut bytes = GOOD[good].as_bytes().to_vec();
    for damage in damages {
        let length = bytes.len();
        let place = |at: usize| at % (length + 1);
        match *damage {
            Damage::Key(which) => {
                let which = which % KEYS.len();
                let query = bytes.iter().position(|byte| *byte == b'?');
                // The first half stands before what is there, the second after it.
                let end = query.and_then(|from| {
                    bytes
                        .iter()
                        .skip(from)
                        .position(|byte| *byte == b' ')
                        .map(|long| from + long)
                });
                let place = if which < KEYS.len() / 2 {
                    query.map(|at| at + 1)
                } else {
                    end
                };
                if let Some(at) = place {
                    bytes.splice(at..at, KEYS[which].bytes());
                }
            }
            Damage::Insert(at, what) => {
                bytes.splice(place(at)..place(at), SPOIL[what % SPOIL.len()].iter().copied());
            }
            Damage::Replace(at, what) => {
                let spoil = SPOIL[what % SPOIL.len()];
                let end = (place(at) + spoil.len()).min(length);
                bytes.splice(place(at)..end, spoil.iter().copied());
            }
            Damage::Delete(at, long) => {
                bytes.drain(place(at)..(place(at) + long).min(length));
            }
            Damage::Flip(at, bits) => {
                if let Some(byte) = bytes.get_mut(place(at)) {
                    *byte ^= bits;
                }
            }
            Damage::Repeat(at, long) => {
                let part = bytes[place(at)..(place(at) + long).min(length)].to_vec();
                bytes.splice(place(at)..place(at), part);
            }
            Damage::Cut(at) => bytes.truncate(place(at)),
            Damage::Append(other) => bytes.extend(GOOD[other % GOOD.len()].as_bytes()),
        }
    }
    bytes
}

/// What the servers behind the proxy have found wrong, and how many requests they have had.
#[derive(Default)]
struct Found {
    wrong: Vec<String>,
    seen: usize,
}

type Shared = Arc<Mutex<Found>>;

/// Whether a head is one that only one reader's reading is possible of; its body's framing, then.
fn strict(head: &str, kind: Kind) -> Result<Body, String> {
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let [method, target, version] = line.split(' ').collect::<Vec<_>>()[..] else {
        return Err(format!("request line {line:?}"));
    };
    let is_token = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
    };
    if !is_token(method) || version != "HTTP/1.1" || !target.starts_with('/') {
        return Err(format!("request line {line:?}"));
    }
    if target.bytes().any(|b| b <= b' ' || b == 0x7f || b == b'#') {
        return Err(format!("target {target:?}"));
    }
    let mut body = Body::None;
    let (mut hosts, mut clients, mut traces) = (0, 0, 0);
    for line in lines {
        let (name, value) = line
            .split_once(": ")
            .or(line.split_once(':'))
            .ok_or(format!("header {line:?}"))?;
        if !is_token(name) || value.bytes().any(|b| b == b'\r' || b == b'\n' || b == 0) {
            return Err(format!("header {line:?}"));
        }
        let framed = match name.to_ascii_lowercase().as_str() {
            "host" => {
                hosts += 1;
                None
            }
            "x-forwarded-for" => {
                clients += 1;
                if value != "127.0.0.1" {
                    return Err(format!("a forged client: {line:?}"));
                }
                None
            }
            "traceparent" => {
                traces += 1;
                None
            }
            "content-length" => Some(Body::Length(
                value.parse().map_err(|_| format!("length {line:?}"))?,
            )),
            "transfer-encoding" if value == "chunked" => Some(Body::Chunked),
            "transfer-encoding" => return Err(format!("coding {line:?}")),
            "homeroom-follows-owner" if kind == Kind::Games => None,
            internal if internal.starts_with("homeroom-") => return Err(format!("a forged {line:?}")),
            _ => None,
        };
        if let Some(framed) = framed {
            if body != Body::None {
                return Err("two framings".to_owned());
            }
            body = framed;
        }
    }
    // Also for clients of HTTP/1.0, which send none.
    if hosts != 1 || clients != 1 || traces != 1 {
        return Err(format!("{hosts} hosts, {clients} clients, {traces} traces"));
    }
    if kind == Kind::Games {
        only_one_key(target)?;
    }
    Ok(body)
}

/// A reader who decodes everything and knows both separators finds one code.
fn only_one_key(target: &str) -> Result<(), String> {
    let query = target.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let keys: Vec<&str> = query
        .split(['&', ';'])
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .filter(|(name, _)| name.replace("%67", "g") == "g")
        .map(|(_, value)| value)
        .collect();
    let is_code =
        |code: &str| code.len() == 6 && code.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    match keys[..] {
        [code] if is_code(code) => Ok(()),
        _ => Err(format!("keys {keys:?} in {target:?}")),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    None,
    Length(u64),
    Chunked,
}

/// A server that reads requests one after the other and reports what it cannot read strictly.
async fn server(kind: Kind, found: Shared) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let found = Arc::clone(&found);
            tokio::spawn(async move {
                if let Err(wrong) = read_all(stream, kind, &found).await {
                    found.lock().unwrap().wrong.push(wrong);
                }
            });
        }
    });
    address
}

async fn read_all(stream: TcpStream, kind: Kind, found: &Shared) -> Result<(), String> {
    let mut stream = tokio::io::BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) if head.is_empty() => return Ok(()),
                Err(_) => return Err(format!("half a head: {:?}", String::from_utf8_lossy(&head))),
            }
        }
        let head = String::from_utf8_lossy(&head[..head.len() - 4]).into_owned();
        let body = strict(&head, kind).map_err(|why| format!("{why} in {head:?}"))?;
        found.lock().unwrap().seen += 1;
        // A client that breaks off takes its request with it.
        if read_body(&mut stream, body).await?.is_none() {
            return Ok(());
        }
        let answer = b"HTTP/1.1 200 OK\r\nx-seen: 1\r\ncontent-length: 0\r\n\r\n";
        if stream.write_all(answer).await.is_err() {
            return Ok(());
        }
    }
}

/// None when the connection ends in the middle.
async fn read_body(stream: &mut tokio::io::BufReader<TcpStream>, body: Body) -> Result<Option<()>, String> {
    match body {
        Body::None => Ok(Some(())),
        Body::Length(bytes) => {
            let mut rest = vec![0; usize::try_from(bytes).unwrap()];
            Ok(stream.read_exact(&mut rest).await.ok().map(|_| ()))
        }
        Body::Chunked => loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => line.push(byte),
                    Err(_) => return Ok(None),
                }
            }
            let digits = String::from_utf8_lossy(&line[..line.len() - 2]).into_owned();
            let size = usize::from_str_radix(&digits, 16).map_err(|_| format!("chunk of {digits:?}"))?;
            let mut chunk = vec![0; size + 2];
            if stream.read_exact(&mut chunk).await.is_err() {
                return Ok(None);
            }
            if !chunk.ends_with(b"\r\n") {
                return Err(format!("a chunk without its end: {chunk:?}"));
            }
            if size == 0 {
                return Ok(Some(()));
            }
        },
    }
}

/// A proxy before one such server of each kind.
struct Stage {
    runtime: Runtime,
    proxy: SocketAddr,
    found: Shared,
    _stop: ShutdownTrigger,
}

impl Stage {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let found = Shared::default();
        let (stop, shutdown) = Shutdown::channel();
        let proxy = runtime.block_on(async {
            let group = |kind, name: &str, address| {
                let member = Member {
                    name: name.to_owned(),
                    address,
                    probe_port: None,
                };
                Group::new(kind, vec![member]).unwrap()
            };
            let games = group(
                Kind::Games,
                "game-0",
                server(Kind::Games, Arc::clone(&found)).await,
            );
            let apis = group(Kind::Apis, "api-0", server(Kind::Apis, Arc::clone(&found)).await);
            let settings = Settings {
                https: false,
                body_bytes_max: 1_000,
                http2_requests_max: 0,
                trusted: Vec::new(),
                hsts: None,
                access_log: false,
            };
            let options = Options {
                connections_max: 1_000,
                shared: false,
                tls: None,
                drain: Duration::ZERO,
            };
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(serve(
                listener,
                Proxy::new(games, apis, settings),
                options,
                shutdown,
            ));
            address
        });
        Self {
            runtime,
            proxy,
            found,
            _stop: stop,
        }
    }

    /// Sends each on a connection of its own, and returns what comes until it is `quiet`.
    fn send(&self, requests: &[Vec<u8>], quiet: Duration) -> Vec<Vec<u8>> {
        self.runtime.block_on(async {
            let sending = requests.iter().map(|bytes| async {
                let mut stream = TcpStream::connect(self.proxy).await.unwrap();
                // Refused in the middle, a client may be unable to send the rest.
                let _refused = stream.write_all(bytes).await;
                let mut answer = Vec::new();
                let listening = async {
                    let mut buffer = [0; 4096];
                    while let Ok(Ok(read)) = timeout(quiet, stream.read(&mut buffer)).await {
                        if read == 0 {
                            return;
                        }
                        answer.extend_from_slice(&buffer[..read]);
                    }
                };
                timeout(LISTEN_MAX, listening)
                    .await
                    .expect("the proxy says no end");
                answer
            });
            futures_util::future::join_all(sending).await
        })
    }
}

/// Each has many requests.
fn batches() -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig {
        cases: asked.cases.div_ceil(4),
        ..asked
    }
}

proptest! {
    #![proptest_config(batches())]
    #[test]
    fn nothing_that_can_be_read_in_two_ways_reaches_a_server(
        batch in prop::collection::vec(
            (0..GOOD.len(), prop::collection::vec(damage(), 0..6)),
            AT_ONCE,
        )
    ) {
        // One stage for all cases; what a case leaves behind would show in the next one.
        static STAGE: std::sync::LazyLock<Stage> = std::sync::LazyLock::new(Stage::open);
        let requests: Vec<Vec<u8>> = batch.iter().map(|(good, damages)| damaged(*good, damages)).collect();
        let answers = STAGE.send(&requests, QUIET);
        for (request, answer) in requests.iter().zip(&answers) {
            let is_http = answer.is_empty() || answer.starts_with(b"HTTP/1.");
            prop_assert!(is_http, "{:?} is answered with {:?}", String::from_utf8_lossy(request), String::from_utf8_lossy(answer));
        }
        let wrong = std::mem::take(&mut STAGE.found.lock().unwrap().wrong);
        let requests: Vec<_> = requests.iter().map(|request| String::from_utf8_lossy(request)).collect();
        prop_assert!(wrong.is_empty(), "{wrong:?} after {requests:#?}");
    }
}

/// The good ones arrive, so that the other test cannot pass because nothing does; and the strict server is strict.
#[test]
fn good_requests_arrive_and_bad_ones_would_be_seen() {
    let stage = Stage::open();
    let requests: Vec<Vec<u8>> = GOOD.iter().map(|good| good.as_bytes().to_vec()).collect();
    let answers = stage.send(&requests, Duration::from_secs(5));
    for (request, answer) in GOOD.iter().zip(answers) {
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.contains("x-seen: 1"), "{request:?}: {answer}");
    }
    let found = stage.found.lock().unwrap();
    assert_eq!((&found.wrong, found.seen), (&Vec::new(), GOOD.len() + 1));
    let head = |line: &str, more: &str| {
        format!("{line}\r\nhost: a\r\nx-forwarded-for: 127.0.0.1\r\ntraceparent: x{more}")
    };
    assert_eq!(
        strict(&head("GET /status?g=K7Q2MX HTTP/1.1", ""), Kind::Games),
        Ok(Body::None)
    );
    for (line, more) in [
        ("GET /a b HTTP/1.1", ""),
        ("GET a HTTP/1.1", ""),
        ("GET / HTTP/1.1", "\r\nhost: b"),
        (
            "GET / HTTP/1.1",
            "\r\ncontent-length: 1\r\ntransfer-encoding: chunked",
        ),
        ("GET / HTTP/1.1", "\r\ncontent-length: 1\r\ncontent-length: 1"),
        ("GET / HTTP/1.1", "\r\nx-forwarded-for: 6.6.6.6"),
        ("GET / HTTP/1.1", "\r\nhomeroom-peer: x"),
        ("GET / HTTP/1.1", "\r\n folded"),
    ] {
        assert!(strict(&head(line, more), Kind::Apis).is_err(), "{line} {more}");
    }
    for query in ["", "g=K7Q2MX&g=K7Q2MX", "g=K7Q2MX;%67=K7Q2MY", "g=k7q2mx"] {
        assert!(
            strict(&head(&format!("GET /status?{query} HTTP/1.1"), ""), Kind::Games).is_err(),
            "{query}"
        );
    }
}
