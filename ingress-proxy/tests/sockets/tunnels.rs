//! WebSockets through the proxy.

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::support::{SOON, ask, listen, nobody, proxy, raw, say, socket, telling};

const HANDSHAKE: &str =
    "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[tokio::test]
async fn everybody_of_one_game_is_on_one_server_and_frames_of_any_size_pass() {
    let (game_0, game_1) = (listen(telling("game-0")).await, listen(telling("game-1")).await);
    let games = [("game-0", game_0.address), ("game-1", game_1.address)];
    let proxy = proxy(&games, &[("api-0", game_0.address)]).await;
    for code in ["K7Q2MX", "222222", "ABCDEF", "ZZZZZZ"] {
        let names = ["game-0", "game-1"];
        let first = names[protocol::placement::order(&names, code)[0]];
        for _ in 0..3 {
            let mut socket = socket(proxy.address, &format!("/game/watch?g={code}"))
                .await
                .unwrap();
            assert_eq!(say(&mut socket, "hello").await, format!("{first}: hello"));
            let long = "x".repeat(1_000_000);
            assert_eq!(say(&mut socket, &long).await, format!("{first}: {long}"));
            socket.close(None).await.unwrap();
            while let Some(message) = timeout(SOON, socket.next()).await.unwrap() {
                assert!(matches!(message, Ok(Message::Close(_)) | Err(_)), "{message:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_is_gone_is_passed_over() {
    let (up, dead) = (listen(telling("up")).await, nobody().await);
    let games = [("game-0", dead), ("game-1", up.address), ("game-2", dead)];
    let proxy = proxy(&games, &[("api-0", up.address)]).await;
    for code in ["K7Q2MX", "222222", "ABCDEF", "ZZZZZZ", "345678"] {
        let mut socket = socket(proxy.address, &format!("/game/watch?g={code}"))
            .await
            .unwrap();
        assert_eq!(say(&mut socket, "hello").await, "up: hello");
    }
}

#[tokio::test]
async fn a_refused_handshake_is_passed_on_as_it_is() {
    let server = listen(telling("game-0")).await;
    let proxy = proxy(&[("game-0", server.address)], &[("api-0", server.address)]).await;
    // The server has no WebSocket there, and answers with 200.
    match socket(proxy.address, "/game/other?g=K7Q2MX").await {
        Err(tungstenite::Error::Http(response)) => {
            assert_eq!(response.status(), 200);
            assert_eq!(response.headers()["x-server"], "game-0");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn bytes_sent_before_the_answer_and_a_half_closed_side_are_passed_on() {
    // A server that waits for three bytes and for the client's end before it says anything but 101.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let switch =
            b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nfirst";
        stream.write_all(switch).await.unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        stream.write_all(b" last").await.unwrap();
        (String::from_utf8(head).unwrap(), rest)
    });
    let proxy = proxy(&[("game-0", address)], &[("api-0", address)]).await;
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    let request = format!(
        "GET /game/watch?g=K7Q2MX HTTP/1.1\r\nhost: x\r\nconnection: keep-alive, Upgrade\r\n{HANDSHAKE}\r\nabc"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 101") && answer.ends_with("first last"),
        "{answer}"
    );
    let (head, rest) = server.await.unwrap();
    assert!(head.starts_with("GET /watch?g=K7Q2MX HTTP/1.1\r\n"), "{head}");
    assert!(
        head.contains("upgrade: websocket\r\n") && head.contains("homeroom-follows-owner: 1\r\n"),
        "{head}"
    );
    assert_eq!(rest, b"abc");
}

#[tokio::test]
async fn when_the_server_dies_the_client_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        let message = socket.next().await.unwrap().unwrap();
        socket.send(message).await.unwrap();
    });
    let proxy = proxy(&[("game-0", address)], &[("api-0", address)]).await;
    let mut socket = socket(proxy.address, "/game/watch?g=K7Q2MX").await.unwrap();
    assert_eq!(say(&mut socket, "hello").await, "hello");
    let end = timeout(SOON, socket.next()).await.unwrap();
    assert!(matches!(end, None | Some(Err(_))), "{end:?}");
}

#[tokio::test]
async fn what_is_no_handshake_opens_no_tunnel() {
    let server = listen(telling("game-0")).await;
    let proxy = proxy(&[("game-0", server.address)], &[("api-0", server.address)]).await;
    let key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let version = "sec-websocket-version: 13\r\n";
    let cases = [
        ("POST", format!("{key}{version}content-length: 0\r\n"), "400"),
        (
            "GET",
            format!("{key}{version}content-length: 3\r\n\r\nabc"),
            "400",
        ),
        (
            "GET",
            format!("{key}{version}transfer-encoding: chunked\r\n\r\n0\r\n"),
            "400",
        ),
        ("GET", version.to_owned(), "400"),
        ("GET", format!("{key}{key}{version}"), "400"),
        ("GET", format!("{version}sec-websocket-key: short\r\n"), "400"),
        (
            "GET",
            format!("{version}sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ\r\n"),
            "400",
        ),
        (
            "GET",
            format!("{version}sec-websocket-key: dGhlIHNhbXBsZSBub25jZSEhISE=\r\n"),
            "400",
        ),
        (
            "GET",
            format!("{version}sec-websocket-key: dGhlIHNhbXBsZSBub25j!!==\r\n"),
            "400",
        ),
        ("GET", format!("{key}{version}{version}"), "426"),
        ("GET", format!("{key}sec-websocket-version: 8\r\n"), "426"),
        ("GET", key.to_owned(), "426"),
    ];
    for (method, headers, status) in cases {
        let request = format!(
            "{method} /game/watch?g=K7Q2MX HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n{headers}\r\n"
        );
        let answer = raw(proxy.address, request.as_bytes()).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{method} {headers}: {answer}"
        );
        assert!(answer.contains("bad-handshake"), "{answer}");
    }
    // An upgrade to anything else, or beside a game, is an ordinary request.
    let h2c = "upgrade: h2c\r\nhttp2-settings: x\r\n";
    let answer = ask(proxy.address, "GET /game/status?g=K7Q2MX", h2c, "").await;
    assert!(
        answer.starts_with("HTTP/1.1 200") && !answer.contains("h2c"),
        "{answer}"
    );
    let answer = raw(
        proxy.address,
        format!("GET /store/watch HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\n{HANDSHAKE}\r\n")
            .as_bytes(),
    )
    .await;
    assert!(
        answer.starts_with("HTTP/1.1 200") && !answer.contains("upgrade"),
        "{answer}"
    );
}
