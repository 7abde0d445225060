//! Where a request goes and what the server sees of it.

use ingress_proxy::{Kind, Proxy, Settings};

use crate::support::{BODY_BYTES_MAX, ask, get, group, listen, nobody, proxy, settings, telling};

#[tokio::test]
async fn games_go_by_their_code_without_the_prefix_and_the_rest_to_an_api_as_it_is() {
    let (game_0, game_1, api) = (
        listen(telling("game-0")).await,
        listen(telling("game-1")).await,
        listen(telling("api-0")).await,
    );
    let games = [("game-0", game_0.address), ("game-1", game_1.address)];
    let proxy = proxy(&games, &[("api-0", api.address)]).await;
    let mut seen = std::collections::BTreeSet::new();
    for code in ["K7Q2MX", "222222", "ABCDEF", "ZZZZZZ", "345678", "H8N4TC"] {
        let names = ["game-0", "game-1"];
        let first = names[protocol::placement::order(&names, code)[0]];
        seen.insert(first);
        for path in ["status", "games", "games"] {
            let answer = get(proxy.address, &format!("/game/{path}?g={code}&x=1")).await;
            let expected = format!("{first} GET /{path}?g={code}&x=1\n");
            assert!(answer.contains(&expected), "{expected}{answer}");
        }
    }
    assert_eq!(seen.len(), 2, "the codes reach both servers");
    for path in [
        "/store/quizzes?after=1",
        "/",
        "/join?g=nonsense",
        "/store/x?g=a&g=b",
    ] {
        let answer = get(proxy.address, path).await;
        assert!(
            answer.contains(&format!("api-0 GET {path}\n")),
            "{path}: {answer}"
        );
    }
}

#[tokio::test]
async fn the_server_learns_who_asks_and_nothing_that_a_client_made_up() {
    let server = listen(telling("game-0")).await;
    let proxy = proxy(&[("game-0", server.address)], &[("api-0", server.address)]).await;
    for path in ["/game/status?g=K7Q2MX", "/store/x"] {
        let forged = "x-forwarded-for: 1.2.3.4\r\nforwarded: for=1.2.3.4\r\nhomeroom-follows-owner: 9\r\nte: trailers\r\n";
        let answer = ask(proxy.address, &format!("GET {path}"), forged, "").await;
        for expected in [
            "host: quiz.example\n",
            "x-forwarded-for: 127.0.0.1\n",
            "x-forwarded-proto: http\n",
            "via: 1.1 homeroom-proxy\n",
        ] {
            assert!(answer.contains(expected), "{path} {expected}: {answer}");
        }
        for absent in ["1.2.3.4", "owner: 9", "trailers", "\nconnection: "] {
            let body = answer.split_once("\r\n\r\n").unwrap().1;
            assert!(!body.contains(absent), "{path} {absent}: {answer}");
        }
    }
}

