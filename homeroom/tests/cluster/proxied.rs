//! Two real game servers and a real API behind the real proxy: owners are followed, a death is survived, and what is not quite
//! HTTP or not quite a WebSocket is told the same with and without the proxy.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::assert_played;
use crate::client::{Http, Socket};
use crate::processes::{PATIENCE, Proxy, until};
use crate::several::{CODE, Site, TOLD, TUNNELLED, answer, finish, host_at, join, player_at, resume};

const PATH: &str = "/game/watch?g=K7Q2MX";
const FOLLOWED: &str = "homeroom_proxy_owners_followed_total";

async fn behind_a_proxy(site: &Site) -> Proxy {
    let games: Vec<(String, &Http)> = site
        .games
        .iter()
        .enumerate()
        .map(|(at, game)| (format!("game-{at}"), &game.public))
        .collect();
    site.cluster.proxy(&games, &site.api.public).await
}

async fn host(site: &Site, proxy: &Proxy) -> Socket {
    host_at(&proxy.public, PATH, &site.teacher).await.0
}

async fn player(proxy: &Proxy, first: Value) -> (Socket, Value) {
    player_at(&proxy.public, PATH, first).await
}

/// The game is on the server where placement would not look for it. That one says who has it, once; then the proxy knows. And
/// when the owner dies in the middle of a question, the same proxy finds the one that takes over.
#[tokio::test]
async fn a_class_is_found_wherever_it_is_and_when_its_server_dies() {
    let site = Site::open(2).await;
    let placed = protocol::placement::order(&["game-0", "game-1"], CODE)[0];
    let owner = 1 - placed;
    let game = site.create(owner).await;
    let proxy = behind_a_proxy(&site).await;

    let mut host = host(&site, &proxy).await;
    let (mut ada, adas) = player(&proxy, join("Ada")).await;
    let (mut bob, bobs) = player(&proxy, join("Bob")).await;
    host.say(json!({ "t": "start" })).await;
    ada.until("question").await;
    ada.say(answer(0)).await;
    assert_eq!(ada.until("ack").await["saved"], true);
    bob.until("question").await;
    proxy.until_metric(FOLLOWED, |calls| calls == 1).await;
    site.games[placed].until_metric(TOLD, |calls| calls == 1).await;
    site.games[placed]
        .until_metric(TUNNELLED, |calls| calls == 0)
        .await;

    site.games[owner].process.kill();
    let mut host = self::host(&site, &proxy).await;
    let (mut ada, _) = player(&proxy, resume(&adas)).await;
    let (mut bob, _) = player(&proxy, resume(&bobs)).await;
    bob.say(answer(1)).await;
    bob.until("ack").await;
    finish(&mut host, [&mut ada, &mut bob]).await;
    assert_played(&site.teacher.report(&proxy.public, &game).await, CODE);
}

/// Sends bytes, and returns everything that comes until the connection ends.
async fn raw(at: &Http, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(at.0).await.unwrap();
    // Whoever refuses early may close while we send.
    let _refused = stream.write_all(bytes).await;
    let mut heard = Vec::new();
    let _reset = timeout(PATIENCE, stream.read_to_end(&mut heard))
        .await
        .expect("the connection ends");
    heard
}

/// Of all answers; a problem's text may name the protocol, too.
fn statuses(heard: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(heard);
    text.split("HTTP/1.")
        .skip(1)
        .filter_map(|rest| rest.get(2..5)?.parse().ok())
        .collect()
}

