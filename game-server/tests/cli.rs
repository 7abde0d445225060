//! The command line of the real binary: what is wrong is said in one line with exit code 64, before anything binds; what is
//! right starts, is watched, and stops cleanly.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// An Ed25519 public key of RFC 8037, appendix A.
const JWKS: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","alg":"EdDSA","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
const SECRET: &str = "0123456789abcdef0123456789abcdef\n";

/// A folder with every file that a server needs.
fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("jwks.json", JWKS),
        ("service", SECRET),
        ("resume", SECRET),
        ("short", "short-secret\n"),
        ("empty.json", r#"{"keys":[]}"#),
        ("no.json", "nothing"),
        ("redis", "rediss://:0123456789@cache\n"),
        ("no-redis", "redi://:0123456789@cache\n"),
    ] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

/// The binary with good flags, those of `changed` replaced; an empty value leaves the flag out.
fn game_server(folder: &Path, changed: &[(&str, &str)]) -> Command {
    let good = [
        ("--listen", "127.0.0.1:0"),
        ("--api-internal", "http://127.0.0.1:9"),
        ("--service-token-file", "service"),
        ("--jwks-file", "jwks.json"),
        ("--resume-secret-file", "resume"),
        ("--log-format", "json"),
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_game-server"));
    command.env_clear().current_dir(folder);
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
    assert!(
        !said.contains("short-secret") && !said.contains("0123456789"),
        "{said}"
    );
    said
}

#[test]
fn bad_configuration_is_refused_in_one_line() {
    let folder = files();
    // Held here: a refusal must come before the bind, or its message would be about the port.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let cases: [((&str, &str), &str); 16] = [
        (("--listen", "somewhere"), "--listen"),
        (("--api-internal", ""), "--api-internal"),
        (("--api-internal", "https://api"), "http://"),
        (("--service-token-file", ""), "--service-token-file"),
        (("--service-token-file", "missing"), "missing"),
        (("--service-token-file", "short"), "32"),
        (("--resume-secret-file", ""), "--resume-secret-file"),
        (("--resume-secret-file", "short"), "32"),
        (("--jwks-file", ""), "--jwks-file"),
        (("--jwks-file", "missing"), "missing"),
        (("--jwks-file", "no.json"), "no.json"),
        (("--jwks-file", "empty.json"), "no key"),
        (("--name", "a b"), "--name"),
        (("--allow-origin", "quiz.example"), "--allow-origin"),
        (("--sockets-max", "0"), "--sockets-max"),
        (("--log", "==="), "log filter"),
    ];
    for ((flag, value), named) in cases {
        let mut changed = vec![(flag, value)];
        if flag != "--listen" {
            changed.push(("--listen", &listen));
        }
        let said = refused(&game_server(folder.path(), &changed).output().unwrap());
        assert!(said.contains(named), "{flag} {value}: {said}");
    }
}

#[test]
fn a_redis_that_cannot_be_used_is_refused_without_its_password() {
    let folder = files();
    let cases: [(&[(&str, &str)], &str); 8] = [
        (&[("--redis", "cache:6379")], "rediss-sentinel"),
        (&[("--redis", "redis://u:0123456789@cache")], "--redis-file"),
        (
            &[("--redis", "redis://a"), ("--redis-file", "redis")],
            "--redis-file",
        ),
        (&[("--redis-file", "missing")], "missing"),
        (&[("--redis-file", "no-redis")], "no-redis"),
        (&[("--redis-ca", "jwks.json")], "--redis-ca"),
        (
            &[("--redis-ca", "jwks.json"), ("--redis", "redis://cache")],
            "rediss",
        ),
        (
            &[("--redis-ca", "jwks.json"), ("--redis-file", "redis")],
            "jwks.json",
        ),
    ];
    for (changed, named) in cases {
        let said = refused(&game_server(folder.path(), changed).output().unwrap());
        assert!(said.contains(named), "{changed:?}: {said}");
    }
}

#[test]
fn environment_counts_as_flags_do() {
    let folder = files();
    let output = game_server(folder.path(), &[("--listen", "")])
        .env("HOMEROOM_GAME_LISTEN", "nowhere")
        .output()
        .unwrap();
    assert!(refused(&output).contains("nowhere"));
}

#[test]
fn a_taken_port_is_said_and_is_no_configuration_error() {
    let folder = files();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let output = game_server(folder.path(), &[("--listen", &listen)])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&listen), "{said}");
}

/// A running server; killed when a test ends early.
struct Running {
    child: Child,
    log: BufReader<std::process::ChildStderr>,
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
fn it_serves_with_and_without_the_prefix_is_watched_and_stops_cleanly() {
    let folder = files();
    let mut running = Running::start(game_server(folder.path(), &[("--admin-listen", "127.0.0.1:0")]));
    let admin = running.said("admin listener", "bound");
    running.said(
        "no --redis is given: games live in memory only, and end when this process does",
        "",
    );
    let address = running.said("listening", "bound");
    for path in ["/status?g=K7Q2MX", "/game/status?g=K7Q2MX"] {
        let answer = get(&address, path);
        assert!(
            answer.starts_with("HTTP/1.1 404") && answer.contains("no-such-game"),
            "{answer}"
        );
    }
    for (path, body) in [
        ("/live", "live"),
        ("/ready", "ready"),
        ("/metrics", "homeroom_game_sockets"),
    ] {
        let answer = get(&admin, path);
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains(body),
            "{path}: {answer}"
        );
        assert!(
            get(&address, path).starts_with("HTTP/1.1 404"),
            "{path} is public"
        );
    }
    let pid = running.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    running.said("stopped", "");
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
}