#[tokio::test]
async fn bodies_arrive_whole_whatever_their_framing_and_not_past_the_limit() {
    let server = listen(telling("any")).await;
    let proxy = proxy(&[("game-0", server.address)], &[("api-0", server.address)]).await;
    for (method, path) in [
        ("POST", "/game/games?g=K7Q2MX"),
        ("POST", "/store/quizzes"),
        // None that means anything, and lost all the same if it is.
        ("GET", "/game/status?g=K7Q2MX"),
        ("GET", "/store/quizzes"),
    ] {
        let line = format!("{method} {path}");
        let known = ask(proxy.address, &line, "content-length: 5\r\n", "12345").await;
        assert!(
            known.ends_with("\n\n12345") && known.contains("\ncontent-length: 5\n"),
            "{known}"
        );
        let chunked = ask(
            proxy.address,
            &line,
            "transfer-encoding: chunked\r\n",
            "3\r\n123\r\n2\r\n45\r\n0\r\n\r\n",
        )
        .await;
        assert!(chunked.ends_with("\n\n12345"), "{chunked}");

        let too_long = "x".repeat(usize::try_from(BODY_BYTES_MAX).unwrap() + 1);
        let head = format!("content-length: {}\r\n", too_long.len());
        let answer = ask(proxy.address, &line, &head, &too_long).await;
        assert!(
            answer.starts_with("HTTP/1.1 413") && answer.contains("body-too-large"),
            "{answer}"
        );
        let body = format!("{:x}\r\n{too_long}\r\n0\r\n\r\n", too_long.len());
        let answer = ask(proxy.address, &line, "transfer-encoding: chunked\r\n", &body).await;
        assert!(
            answer.starts_with("HTTP/1.1 413") && answer.contains("body-too-large"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn every_request_has_a_trace_and_a_good_one_goes_on() {
    let server = listen(telling("any")).await;
    let proxy = proxy(&[("game-0", server.address)], &[("api-0", server.address)]).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
    let mut made = std::collections::BTreeSet::new();
    for path in ["/game/status?g=K7Q2MX", "/store/x", "/"] {
        let line = format!("GET {path}");
        let answer = ask(
            proxy.address,
            &line,
            &format!("traceparent: 00-{trace}-01\r\ntracestate: a=1\r\n"),
            "",
        )
        .await;
        assert!(
            answer.contains(&format!("\ntraceparent: 00-{trace}-00\n")),
            "{answer}"
        );
        assert!(!answer.contains("tracestate"), "{answer}");
        for bad in [
            "",
            "traceparent: nonsense\r\n",
            &format!("traceparent: 00-{trace}\r\n"),
        ] {
            let answer = ask(proxy.address, &line, bad, "").await;
            let own = answer
                .split("\ntraceparent: 00-")
                .nth(1)
                .unwrap_or_else(|| panic!("{answer}"));
            assert!(!own.starts_with(&trace[..32]), "{answer}");
            made.insert(own[..32].to_owned());
        }
    }
    assert_eq!(made.len(), 9, "each its own");
}

/// Half of an answer, then nothing: whoever waits is told after 30 s, and the connection to the server is not used again.
#[tokio::test(start_paused = true)]
async fn an_answer_that_stands_still_is_cut_off() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let half = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345";
            tokio::io::AsyncWriteExt::write_all(&mut stream, half)
                .await
                .unwrap();
            held.push(stream);
        }
    });
    let proxy = proxy(&[("game-0", address)], &[("api-0", address)]).await;
    let handshake = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (path, headers) in [
        ("/game/status?g=K7Q2MX", ""),
        ("/store/x", ""),
        ("/game/watch?g=K7Q2MX", handshake),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n{headers}\r\n");
        let (answer, waited) = until_the_end(proxy.address, &request).await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("12345"),
            "{path}: {answer}"
        );
        assert!((30..60).contains(&waited), "{path}: {waited} s");
    }
}

/// What comes until the connection ends, and after how many seconds that is. On the paused clock it is over as soon as nothing
/// else happens; how the connection ends is no matter.
async fn until_the_end(proxy: std::net::SocketAddr, request: &str) -> (String, u64) {
    let begun = tokio::time::Instant::now();
    let mut stream = tokio::net::TcpStream::connect(proxy).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes())
        .await
        .unwrap();
    let mut answer = Vec::new();
    let reading = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut answer);
    let _ended = tokio::time::timeout(std::time::Duration::from_secs(600), reading)
        .await
        .expect("the connection ends");
    (String::from_utf8(answer).unwrap(), begun.elapsed().as_secs())
}

/// A client that says how much it sends and does not: it holds its place for a minute and no longer.
#[tokio::test(start_paused = true)]
async fn a_body_that_never_comes_is_given_up() {
    let server = listen(telling("any")).await;
    let proxy = proxy(&[("game-0", server.address)], &[("api-0", server.address)]).await;
    for (path, status) in [("/game/games?g=K7Q2MX", 408), ("/store/quizzes", 504)] {
        let request = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n12");
        let (answer, waited) = until_the_end(proxy.address, &request).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{path}: {answer}"
        );
        assert!((60..=120).contains(&waited), "{path}: {waited} s");
    }
}