/// Requests for a game's status with what stands after the request line, and what the game server and the proxy say to it.
const REQUESTS: [(&str, &str, u16, u16); 24] = [
    ("plain", "host: a\r\nconnection: close\r\n\r\n", 200, 200),
    ("no host", "connection: close\r\n\r\n", 200, 400),
    (
        "two hosts",
        "host: a\r\nhost: b\r\nconnection: close\r\n\r\n",
        200,
        400,
    ),
    (
        "a user in the host",
        "host: x@a\r\nconnection: close\r\n\r\n",
        200,
        400,
    ),
    ("folded header", "host: a\r\nx: 1\r\n 2\r\n\r\n", 400, 400),
    ("space before the colon", "host : a\r\n\r\n", 400, 400),
    ("no colon", "host: a\r\nx\r\n\r\n", 400, 400),
    ("NUL in a header", "host: a\r\nx: a\0b\r\n\r\n", 400, 400),
    ("bare CR in a header", "host: a\r\nx: a\rb\r\n\r\n", 400, 400),
    (
        "length twice, unlike",
        "host: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
        400,
        400,
    ),
    (
        "length in a list",
        "host: a\r\ncontent-length: 1, 1\r\n\r\nx",
        400,
        400,
    ),
    (
        "length with a sign",
        "host: a\r\ncontent-length: +1\r\n\r\nx",
        400,
        400,
    ),
    (
        "length past 64 bits",
        "host: a\r\ncontent-length: 18446744073709551616\r\n\r\n",
        400,
        400,
    ),
    (
        "another coding",
        "host: a\r\ntransfer-encoding: gzip\r\n\r\n",
        400,
        400,
    ),
    (
        "chunked not last",
        "host: a\r\ntransfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        400,
        400,
    ),
    (
        "a disguised coding",
        "host: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
        400,
        400,
    ),
    (
        "two codings",
        "host: a\r\nconnection: close\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        200,
        400,
    ),
    (
        "a space in the length",
        "host: a\r\ncontent-length: 1 1\r\n\r\nx",
        400,
        400,
    ),
    ("an empty length", "host: a\r\ncontent-length:\r\n\r\n", 400, 400),
    (
        "extensions and trailers",
        "host: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n1;x=y\r\nx\r\n0\r\ncontent-length: 9\r\nhost: b\r\n\r\n",
        200,
        200,
    ),
    // A recipient may take it (RFC 9112, 2.2).
    ("LF alone", "host: a\nconnection: close\n\n", 200, 200),
    (
        "been here before",
        "host: a\r\nconnection: close\r\nvia: 1.1 homeroom-proxy\r\n\r\n",
        200,
        508,
    ),
    // What follows the chunks is no request of anybody's.
    (
        "two lengths",
        "host: a\r\ncontent-length: 60\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /status?g=K7Q2MX HTTP/1.1\r\nhost: a\r\n\r\n",
        200,
        200,
    ),
    (
        "two lengths, the other way",
        "host: a\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\nGET /status?g=K7Q2MX HTTP/1.1\r\nhost: a\r\n\r\n",
        200,
        200,
    ),
];

const KEY: &str = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const UPGRADE: &str = "connection: upgrade\r\nupgrade: websocket\r\n";
const VERSION: &str = "sec-websocket-version: 13\r\n";

/// Frames after a good handshake, masked with zeros where they are masked, and the code that they are closed with. Zeros follow
/// each, as payload of those that have one.
const FRAMES: [(&str, &[u8], u16); 24] = [
    ("no mask", b"\x81\x02{}", 1002),
    ("a ping without a mask", b"\x89\x00", 1002),
    ("the first reserved bit", b"\xc1\x82\0\0\0\0{}", 1002),
    ("the second reserved bit", b"\xa1\x82\0\0\0\0{}", 1002),
    ("the third reserved bit", b"\x91\x82\0\0\0\0{}", 1002),
    ("a reserved kind", b"\x83\x82\0\0\0\0{}", 1002),
    ("the last reserved kind", b"\x87\x82\0\0\0\0{}", 1002),
    ("a reserved control kind", b"\x8b\x80\0\0\0\0", 1002),
    ("the last reserved control kind", b"\x8f\x80\0\0\0\0", 1002),
    ("a fragment of nothing", b"\x80\x82\0\0\0\0{}", 1002),
    ("text within a text", b"\x01\x81\0\0\0\0{\x01\x81\0\0\0\0}", 1002),
    ("a fragmented ping", b"\x09\x80\0\0\0\0", 1002),
    ("a fragmented close", b"\x08\x82\0\0\0\0\x03\xe8", 1002),
    ("a ping of 126 bytes", b"\x89\xfe\0\x7e\0\0\0\0", 1002),
    ("a close of one byte", b"\x88\x81\0\0\0\0\x03", 1002),
    ("a close with 1005", b"\x88\x82\0\0\0\0\x03\xed", 1002),
    ("a close with 999", b"\x88\x82\0\0\0\0\x03\xe7", 1002),
    ("a good close", b"\x88\x82\0\0\0\0\x03\xe8", 1000),
    (
        "a close whose reason is no UTF-8",
        b"\x88\x83\0\0\0\0\x03\xe8\xff",
        1007,
    ),
    ("no UTF-8", b"\x81\x82\0\0\0\0\xff\xfe", 1007),
    ("half a pair in UTF-8", b"\x81\x83\0\0\0\0\xed\xa0\x80", 1007),
    (
        "UTF-8 that breaks off",
        b"\x01\x81\0\0\0\0\xc3\x80\x80\0\0\0\0",
        1007,
    ),
    ("100 MB to come", b"\x81\xff\0\0\0\0\x06\0\0\0\0\0\0\0", 1009),
    (
        "a length with its highest bit",
        b"\x81\xff\x80\0\0\0\0\0\0\x01\0\0\0\0",
        1009,
    ),
];

