//! The configurations in deploy/gateways, run by the programs they are for, keep the same promises as our own proxy.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::support::{Running, SOON, ask, get, listen, nobody, proxy, say, socket, telling};

/// Games that are placed.
const GAMES: u8 = 150;

/// A gateway; killed when a test ends.
struct Gateway {
    child: Child,
    // Held for its drop.
    _directory: TempDir,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Both fail only when it has ended by itself.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

struct Servers {
    games: Vec<(&'static str, Running)>,
    api: Running,
}

impl Servers {
    async fn start() -> Self {
        let game = async |name| (name, listen(telling(name)).await);
        Self {
            games: vec![game("game-0").await, game("game-1").await],
            api: listen(telling("api-0")).await,
        }
    }

    fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        self.games
            .iter()
            .map(|(name, running)| (*name, running.address))
            .collect()
    }
}

fn config(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy/gateways")
        .join(name)
}

/// A configuration with the servers of a test in the place of those of a cluster, each line with its own.
fn adapted(name: &str, servers: &Servers, listen: SocketAddr) -> String {
    let text = std::fs::read_to_string(config(name)).unwrap();
    let mut places: Vec<(String, SocketAddr)> = Vec::new();
    places.extend(
        servers
            .addresses()
            .iter()
            .map(|(name, at)| (format!("{name}.game:8080"), *at)),
    );
    places.extend(["api-0", "api-1"].map(|name| (format!("{name}.api:8080"), servers.api.address)));
    let lines = text.lines().map(|line| {
        let own = places.iter().find(|(place, _)| line.contains(place.as_str()));
        match own {
            Some((place, at)) => line
                .replace(place, &at.to_string())
                .replace("port 9090", &format!("port {}", at.port())),
            None => line
                .replace("listen 8080", &format!("listen {listen}"))
                .replace("bind :8080", &format!("bind {listen}"))
                // A test's machine may hold fewer descriptors.
                .replace("maxconn 30000", "maxconn 1000")
                .replace("worker_connections 32768", "worker_connections 1000")
                .replace("worker_rlimit_nofile 65536", "worker_rlimit_nofile 4096"),
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

async fn start(program: &str, name: &str, arguments: &[&str], servers: &Servers) -> (Gateway, SocketAddr) {
    let address = nobody().await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    std::fs::write(&file, adapted(name, servers, address)).unwrap();
    let mut command = Command::new(program);
    command
        .current_dir(directory.path())
        .args(arguments)
        .arg(&file)
        .stdout(Stdio::null());
    let said = directory.path().join("said");
    command.stderr(std::fs::File::create(&said).unwrap());
    let child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{program} must be installed for this test: {error}"));
    let mut gateway = Gateway {
        child,
        _directory: directory,
    };
    let end = tokio::time::Instant::now() + SOON;
    while TcpStream::connect(address).await.is_err() {
        assert!(
            gateway.child.try_wait().unwrap().is_none(),
            "{program} has ended: {}",
            std::fs::read_to_string(&said).unwrap()
        );
        assert!(tokio::time::Instant::now() < end, "{program} does not listen");
        tokio::task::yield_now().await;
    }
    (gateway, address)
}

fn served_by(answer: &str) -> &str {
    let name = answer
        .split("x-server: ")
        .nth(1)
        .unwrap_or_else(|| panic!("{answer}"));
    name.split("\r\n").next().unwrap_or_default()
}

fn codes() -> impl Iterator<Item = String> {
    (0..GAMES)
        .map(|n| protocol::ids::GameCode::from_positions([n / 30, n % 30, 7, 11, n % 13, 5]).to_string())
}

async fn keeps_its_promises(address: SocketAddr, mut servers: Servers) {
    let mut first = Vec::new();
    for code in codes() {
        let by = served_by(&get(address, &format!("/game/status?g={code}")).await).to_owned();
        for path in ["/game/games?x=1&g=", "/game/status?g="] {
            assert_eq!(
                served_by(&get(address, &format!("{path}{code}")).await),
                by,
                "{code}"
            );
        }
        first.push(by);
    }
    for (at, code) in codes().enumerate().step_by(10) {
        let mut socket = socket(address, &format!("/game/watch?g={code}")).await.unwrap();
        assert_eq!(say(&mut socket, "hello").await, format!("{}: hello", first[at]));
    }
    let on_zero = first.iter().filter(|by| *by == "game-0").count();
    assert!(
        (45..=105).contains(&on_zero),
        "{on_zero} of {GAMES} games on one of two servers"
    );

    for query in [
        "",
        "?",
        "?h=K7Q2MX",
        "?g",
        "?g=",
        "?g=k7q2mx",
        "?g=K7Q2M",
        "?g=K7Q2MXX",
        "?g=K7Q2%4DX",
        "?g=K7Q2M0",
        "?g=K7Q2MX&g=K7Q2MX",
        "?g=K7Q2MX&g",
        "?g&g=K7Q2MX",
        "?g=K7Q2MX;g=K7Q2MY",
        "?a=b;g=K7Q2MX",
        "?g=K7Q2MX&%67=K7Q2MY",
        "?%67=K7Q2MY&g=K7Q2MX",
        "?%67=K7Q2MX",
        "?g=K7Q2MX;a=b",
        "?g=K7Q2MX&a;g=1",
    ] {
        for path in ["/game/status", "/game/watch", "/game"] {
            let answer = get(address, &format!("{path}{query}")).await;
            assert!(
                answer.starts_with("HTTP/1.1 400") && answer.contains("bad-game-key"),
                "{path}{query}: {answer}"
            );
            assert!(!answer.contains("x-server"), "{path}{query}: {answer}");
        }
    }

    let forged = "x-forwarded-for: 1.2.3.4\r\nforwarded: for=1.2.3.4\r\nhomeroom-follows-owner: yes\r\nhomeroom-peer: yes\r\nhomeroom-unreachable: yes\r\nhomeroom-wary: yes\r\n";
    for path in ["/game/status?g=K7Q2MX", "/store/quizzes?after=1", "/"] {
        let answer = ask(address, &format!("GET {path}"), forged, "").await;
        assert!(answer.contains("x-forwarded-for: 127.0.0.1\n"), "{answer}");
        assert!(
            !answer.contains("1.2.3.4") && !answer.contains(": yes"),
            "{answer}"
        );
        assert_eq!(
            served_by(&answer).starts_with("api"),
            !path.starts_with("/game"),
            "{answer}"
        );
        assert!(
            path.starts_with("/game") || answer.contains(&format!("GET {path}\n")),
            "{answer}"
        );
    }

    // One server goes: its games are the other one's now, and nothing else has moved.
    let (_, gone) = servers.games.remove(0);
    let at = gone.address;
    drop(gone);
    while TcpStream::connect(at).await.is_ok() {
        tokio::task::yield_now().await;
    }
    for code in codes() {
        let answer = get(address, &format!("/game/status?g={code}")).await;
        assert_eq!(served_by(&answer), "game-1", "{answer}");
    }
}

#[tokio::test]
async fn our_own_proxy_keeps_them() {
    let servers = Servers::start().await;
    let proxy = proxy(&servers.addresses(), &[("api-0", servers.api.address)]).await;
    keeps_its_promises(proxy.address, servers).await;
}

#[tokio::test]
async fn nginx_keeps_them() {
    let servers = Servers::start().await;
    let arguments = ["-p", ".", "-g", "daemon off; master_process off;", "-c"];
    let (_nginx, address) = start("nginx", "nginx.conf", &arguments, &servers).await;
    keeps_its_promises(address, servers).await;
}

#[tokio::test]
async fn haproxy_keeps_them() {
    let servers = Servers::start().await;
    let (_haproxy, address) = start("haproxy", "haproxy.cfg", &["-db", "-f"], &servers).await;
    keeps_its_promises(address, servers).await;
}
