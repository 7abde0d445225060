//! A real, empty Redis for one test: on a free port, gone with the value.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A running or killed server.
pub(crate) struct RedisServer {
    port: u16,
    child: Option<Child>,
}

impl RedisServer {
    pub(crate) fn start() -> Self {
        let mut server = Self { port: 0, child: None };
        // Somebody may take the free port first.
        while server.child.is_none() {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            server.port = free.local_addr().unwrap().port();
            drop(free);
            server.child = launch(server.port);
        }
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts it again, empty, after [`RedisServer::kill`].
    pub(crate) fn restart(&mut self) {
        self.child = launch(self.port);
        assert!(self.child.is_some(), "redis-server does not start");
    }

    /// It stands still: connections stay, nothing is answered.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// It goes on.
    pub(crate) fn thaw(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, what: Signal) {
        let server = self.child.as_ref().unwrap().id();
        kill(Pid::from_raw(i32::try_from(server).unwrap()), what).unwrap();
    }

    /// What one command about a key answers.
    pub(crate) fn ask(&self, command: &str, key: &str) -> String {
        let port = self.port.to_string();
        let output = Command::new("redis-cli")
            .args(["-h", "127.0.0.1", "-p", &port, "--raw", command, key])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// None when it ended instead of serving.
fn launch(port: u16) -> Option<Child> {
    let port = port.to_string();
    let mut child = Command::new("redis-server")
        .args([
            "--port",
            &port,
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server is not installed");
    let mut log = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("Ready to accept connections") {
        line.clear();
        if log.read_line(&mut line).unwrap() == 0 {
            child.wait().unwrap();
            return None;
        }
    }
    // Until it ends; a full pipe would stop it.
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    Some(child)
}
