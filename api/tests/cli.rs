//! The command line of the real binary: what is wrong is said in one line with exit code 64, before anything binds and
//! without telling a secret; what is right starts, is watched, and stops cleanly.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

#[expect(
    dead_code,
    reason = "shared with the tests of the store, which use more of it"
)]
#[path = "support/postgres.rs"]
mod postgres;

use postgres::PostgresServer;

fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("service", "0123456789abcdef0123456789abcdef\n"),
        ("short", "short-secret\n"),
        ("no.json", "nothing"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        // Others' right to read a file is a warning, and here only the refusals are looked at.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    folder
}

/// `api serve` with good flags, those of `changed` replaced; an empty value leaves the flag out.
fn serve(folder: &Path, changed: &[(&str, &str)]) -> Command {
    let good = [
        ("--listen", "127.0.0.1:0"),
        ("--internal-listen", "127.0.0.1:0"),
        ("--database", "sqlite:api.db"),
        ("--keys-file", "keys.json"),
        ("--jwks-out", "jwks.json"),
        ("--service-token-file", "service"),
        ("--log-format", "json"),
    ];
    let mut command = api(folder, &["serve"]);
    let kept = good
        .iter()
        .filter(|(flag, _)| changed.iter().all(|(other, _)| other != flag));
    for (flag, value) in kept.chain(changed).filter(|(_, value)| !value.is_empty()) {
        command.args([flag, value]);
    }
    command
}

fn api(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_api"));
    command.env_clear().current_dir(folder).args(arguments);
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
    let cases: [((&str, &str), &str); 24] = [
        (("--listen", "somewhere"), "--listen"),
        (("--internal-listen", "somewhere"), "--internal-listen"),
        (("--database", ""), "--database"),
        (
            ("--database", "postgres://anna:short-secret@db/x"),
            "--database-file",
        ),
        (
            ("--database", "postgres://anna:short-secret@db"),
            "names no database",
        ),
        (("--database-file", "missing"), "missing"),
        (("--database-file", "no.json"), "--database-file"),
        (("--database-connections", "0"), "--database-connections"),
        (("--redis", "redis://:short-secret@cache"), "--redis-file"),
        (("--redis", "http://cache"), "--redis"),
        (("--redis-file", "missing"), "missing"),
        (("--teacher-games-max", "0"), "--teacher-games-max"),
        (("--measure-call-delay-ms", "0"), "--measure-call-delay-ms"),
        (("--database", "mysql://anna:short-secret@db/x"), "sqlite:"),
        (("--keys-file", ""), "--keys-file"),
        (("--keys-file", "no.json"), "no.json"),
        (("--keys-file", "no/keys.json"), "no/keys.json"),
        (("--jwks-out", "no/jwks.json"), "no/jwks.json"),
        (("--service-token-file", ""), "--service-token-file"),
        (("--service-token-file", "missing"), "missing"),
        (("--service-token-file", "service,short"), "32"),
        (("--public-url", "https://quiz.example/x"), "--public-url"),
        (("--log", "==="), "log filter"),
        (("--nonsense", "1"), "--nonsense"),
    ];
    for ((flag, value), named) in cases {
        let mut changed = vec![(flag, value)];
        if flag != "--listen" {
            changed.push(("--listen", &listen));
        }
        if flag == "--database-file" {
            changed.push(("--database", ""));
        }
        let said = refused(&serve(folder.path(), &changed).output().unwrap());
        assert!(said.contains(named), "{flag} {value}: {said}");
    }
    assert!(refused(&api(folder.path(), &[]).output().unwrap()).contains("subcommand"));
    assert!(refused(&api(folder.path(), &["migrate"]).output().unwrap()).contains("--database"));
}

#[test]
fn a_password_in_the_environment_shows_nowhere() {
    let folder = files();
    for arguments in [
        ["serve", "--help"],
        ["serve", "--nonsense"],
        ["migrate", "--help"],
    ] {
        let output = api(folder.path(), &arguments)
            .env("HOMEROOM_API_DATABASE", "postgres://anna:hunter2@db/x")
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(
            !String::from_utf8(said).unwrap().contains("hunter2"),
            "{arguments:?}"
        );
    }
}

