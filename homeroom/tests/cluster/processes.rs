//! Starting the real binaries with files of their own, and waiting for what they say.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::client::Http;

/// How long a test waits for a state that must come: back-off of results and a busy machine included.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// How often a state is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// Says that cargo has just built the binaries of all packages, as a run over the whole workspace does (`./test`).
const BUILT: &str = "HOMEROOM_TEST_BINARIES_BUILT";

/// Folder of the binaries. `cargo test -p homeroom` builds only this package's, so the others are built here.
static BINARIES: LazyLock<PathBuf> = LazyLock::new(|| {
    let own = Path::new(env!("CARGO_BIN_EXE_homeroom"));
    let folder = own.parent().unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "a switch of this test, not configuration of a process"
    )]
    if std::env::var_os(BUILT).is_some() {
        return folder.to_owned();
    }
    let mut build = Command::new(env!("CARGO"));
    // All targets, so that features and with them compiled crates are those of a test run.
    build.args(["build", "--quiet", "--locked", "--all-targets"]);
    build.args([
        "--package",
        "homeroom",
        "--package",
        "game-server",
        "--package",
        "api",
        "--package",
        "ingress-proxy",
    ]);
    if folder.ends_with("release") {
        build.arg("--release");
    }
    let built = build
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(built.success(), "the binaries cannot be built");
    folder.to_owned()
});

/// Waits until `look` finds something.
pub(crate) async fn until<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("{what} never came"))
}

/// A folder with the secrets and the database that the processes share.
pub(crate) struct Cluster {
    pub(crate) folder: TempDir,
}

/// A running API.
pub(crate) struct Api {
    pub(crate) process: Process,
    pub(crate) public: Http,
    pub(crate) internal: Http,
    pub(crate) admin: Http,
}

/// A running game server.
pub(crate) struct Game {
    pub(crate) process: Process,
    pub(crate) public: Http,
    pub(crate) admin: Http,
}

