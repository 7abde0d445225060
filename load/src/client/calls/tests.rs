//! The loop of calls against servers of a few lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use super::*;

/// A server that answers every request of every connection by `answer`, given the request's path.
fn server(answer: fn(&str, &mut TcpStream)) -> Target {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("port");
    let target = format!("http://{}", listener.local_addr().expect("address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a client");
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
                let mut path = String::new();
                while let Some(Ok(line)) = lines.next() {
                    if let Some(rest) = line.strip_prefix("GET ") {
                        path = rest.split(' ').next().unwrap_or_default().to_owned();
                    }
                    if line.is_empty() {
                        answer(&path, &mut stream);
                    }
                }
            });
        }
    });
    target.parse().expect("target")
}

fn say(stream: &mut TcpStream, body: &str) {
    let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    // Who gave up does not read it.
    let _outcome = stream.write_all(text.as_bytes());
}

/// Calls at fixed moments, and what came of them.
struct Fixed {
    asks: Vec<Ask>,
    heard: Vec<(u64, u16, Option<Unanswered>, u64, String)>,
}

impl Fixed {
    fn new(host: &str, due: &[(Stamp, u32, &str)]) -> Self {
        let ask = |(number, &(due, way, path)): (usize, &(Stamp, u32, &str))| Ask {
            due,
            way,
            tag: crate::sys::count(number),
            request: request("GET", path, host, None, "", b""),
        };
        let mut asks: Vec<Ask> = due.iter().enumerate().map(ask).collect();
        asks.reverse();
        Self {
            asks,
            heard: Vec::new(),
        }
    }
}

impl Script for Fixed {
    fn next(&mut self, now: Stamp) -> Step {
        match self.asks.last() {
            None => Step::End,
            Some(ask) if ask.due > now => Step::Wait(ask.due),
            Some(_) => self.asks.pop().map_or(Step::End, Step::Ask),
        }
    }

    fn heard(&mut self, heard: &Heard<'_>) {
        let (body, why) = match &heard.answer {
            Ok(answer) => (String::from_utf8_lossy(answer.body).into_owned(), None),
            Err(why) => (String::new(), Some(*why)),
        };
        self.heard
            .push((heard.tag, heard.status(), why, heard.took_us(), body));
    }
}

#[test]
fn calls_do_not_wait_for_each_other_and_connections_are_used_again() {
    let target = server(|path, stream| {
        if path == "/slow" {
            clock::pause_ms(200);
        }
        say(stream, path);
    });
    let now = clock::now();
    let due = [
        (now, 0, "/slow"),
        (now.plus_ms(20), 0, "/fast"),
        (now.plus_ms(60), 0, "/fast"),
    ];
    let mut script = Fixed::new(&target.host, &due);
    let mut calls = Calls::new(vec![way_to(target)], 5_000).expect("poller");
    calls.run(&mut script).expect("carried out");
    let order: Vec<u64> = script.heard.iter().map(|heard| heard.0).collect();
    assert_eq!(order, [1, 2, 0], "{:?}", script.heard);
    assert!(
        script.heard.iter().all(|heard| heard.1 == 200),
        "{:?}",
        script.heard
    );
    assert!(
        script.heard[2].3 >= 200_000,
        "from the moment it was due: {:?}",
        script.heard
    );
    assert_eq!(
        calls.conns.len(),
        2,
        "the second fast one took the first one's connection"
    );
}

#[test]
fn who_gets_no_answer_gives_up() {
    let target = server(|path, stream| match path {
        "/silent" => clock::pause_ms(400),
        "/closed" => drop(stream.shutdown(std::net::Shutdown::Both)),
        _ => drop(stream.write_all(b"no http\r\n\r\n")),
    });
    let now = clock::now();
    let due = [
        (now, 0, "/silent"),
        (now, 0, "/closed"),
        (now, 0, "/other"),
        (now, 1, "/"),
    ];
    let mut script = Fixed::new(&target.host, &due);
    // A port that was free a moment ago: nobody listens on it.
    let nobody = {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("port");
        format!("http://{}", listener.local_addr().expect("address"))
    };
    let ways = vec![way_to(target), way_to(nobody.parse().expect("target"))];
    let mut calls = Calls::new(ways, 150).expect("poller");
    calls.run(&mut script).expect("carried out");
    script.heard.sort_by_key(|heard| heard.0);
    let why: Vec<Option<Unanswered>> = script.heard.iter().map(|heard| heard.2).collect();
    assert!(
        matches!(
            why[..],
            [
                Some(Unanswered::TooLate),
                Some(Unanswered::Broken),
                Some(Unanswered::NoHttp),
                Some(Unanswered::NotConnected(_))
            ]
        ),
        "{why:?}"
    );
}

#[test]
fn calls_come_from_the_address_that_they_are_to_come_from() {
    let target = server(|_, stream| {
        let peer = stream.peer_addr().expect("a peer").ip().to_string();
        say(stream, &peer);
    });
    let now = clock::now();
    let mut script = Fixed::new(&target.host, &[(now, 0, "/"), (now, 1, "/")]);
    let from = |last| IpAddr::V4(Ipv4Addr::new(127, 0, 0, last));
    let ways = vec![way_from(target.clone(), from(7)), way_from(target, from(8))];
    let mut calls = Calls::new(ways, 5_000).expect("poller");
    calls.run(&mut script).expect("carried out");
    script.heard.sort_by_key(|heard| heard.0);
    let peers: Vec<&str> = script.heard.iter().map(|heard| heard.4.as_str()).collect();
    assert_eq!(peers, ["127.0.0.7", "127.0.0.8"]);
}
