//! The command line of the real binary: what is wrong is said in one line with exit code 64, before anything binds; what is
//! right starts, is watched, and stops cleanly.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

/// The binary with good flags, those of `changed` replaced; an empty value leaves the flag out.
fn ingress_proxy(changed: &[(&str, &str)]) -> Command {
    let good = [
        ("--listen", "127.0.0.1:0"),
        ("--game", "game-0=127.0.0.1:9"),
        ("--api", "api-0=127.0.0.1:9"),
        ("--log-format", "json"),
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_ingress-proxy"));
    command.env_clear();
    let kept = good
        .iter()
        .filter(|(flag, _)| changed.iter().all(|(other, _)| other != flag));
    for (flag, value) in kept.chain(changed).filter(|(_, value)| !value.is_empty()) {
        command.args([flag, value]);
    }
    command
}

fn refused(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

#[test]
fn bad_configuration_is_refused_in_one_line() {
    // Held here: a refusal must come before the bind, or its message would be about the port.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let cases = [
        (("--listen", "somewhere"), "--listen"),
        (("--game", ""), "--game"),
        (("--game", "game-0"), "NAME=HOST:PORT"),
        (("--game", "a b=127.0.0.1:1"), "letters"),
        (
            ("--game", "game-0=127.0.0.1:1,game-0=127.0.0.1:2"),
            "two servers are named game-0",
        ),
        (("--game-file", "/nowhere/servers"), "--game"),
        (("--api", ""), "--api"),
        (("--api", "api=nowhere"), "NAME=HOST:PORT"),
        (("--game", "game:8080"), "names of their own"),
        (("--tls-cert", "cert.pem"), "--tls-key"),
        (("--redirect-listen", "127.0.0.1:0"), "--tls-cert"),
        (("--trust-forwarded", "10.0.0.0/99"), "--trust-forwarded"),
        (("--hsts-s", "soon"), "--hsts-s"),
        (("--connections-max", "0"), "--connections-max"),
        (("--body-bytes-max", "0"), "--body-bytes-max"),
        (("--log", "==="), "log filter"),
    ];
    for ((flag, value), named) in cases {
        let mut changed = vec![(flag, value)];
        if flag != "--listen" {
            changed.push(("--listen", &listen));
        }
        let said = refused(&ingress_proxy(&changed).output().unwrap());
        assert!(said.contains(named), "{flag} {value}: {said}");
    }
    let keys = [
        ("--tls-cert", "/nowhere/cert.pem"),
        ("--tls-key", "/nowhere/key.pem"),
    ];
    assert!(refused(&ingress_proxy(&keys).output().unwrap()).contains("/nowhere/cert.pem"));
}

#[test]
fn environment_counts_as_flags_do() {
    let output = ingress_proxy(&[("--game", "")])
        .env("HOMEROOM_PROXY_GAME", "nowhere")
        .output()
        .unwrap();
    assert!(refused(&output).contains("nowhere"));
}

#[test]
fn a_taken_port_is_said_and_is_no_configuration_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let output = ingress_proxy(&[("--listen", &listen)]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&listen), "{said}");
}

/// A running proxy; killed when a test ends early.
struct Running {
    child: Child,
    log: BufReader<ChildStderr>,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        Self { child, log }
    }

    /// Reads the log up to the event, and returns the event's field.
    fn said(&mut self, message: &str, field: &str) -> String {
        let mut line = String::new();
        while self.log.read_line(&mut line).unwrap() > 0 {
            let event: serde_json::Value = serde_json::from_str(&line).unwrap();
            if event["fields"]["message"] == message {
                return event["fields"][field].as_str().unwrap_or_default().to_owned();
            }
            line.clear();
        }
        panic!("the log ended without {message:?}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail when it has ended, as it should have.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    #[expect(clippy::disallowed_methods, reason = "our own server ends its answers")]
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_serves_is_watched_and_stops_cleanly() {
    let mut running = Running::start(ingress_proxy(&[("--admin-listen", "127.0.0.1:0")]));
    let admin = running.said("admin listener", "bound");
    let address = running.said("listening", "bound");
    let answer = get(&address, "/game/status");
    assert!(
        answer.starts_with("HTTP/1.1 400") && answer.contains("bad-game-key"),
        "{answer}"
    );
    for (path, body) in [
        ("/live", "live"),
        ("/ready", "ready"),
        ("/metrics", "homeroom_http_connections"),
        ("/membership", r#""digest":""#),
    ] {
        let answer = get(&admin, path);
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains(body),
            "{path}: {answer}"
        );
        // Nothing of it is public; there is no API to pass it on to.
        assert!(get(&address, path).starts_with("HTTP/1.1 503"), "{path}");
    }
    terminate(&running);
    running.said("stopped", "");
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
}

/// A line for each request, with what it takes to find it again and without its query.
#[test]
fn the_access_log_tells_of_every_request() {
    let mut command = ingress_proxy(&[]);
    command.arg("--access-log");
    let mut running = Running::start(command);
    let address = running.said("listening", "bound");
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "GET /game/status?secret HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntraceparent: 00-{trace}-00f067aa0ba902b7-00\r\n\r\n"
    )
    .unwrap();
    let mut line = String::new();
    while !line.contains("\"access\"") {
        line.clear();
        assert!(running.log.read_line(&mut line).unwrap() > 0, "the log ended");
    }
    let event: serde_json::Value = serde_json::from_str(&line).unwrap();
    for (field, value) in [
        ("method", "GET"),
        ("path", "/game/status"),
        ("route", "game"),
        ("client", "127.0.0.1"),
        ("http", "HTTP/1.1"),
        ("trace", trace),
    ] {
        assert_eq!(event["fields"][field], value, "{line}");
    }
    assert_eq!(event["fields"]["status"], 400, "{line}");
    assert!(!line.contains("secret"), "{line}");
}

fn terminate(running: &Running) {
    let pid = running.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
}

/// A new process starts at the same port before the old one stops, three times, while somebody asks all the time: no connection is
/// refused and no answer fails.
#[test]
fn a_restart_with_a_shared_port_refuses_nobody() {
    let shared = |listen: &str| {
        let mut command = ingress_proxy(&[("--listen", listen), ("--drain-s", "0")]);
        command.arg("--reuse-port");
        Running::start(command)
    };
    let mut old = shared("127.0.0.1:0");
    let address = old.said("listening", "bound");
    let done = std::sync::atomic::AtomicBool::new(false);
    let answered = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut answered = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let answer = get(&address, "/game/status");
                assert!(answer.starts_with("HTTP/1.1 400"), "after {answered}: {answer}");
                answered += 1;
            }
            answered
        });
        for _ in 0..3 {
            let mut new = shared(&address);
            new.said("listening", "bound");
            terminate(&old);
            old.said("stopped", "");
            old = new;
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        asking.join().unwrap()
    });
    assert!(answered > 100, "{answered}");
}
