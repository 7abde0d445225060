//! The command line of the real binary: what is wrong is said in one line with exit code 64, before anything binds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn homeroom(data: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_homeroom"));
    command
        .env_clear()
        .env("RUST_BACKTRACE", "1")
        .args(["--data-dir", data.to_str().unwrap()])
        .args(arguments)
        .output()
        .unwrap()
}

fn refused(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(output.stdout.is_empty());
    said
}

#[test]
fn bad_configuration_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let no_pem = folder.path().join("no.pem");
    std::fs::write(&no_pem, "nothing").unwrap();
    let pem = no_pem.to_str().unwrap();
    // Held here: a refusal must come before the bind, or its message would be about the port.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let cases: [(&[&str], &str); 12] = [
        (&["--listen", "somewhere"], "--listen"),
        (&["--listen", "127.0.0.1:99999"], "--listen"),
        (&["--public-url", "quiz.example"], "--public-url"),
        (&["--allow-origin", "http://a/b"], "--allow-origin"),
        (&["--tls-cert", pem], "--tls-key"),
        (&["--tls-cert", pem, "--tls-key", pem], "no.pem"),
        (&["--sockets-max", "many"], "--sockets-max"),
        (&["--log", "==="], "log filter"),
        (
            &["--smtp", "smtps://mail.example", "--mail-from", "a@b.org"],
            "--public-url",
        ),
        (
            &["--smtp-file", pem, "--public-url", "https://quiz.example"],
            "--mail-from",
        ),
        (
            &[
                "--smtp-file",
                pem,
                "--public-url",
                "https://quiz.example",
                "--mail-from",
                "a@b.org",
            ],
            "--smtp-file",
        ),
        (&["--nonsense"], "--nonsense"),
    ];
    for (arguments, named) in cases {
        let listen: &[&str] = if arguments.contains(&"--listen") {
            &[]
        } else {
            &["--listen", &listen]
        };
        let said = refused(&homeroom(&data, &[listen, arguments].concat()));
        assert!(said.contains(named), "{arguments:?}: {said}");
    }
}

#[test]
fn too_few_descriptors_are_said_before_a_class_finds_out() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 200; exec \"$0\" \"$@\""])
        .args([
            env!("CARGO_BIN_EXE_homeroom"),
            "--listen",
            "127.0.0.1:0",
            "--data-dir",
        ])
        .arg(&data)
        .output()
        .unwrap();
    assert!(refused(&output).contains("ulimit -n"));
    assert!(!data.exists());
}

#[test]
fn environment_counts_as_flags_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_homeroom"));
    command
        .env_clear()
        .env("HOMEROOM_DATA_DIR", folder.path())
        .env("HOMEROOM_LISTEN", "nowhere");
    assert!(refused(&command.output().unwrap()).contains("nowhere"));
}

#[test]
fn a_data_folder_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let said = refused(&homeroom(&file, &["--listen", "127.0.0.1:0"]));
    assert!(said.contains("file"), "{said}");
}

#[test]
fn a_taken_port_is_said_and_is_no_configuration_error() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let output = homeroom(folder.path(), &["--listen", &listen]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.lines().count() == 1 && said.contains(&listen), "{said}");
}

#[test]
fn help_and_version_are_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    for flag in ["--help", "--version"] {
        let output = homeroom(folder.path(), &[flag]);
        assert!(output.status.success() && !output.stdout.is_empty(), "{flag}");
    }
}

/// A server that runs until it is dropped.
struct Running {
    child: Child,
    port: u16,
}

impl Running {
    fn start(data: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_homeroom"))
            .env_clear()
            .args(["--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut teachers = String::new();
        while !teachers.contains("Teachers:") {
            teachers.clear();
            assert!(
                said.read_line(&mut teachers).unwrap() > 0,
                "it says where it is found"
            );
        }
        // Until it ends: it has more to say.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let port = teachers
            .trim_end()
            .rsplit(':')
            .next()
            .unwrap()
            .trim_end_matches("/teach");
        Self {
            port: port.parse().unwrap(),
            child,
        }
    }

    /// The status of an attempt to sign in that a proxy on this machine passes on for a client.
    fn sign_in(&self, client: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = r#"{"email":"nobody","password":""}"#;
        write!(
            stream,
            "POST /store/auth/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: {client}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = Vec::new();
        std::io::copy(&mut stream, &mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn behind_a_proxy_that_is_named_clients_do_not_share_an_address() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::start(folder.path(), &["--trust-forwarded", "127.0.0.0/8"]);
    let attempts = (0..=300).map(|_| server.sign_in("192.0.2.1"));
    let statuses: Vec<_> = attempts.collect();
    assert_eq!(statuses[299..], ["401", "429"], "as many as one address may");
    assert_eq!(server.sign_in("192.0.2.2"), "401", "somebody else");
}