/// A running proxy.
pub(crate) struct Proxy {
    pub(crate) public: Http,
    admin: Http,
    // Held for its drop.
    _process: Process,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, secret) in [
            ("service", "0123456789abcdef0123456789abcdef"),
            ("other-service", "fedcba9876543210fedcba9876543210"),
            ("resume", "a secret of the tests, 32 bytes or more"),
            ("peers", "another secret of the tests, 32 bytes or more"),
        ] {
            std::fs::write(folder.path().join(name), secret).unwrap();
        }
        Self { folder }
    }

    /// Starts an API; in the place of `before`, if there was one.
    pub(crate) async fn api(&self, before: Option<&Api>) -> Api {
        let internal = before.map_or("127.0.0.1:0".to_owned(), |api| api.internal.0.to_string());
        let process = self.start(
            "api",
            if before.is_some() { "api-again" } else { "api" },
            &[
                "serve",
                "--listen=127.0.0.1:0",
                &format!("--internal-listen={internal}"),
                "--admin-listen=127.0.0.1:0",
                "--database=sqlite:api.db",
                "--keys-file=keys.json",
                "--jwks-out=jwks.json",
                "--service-token-file=service",
                "--log-format=json",
            ],
        );
        let admin = process.bound("admin listener").await;
        let listening = process.said("listening").await;
        Api {
            public: address(&listening, "bound"),
            internal: address(&listening, "internal"),
            admin,
            process,
        }
    }

    /// Starts a game server; the API has written its public keys by then.
    pub(crate) async fn game(&self, name: &str, api: &Http) -> Game {
        self.game_with_secret(name, api, "service").await
    }

    pub(crate) async fn game_with_secret(&self, name: &str, api: &Http, secret: &str) -> Game {
        Game::of(self.start_game(name, api, &[&format!("--service-token-file={secret}")])).await
    }

    /// Starts a game server whose games are kept in the Redis at `url`. It may have to wait for that one.
    pub(crate) fn start_game_on(&self, name: &str, api: &Http, url: &str) -> Process {
        self.start_game(
            name,
            api,
            &["--service-token-file=service", &format!("--redis={url}")],
        )
    }

    /// Starts a game server that shares the Redis at `url`, and its games, with others.
    pub(crate) async fn member(&self, name: &str, api: &Http, url: &str) -> Game {
        self.member_with(name, api, url, &[]).await
    }

    /// The same with more flags.
    pub(crate) async fn member_with(&self, name: &str, api: &Http, url: &str, more: &[&str]) -> Game {
        let redis = format!("--redis={url}");
        let flags = [
            "--service-token-file=service",
            &redis,
            "--peer-listen=127.0.0.1:0",
            "--peer-secret-file=peers",
        ];
        Game::of(self.start_game(name, api, &[&flags, more].concat())).await
    }

    /// Starts a proxy before game servers and an API.
    pub(crate) async fn proxy(&self, games: &[(String, &Http)], api: &Http) -> Proxy {
        let games: Vec<String> = games
            .iter()
            .map(|(name, at)| format!("--game={name}={}", at.0))
            .collect();
        let api = format!("--api=api-0={}", api.0);
        let own = [
            "--listen=127.0.0.1:0",
            "--admin-listen=127.0.0.1:0",
            "--log-format=json",
            &api,
        ];
        let arguments: Vec<&str> = own.into_iter().chain(games.iter().map(String::as_str)).collect();
        let process = self.start("ingress-proxy", "proxy", &arguments);
        Proxy {
            admin: process.bound("admin listener").await,
            public: process.bound("listening").await,
            _process: process,
        }
    }

    fn start_game(&self, name: &str, api: &Http, more: &[&str]) -> Process {
        let (name_flag, api_flag) = (
            format!("--name={name}"),
            format!("--api-internal=http://{}", api.0),
        );
        let own = [
            "--listen=127.0.0.1:0",
            "--admin-listen=127.0.0.1:0",
            &name_flag,
            &api_flag,
            "--jwks-file=jwks.json",
            "--resume-secret-file=resume",
            "--log-format=json",
        ];
        self.start("game-server", name, &[&own, more].concat())
    }

    /// Starts the one process, and waits until it takes connections.
    pub(crate) async fn homeroom(&self, more: &[&str]) -> (Process, Http) {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = Http(free.local_addr().unwrap());
        drop(free);
        let listen = format!("--listen={}", at.0);
        let own = [&listen, "--data-dir=data", "--log-format=json"];
        let process = self.start("homeroom", "homeroom", &[&own, more].concat());
        until("the one process", async || at.get("/", None).await).await;
        (process, at)
    }

    /// What a command that ends by itself prints.
    pub(crate) fn prints(&self, binary: &str, arguments: &[&str]) -> String {
        let output = self.output(binary, arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command says that must fail.
    pub(crate) fn refuses(&self, binary: &str, arguments: &[&str]) -> String {
        let output = self.output(binary, arguments);
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn output(&self, binary: &str, arguments: &[&str]) -> Output {
        Command::new(BINARIES.join(binary))
            .env_clear()
            .current_dir(self.folder.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    fn start(&self, binary: &str, name: &str, arguments: &[&str]) -> Process {
        let log = self.folder.path().join(format!("{name}.log"));
        let child = Command::new(BINARIES.join(binary))
            .env_clear()
            .current_dir(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Process {
            child: Mutex::new(child),
            log,
        }
    }
}

impl Game {
    /// A game server that has come up.
    pub(crate) async fn of(process: Process) -> Self {
        Self {
            admin: process.bound("admin listener").await,
            public: process.bound("listening").await,
            process,
        }
    }

    /// Waits until a metric fits.
    pub(crate) async fn until_metric(&self, name: &str, fits: fn(u64) -> bool) {
        until_metric(&self.admin, name, fits).await;
    }
}

impl Proxy {
    /// Waits until a metric fits.
    pub(crate) async fn until_metric(&self, name: &str, fits: fn(u64) -> bool) {
        until_metric(&self.admin, name, fits).await;
    }
}

async fn until_metric(admin: &Http, name: &str, fits: fn(u64) -> bool) {
    until(name, async || {
        let (_, page) = admin.get_text("/metrics").await?;
        let line = page.lines().find(|line| line.starts_with(&format!("{name} ")))?;
        let value: u64 = line.rsplit(' ').next()?.parse().ok()?;
        fits(value).then_some(())
    })
    .await;
}

fn address(event: &Value, field: &str) -> Http {
    let address: SocketAddr = event["fields"][field].as_str().unwrap().parse().unwrap();
    Http(address)
}

/// A process with its log; killed when a test ends early.
pub(crate) struct Process {
    child: Mutex<Child>,
    log: PathBuf,
}

impl Process {
    /// Waits until the process has logged this, and returns the event.
    pub(crate) async fn said(&self, message: &str) -> Value {
        let found = async || {
            let log = std::fs::read_to_string(&self.log).unwrap();
            assert!(
                log.contains(message) || self.child.lock().unwrap().try_wait().unwrap().is_none(),
                "ended without {message:?}:\n{log}"
            );
            // The last line may be half written.
            log.lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok())
                .find(|event| event["fields"]["message"] == message)
        };
        until(message, found).await
    }

    /// Waits until the process has logged the address of this listener.
    pub(crate) async fn bound(&self, listener: &str) -> Http {
        address(&self.said(listener).await, "bound")
    }

    /// SIGTERM.
    pub(crate) fn ask_to_stop(&self) {
        self.signal("-TERM");
    }

    /// SIGSTOP: its connections stay, and nothing is answered.
    pub(crate) async fn freeze(&self) {
        self.signal("-STOP");
        let stat = format!("/proc/{}/stat", self.child.lock().unwrap().id());
        until("a standstill", async || {
            let stat = std::fs::read_to_string(&stat).unwrap();
            let (_, state) = stat.rsplit_once(") ").unwrap();
            state.starts_with('T').then_some(())
        })
        .await;
    }

    /// SIGCONT.
    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.lock().unwrap().id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for an end with exit code 0 and in order.
    pub(crate) async fn ended_well(&self) {
        let status = until("the end", async || self.child.lock().unwrap().try_wait().unwrap()).await;
        assert_eq!(status.code(), Some(0));
        self.said("stopped").await;
        let log = std::fs::read_to_string(&self.log).unwrap();
        assert!(!log.contains("\"level\":\"ERROR\""), "{log}");
    }

    /// SIGKILL.
    pub(crate) fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            #[expect(
                clippy::print_stderr,
                reason = "the folder goes with the test, and only these lines say why"
            )]
            {
                eprintln!("{}:\n{log}", self.log.display());
            }
        }
        // Both fail when it has ended already.
        if let Ok(child) = self.child.get_mut() {
            let _killed = child.kill();
            let _reaped = child.wait();
        }
    }
}