/// Nobody asked for another protocol, so nobody gets one.
#[tokio::test]
async fn a_switch_of_protocols_that_nobody_asked_for_is_no_answer() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _read = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 1024]).await;
            let switch = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
            tokio::io::AsyncWriteExt::write_all(&mut stream, switch)
                .await
                .unwrap();
        }
    });
    let proxy = proxy(&[("game-0", address)], &[("api-0", address)]).await;
    for path in ["/game/status?g=K7Q2MX", "/store/x"] {
        let answer = get(proxy.address, path).await;
        assert!(answer.starts_with("HTTP/1.1 502"), "{path}: {answer}");
    }
}

/// A server speaks HTTP/1.1, in which every request has a host, also one that came without.
#[tokio::test]
async fn every_request_has_a_host_whatever_its_connection_header_says() {
    let server = listen(telling("any")).await;
    let proxy = proxy(&[("game-0", server.address)], &[("api-0", server.address)]).await;
    for path in ["/game/status?g=K7Q2MX", "/store/x"] {
        for (request, host) in [
            (format!("GET {path} HTTP/1.0\r\n\r\n"), "host: \n"),
            (format!("GET http://a{path} HTTP/1.0\r\n\r\n"), "host: a\n"),
            (
                format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close, host, traceparent\r\n\r\n"),
                "host: a\n",
            ),
        ] {
            let answer = crate::support::raw(proxy.address, request.as_bytes()).await;
            assert!(
                answer.contains(host) && answer.contains("\ntraceparent: "),
                "{request}: {answer}"
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_refuses_connections_costs_nobody_a_request() {
    let (up, dead) = (listen(telling("up")).await, nobody().await);
    let games = [("game-0", dead), ("game-1", up.address), ("game-2", dead)];
    let proxy = proxy(&games, &[("api-0", dead), ("api-1", up.address)]).await;
    for code in ["K7Q2MX", "222222", "ABCDEF", "ZZZZZZ", "345678", "H8N4TC"] {
        let line = format!("POST /game/games?g={code}");
        let answer = ask(proxy.address, &line, "content-length: 5\r\n", "12345").await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("12345"),
            "{answer}"
        );
    }
    for _ in 0..8 {
        let answer = ask(proxy.address, "POST /store/x", "content-length: 5\r\n", "12345").await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("12345"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn nobody_to_ask_is_said_with_a_time_to_come_back() {
    let dead = nobody().await;
    let proxy = proxy(&[("game-0", dead)], &[("api-0", dead)]).await;
    for path in ["/game/status?g=K7Q2MX", "/store/x", "/"] {
        let answer = get(proxy.address, path).await;
        assert!(
            answer.starts_with("HTTP/1.1 503") && answer.contains("no-server"),
            "{answer}"
        );
        assert!(answer.contains("retry-after: "), "{answer}");
    }
}

#[tokio::test]
async fn a_trusted_proxy_in_front_is_believed_and_browsers_are_told_to_stay_with_https() {
    let server = listen(telling("any")).await;
    let settings = Settings {
        trusted: vec!["127.0.0.0/8".parse().unwrap()],
        hsts: Some("max-age=60".parse().unwrap()),
        ..settings()
    };
    let servers = [("any", server.address)];
    let (games, apis) = (group(Kind::Games, &servers), group(Kind::Apis, &servers));
    let proxy = listen(Proxy::new(games, apis, settings)).await;
    for path in ["/game/status?g=K7Q2MX", "/store/x"] {
        let line = format!("GET {path}");
        let forwarded = "x-forwarded-for: 1.2.3.4, 203.0.113.9\r\nx-forwarded-proto: https\r\n";
        let answer = ask(proxy.address, &line, forwarded, "").await;
        assert!(
            answer.contains("strict-transport-security: max-age=60\r\n"),
            "{answer}"
        );
        assert!(
            answer.contains("\nx-forwarded-for: 203.0.113.9\nx-forwarded-proto: https\n"),
            "{answer}"
        );
        let plain = ask(proxy.address, &line, "x-forwarded-proto: http\r\n", "").await;
        assert!(!plain.contains("strict-transport-security"), "{plain}");
    }
}
