//! A real Redis for one test: on a free port, in a folder of its own, gone with the value.

use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Longest wait for a server to come up or to answer.
const READY_MAX: Duration = Duration::from_secs(20);

/// What a server keeps on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Nothing: it restarts empty.
    Nothing,
    /// Everything it has answered, as long as the machine itself goes on.
    AppendOnly,
    /// The same, synchronised once a second: as docs/configuration.md asks for.
    EverySecond,
}

impl Keep {
    fn arguments(self) -> [&'static str; 4] {
        let (append, sync) = match self {
            Self::Nothing => ("no", "no"),
            // Not `everysec`: while that syncs, answers leave before what they answer is written.
            Self::AppendOnly => ("yes", "no"),
            Self::EverySecond => ("yes", "everysec"),
        };
        ["--appendonly", append, "--appendfsync", sync]
    }
}

/// A running or killed `redis-server`.
#[derive(Debug)]
pub(crate) struct RedisServer {
    folder: TempDir,
    port: u16,
    keep: Keep,
    extra: Vec<String>,
    child: Option<Child>,
    /// Bytes that the test itself has sent with [`RedisServer::ask`].
    asked_bytes: AtomicU64,
}

impl RedisServer {
    pub(crate) async fn start(keep: Keep) -> Self {
        Self::start_with(keep, |_| Vec::new()).await
    }

    /// With more arguments, which may name files in the server's folder.
    pub(crate) async fn start_with(keep: Keep, extra: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let folder = TempDir::new().unwrap();
        let extra = extra(folder.path());
        let mut server = Self {
            folder,
            port: free_port().await,
            keep,
            extra,
            child: None,
            asked_bytes: AtomicU64::new(0),
        };
        // Somebody may take the free port first.
        while !server.launch().await {
            server.port = free_port().await;
        }
        server
    }

    /// A sentinel that alone decides who leads the group `live`, now the server on `port`.
    pub(crate) async fn start_sentinel(port: &str) -> Self {
        let config = format!(
            "sentinel monitor live 127.0.0.1 {port} 1\nsentinel down-after-milliseconds live 1000\nsentinel failover-timeout live 3000\n"
        );
        Self::start_with(Keep::Nothing, |folder| {
            let file = folder.join("sentinel.conf");
            std::fs::write(&file, config).unwrap();
            vec![file.to_str().unwrap().to_owned(), "--sentinel".to_owned()]
        })
        .await
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Starts it again after [`RedisServer::kill`], on the same port and folder.
    pub(crate) async fn restart(&mut self) {
        assert!(self.child.is_none(), "it still runs");
        assert!(self.launch().await, "redis-server does not start");
    }

    /// SIGKILL.
    pub(crate) async fn kill(&mut self) {
        self.child.take().unwrap().kill().await.unwrap();
    }

    /// SIGSTOP: connections stay, nothing is answered.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// SIGCONT.
    pub(crate) fn thaw(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// One command on a connection of its own; an error answer begins with `-`.
    pub(crate) async fn ask(&self, command: &[&str]) -> String {
        let answer = timeout(READY_MAX, ask(self.port, command)).await.unwrap();
        let (answer, sent) = answer.unwrap();
        self.asked_bytes.fetch_add(sent, Ordering::Relaxed);
        answer
    }

    /// A number from `INFO`.
    pub(crate) async fn info(&self, field: &str) -> u64 {
        let info = self.ask(&["INFO", "everything"]).await;
        let line = info
            .lines()
            .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        let digits = line.map(|value| value.trim().split(|c: char| !c.is_ascii_digit()).next().unwrap());
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// Bytes that everybody else has sent to this Redis.
    pub(crate) async fn received_bytes(&self) -> u64 {
        let received = self.info("total_net_input_bytes").await;
        // Which counts this very question.
        received - self.asked_bytes.load(Ordering::Relaxed)
    }

    /// How often a function was called.
    pub(crate) async fn calls(&self) -> u64 {
        let info = self.ask(&["INFO", "commandstats"]).await;
        let calls = info.split_once("cmdstat_fcall:calls=").map(|(_, rest)| rest);
        calls.map_or(0, |calls| calls.split(',').next().unwrap().parse().unwrap())
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.as_ref().and_then(Child::id).unwrap();
        kill(Pid::from_raw(i32::try_from(pid).unwrap()), signal).unwrap();
    }

    /// Whether it came up.
    async fn launch(&mut self) -> bool {
        let port = self.port.to_string();
        let mut command = Command::new("redis-server");
        // First, since a sentinel's begin with its file.
        command
            .args(&self.extra)
            .args([
                "--port",
                &port,
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--daemonize",
                "no",
            ])
            .args(["--loglevel", "warning", "--dir"])
            .arg(self.folder.path())
            .args(self.keep.arguments())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = command.spawn().expect("redis-server is not installed");
        let own_id = format!("process_id:{}\r", child.id().unwrap());
        let up = async {
            let mut pause = tokio::time::interval(Duration::from_millis(5));
            loop {
                pause.tick().await;
                if child.try_wait().unwrap().is_some() {
                    return false;
                }
                // Another server may have the port, and answers as well as ours. One that wants a password says nothing about
                // itself, and is never started twice.
                if let Ok((info, _)) = ask(self.port, &["INFO", "server"]).await
                    && (info.contains(&own_id) || info.starts_with("-NOAUTH"))
                    && ask(self.port, &["PING"])
                        .await
                        .is_ok_and(|(pong, _)| !pong.starts_with("-LOADING"))
                {
                    return true;
                }
            }
        };
        let up = timeout(READY_MAX, up)
            .await
            .expect("redis-server does not come up");
        self.child = up.then_some(child);
        up
    }
}

pub(crate) async fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

/// Sends one command and reads its answer, a line or one string; and says how many bytes were sent.
async fn ask(port: u16, command: &[&str]) -> std::io::Result<(String, u64)> {
    let mut socket = BufReader::new(TcpStream::connect(("127.0.0.1", port)).await?);
    let mut request = format!("*{}\r\n", command.len());
    for word in command {
        request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    socket.write_all(request.as_bytes()).await?;
    let sent = u64::try_from(request.len()).unwrap();
    let mut line = String::new();
    socket.read_line(&mut line).await?;
    let line = line.trim_end();
    let Some(len) = line.strip_prefix('$') else {
        return Ok((line.strip_prefix(['+', ':']).unwrap_or(line).to_owned(), sent));
    };
    let mut text = vec![0; usize::try_from(len.parse::<i64>().unwrap()).unwrap_or(0)];
    socket.read_exact(&mut text).await?;
    Ok((String::from_utf8_lossy(&text).into_owned(), sent))
}