#[test]
fn migrating_makes_the_database_and_ends() {
    let folder = files();
    for _ in 0..2 {
        let output = api(folder.path(), &["migrate", "--database", "sqlite:new.db"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert!(folder.path().join("new.db").is_file());
    let output = api(folder.path(), &["migrate", "--database", "sqlite:no/new.db"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("no/new.db"));
}

#[test]
fn postgres_is_served_only_after_it_was_migrated() {
    let server = PostgresServer::start();
    let folder = files();
    std::fs::write(folder.path().join("url"), server.database()).unwrap();
    let changed = [
        ("--database", ""),
        ("--database-file", "url"),
        ("--admin-listen", "127.0.0.1:0"),
    ];
    let output = serve(folder.path(), &changed).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("run `api migrate` first"), "{said}");

    let migrated = api(folder.path(), &["migrate", "--database-file", "url"])
        .output()
        .unwrap();
    assert!(migrated.status.success(), "{migrated:?}");
    let mut running = Running::start(serve(folder.path(), &changed));
    let [admin] = running.said("admin listener", ["bound"]);
    let [public] = running.said("listening", ["bound"]);
    let body = r#"{"email":"a@school.org","password":"correct horse battery","name":"A"}"#;
    let registered = send(&public, "POST", "/store/auth/register", body);
    assert!(registered.starts_with("HTTP/1.1 201"), "{registered}");
    assert_eq!(server.sql("d0", "SELECT email FROM teachers"), "a@school.org");
    assert!(ask(&admin, "GET", "/ready").contains("200"));
    running.stop();
}

/// Nobody leaves them on without being told at every start.
#[test]
fn switches_for_measurements_are_warned_of() {
    let server = PostgresServer::start();
    let folder = files();
    std::fs::write(folder.path().join("url"), server.database()).unwrap();
    let migrated = api(folder.path(), &["migrate", "--database-file", "url"])
        .output()
        .unwrap();
    assert!(migrated.status.success(), "{migrated:?}");
    let changed = [
        ("--database", ""),
        ("--database-file", "url"),
        ("--measure-call-delay-ms", "5"),
    ];
    let mut command = serve(folder.path(), &changed);
    command.arg("--measure-without-admission");
    let mut running = Running::start(command);
    running.said(
        "--measure-without-admission: nothing keeps this process from collapsing under load; for measurements only",
        [],
    );
    running.said(
        "--measure-call-delay-ms: every call is made slow; for measurements only",
        [],
    );
    let [public] = running.said("listening", ["bound"]);
    let body = r#"{"email":"a@school.org","password":"correct horse battery","name":"A"}"#;
    let registered = send(&public, "POST", "/store/auth/register", body);
    assert!(registered.starts_with("HTTP/1.1 201"), "{registered}");
    running.stop();
}

/// Readiness follows the database, and liveness does not.
#[test]
fn a_database_that_is_gone_is_seen_and_so_is_its_return() {
    let mut server = PostgresServer::start();
    let folder = files();
    std::fs::write(folder.path().join("url"), server.database()).unwrap();
    let migrated = api(folder.path(), &["migrate", "--database-file", "url"])
        .output()
        .unwrap();
    assert!(migrated.status.success(), "{migrated:?}");
    let changed = [
        ("--database", ""),
        ("--database-file", "url"),
        ("--admin-listen", "127.0.0.1:0"),
    ];
    let mut running = Running::start(serve(folder.path(), &changed));
    let [admin] = running.said("admin listener", ["bound"]);
    let [public] = running.said("listening", ["bound"]);
    server.kill();
    let body = r#"{"email":"a@school.org","password":"correct horse battery"}"#;
    let refused = send(&public, "POST", "/store/auth/login", body);
    assert!(
        refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: "),
        "{refused}"
    );
    running.said("the database is gone; not ready", []);
    assert!(ask(&admin, "GET", "/ready").starts_with("HTTP/1.1 503"));
    assert!(ask(&admin, "GET", "/live").starts_with("HTTP/1.1 200"));
    server.restart();
    running.said("the database answers", []);
    assert!(ask(&admin, "GET", "/ready").starts_with("HTTP/1.1 200"));
    let answered = send(&public, "POST", "/store/auth/login", body);
    assert!(answered.starts_with("HTTP/1.1 401"), "{answered}");
    running.stop();
}

/// A running API; killed when a test ends early.
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

    /// Reads the log up to the event, and returns these fields of it.
    fn said<const N: usize>(&mut self, message: &str, fields: [&str; N]) -> [String; N] {
        let mut line = String::new();
        while self.log.read_line(&mut line).unwrap() > 0 {
            let event: serde_json::Value = serde_json::from_str(&line).unwrap();
            if event["fields"]["message"] == message {
                return fields.map(|field| event["fields"][field].as_str().unwrap().to_owned());
            }
            line.clear();
        }
        panic!("the log ended without {message:?}");
    }

    /// Asks for a stop, and waits for a clean one.
    fn stop(&mut self) {
        let pid = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        assert!(asked.success());
        self.said("stopped", []);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail when it has ended, as it should have.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn ask(address: &str, method: &str, path: &str) -> String {
    send(address, method, path, "")
}

fn send(address: &str, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "our own server ends its answers")]
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn api_pages_and_internal_calls_have_their_places_and_it_stops_cleanly() {
    let folder = files();
    let mut running = Running::start(serve(folder.path(), &[("--admin-listen", "127.0.0.1:0")]));
    let [admin] = running.said("admin listener", ["bound"]);
    let [public, internal] = running.said("listening", ["bound", "internal"]);
    let cases = [
        (&public, "GET", "/store/plans", "200", "players_max"),
        (&public, "GET", "/teach", "200", "text/html"),
        // The pages' own "not found": the API is under its prefix only.
        (&public, "GET", "/plans", "404", "text/html"),
        (&public, "POST", "/internal/plan-check", "405", ""),
        (&public, "GET", "/internal/plan-check", "404", "text/html"),
        (
            &public,
            "POST",
            "/store/internal/plan-check",
            "404",
            "unknown-route",
        ),
        (&public, "POST", "/store/internal/results", "404", "unknown-route"),
        (&public, "GET", "/metrics", "404", ""),
        (
            &internal,
            "POST",
            "/internal/plan-check",
            "401",
            "service-token-invalid",
        ),
        (&internal, "GET", "/store/plans", "401", ""),
        (&admin, "GET", "/live", "200", "live"),
        (&admin, "GET", "/ready", "200", "ready"),
        (&admin, "GET", "/metrics", "200", "homeroom_api_requests_total"),
    ];
    for (address, method, path, status, holds) in cases {
        let answer = ask(address, method, path);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains(holds),
            "{method} {path}: {answer}"
        );
    }
    // What game servers get is what the API publishes.
    let written = std::fs::read_to_string(folder.path().join("jwks.json")).unwrap();
    assert!(ask(&public, "GET", "/store/.well-known/jwks.json").ends_with(&written));
    running.stop();
}