/// The code of the close frame among a server's frames.
fn close_code(heard: &[u8]) -> Option<u16> {
    let head = heard.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    let mut frames = heard.get(head..)?;
    loop {
        let (length, from) = match frames.get(1)? {
            126 => (
                usize::from(u16::from_be_bytes([*frames.get(2)?, *frames.get(3)?])),
                4,
            ),
            short => (usize::from(*short), 2),
        };
        let payload = frames.get(from..from + length)?;
        if frames[0] == 0x88 {
            return Some(u16::from_be_bytes([*payload.first()?, *payload.get(1)?]));
        }
        frames = frames.get(from + length..)?;
    }
}

#[tokio::test]
async fn what_is_not_quite_http_or_a_websocket_is_told_the_same_with_and_without_the_proxy() {
    let site = Site::open(1).await;
    site.create(0).await;
    let proxy = behind_a_proxy(&site).await;
    let both = [("", site.at(0)), ("/game", &proxy.public)];
    for (what, rest, server, proxied) in REQUESTS {
        for ((prefix, at), status) in both.into_iter().zip([server, proxied]) {
            let request = format!("GET {prefix}/status?g={CODE} HTTP/1.1\r\n{rest}");
            let heard = raw(at, request.as_bytes()).await;
            assert_eq!(
                statuses(&heard),
                [status],
                "{what} at {prefix:?}: {}",
                String::from_utf8_lossy(&heard)
            );
        }
    }
    // The game server says of all of them that it wants an upgrade.
    let handshakes = [
        ("no key", format!("{UPGRADE}{VERSION}"), 426, 400),
        (
            "another version",
            format!("{UPGRADE}{KEY}sec-websocket-version: 8\r\n"),
            426,
            426,
        ),
        ("no version", format!("{UPGRADE}{KEY}"), 426, 426),
        (
            "a key of another length",
            format!("{UPGRADE}{VERSION}sec-websocket-key: dGhlIHNhbXBsZQ==\r\n"),
            426,
            400,
        ),
        (
            "no upgrade",
            format!("connection: close\r\n{KEY}{VERSION}"),
            426,
            426,
        ),
        (
            "another upgrade",
            format!("connection: upgrade, close\r\nupgrade: h2c\r\n{KEY}{VERSION}"),
            426,
            426,
        ),
    ];
    for (what, headers, server, proxied) in handshakes {
        for ((prefix, at), status) in both.into_iter().zip([server, proxied]) {
            let closing = headers.replace("connection: upgrade\r\n", "connection: upgrade, close\r\n");
            let request = format!("GET {prefix}/watch?g={CODE} HTTP/1.1\r\nhost: a\r\n{closing}\r\n");
            let heard = raw(at, request.as_bytes()).await;
            assert_eq!(
                statuses(&heard),
                [status],
                "{what} at {prefix:?}: {}",
                String::from_utf8_lossy(&heard)
            );
        }
    }
    for (what, frames, code) in FRAMES {
        for (prefix, at) in both {
            let head =
                format!("GET {prefix}/watch?g={CODE} HTTP/1.1\r\nhost: a\r\n{UPGRADE}{KEY}{VERSION}\r\n");
            let heard = raw(at, &[head.as_bytes(), frames, &[0; 126]].concat()).await;
            assert_eq!(statuses(&heard), [101], "{what} at {prefix:?}");
            assert_eq!(
                close_code(&heard),
                Some(code),
                "{what} at {prefix:?}: {}",
                String::from_utf8_lossy(&heard)
            );
        }
    }
    // After all that, the class is as it was.
    let shown = until("the status", async || {
        proxy.public.get(&format!("/game/status?g={CODE}"), None).await
    })
    .await;
    assert_eq!((shown.0, &shown.1["phase"]), (200, &json!("lobby")));
}
