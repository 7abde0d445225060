//! The process under test and its HTTP side.

use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// How long a start may take: a debug build on a busy machine.
const START_MAX: Duration = Duration::from_secs(30);
/// Largest answer of an HTTP call, in bytes.
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub(crate) struct Process {
    data: TempDir,
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Process {
    /// Starts it on a free port, with an empty data folder.
    pub(crate) fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let child = spawn(&data, address);
        Self { data, address, child }
    }

    /// SIGKILL, and waits until it is gone.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// SIGTERM, and waits for its orderly end.
    pub(crate) async fn stop(&mut self) {
        let pid = self.child.id().unwrap().to_string();
        let sent = Command::new("kill").arg(pid).status().await.unwrap();
        assert!(sent.success());
        assert!(self.child.wait().await.unwrap().success());
    }

    /// Starts it again on the same port and data; returns at once.
    pub(crate) fn spawn_again(&mut self) {
        self.child = spawn(&self.data, self.address);
    }

    /// The same, and waits until it answers.
    pub(crate) async fn start_again(&mut self) {
        self.spawn_again();
        self.answers().await;
    }

    /// Waits until it takes connections.
    pub(crate) async fn answers(&self) {
        let answering = async {
            while TcpStream::connect(self.address).await.is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(START_MAX, answering)
            .await
            .expect("the process never answered");
    }

    pub(crate) async fn get(&self, path: &str, token: Option<&str>) -> (u16, Value) {
        self.call("GET", path, token, &Value::Null).await
    }

    pub(crate) async fn create(&self, token: &str, code: &str, quiz: &str, key: &str) -> (u16, Value) {
        let body = json!({ "quiz": { "id": quiz }, "key": key });
        let path = format!("/game/games?g={code}");
        self.call("POST", &path, Some(token), &body).await
    }

    /// One HTTP call on a connection of its own.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> (u16, Value) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let authorization = token.map_or(String::new(), |token| {
            format!("Authorization: Bearer {token}\r\n")
        });
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             {authorization}Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _bytes = stream
            .take(ANSWER_BYTES_MAX)
            .read_to_end(&mut answer)
            .await
            .unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error} in {answer}"));
        (status, json)
    }
}

fn spawn(data: &TempDir, address: SocketAddr) -> Child {
    Command::new(env!("CARGO_BIN_EXE_homeroom"))
        .args(["--listen", &address.to_string(), "--log", "warn", "--data-dir"])
        .arg(data.path())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}
