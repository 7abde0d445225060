//! The proxies as processes: started with the configuration of deploy/gateways before one server, watched, and ended.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;
use tokio::net::TcpStream;

/// Time to listen.
const START_MAX: Duration = Duration::from_secs(10);
/// Ticks of a second in /proc, the same on all Linux machines.
const TICKS: u64 = 100;

/// A proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Ours,
    Nginx,
    Haproxy,
    Envoy,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Ours, Self::Nginx, Self::Haproxy, Self::Envoy];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ingress-proxy",
            Self::Nginx => "nginx",
            Self::Haproxy => "HAProxy",
            Self::Envoy => "Envoy",
        }
    }

    /// Its version, without where it lies; none when it is not here.
    pub(crate) fn version(self) -> Option<String> {
        let mut command = match self.program() {
            None => Command::new(env!("CARGO_BIN_EXE_ingress-proxy")),
            Some((program, ..)) => Command::new(found(program)),
        };
        // nginx and HAProxy know no long word for it.
        let word = match self {
            Self::Ours | Self::Envoy => "--version",
            Self::Nginx | Self::Haproxy => "-v",
        };
        let said = command.arg(word).output().ok()?;
        let said = [said.stdout, said.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
        let version = said.split([' ', '/', '\n']).find(is_version);
        Some(version.unwrap_or("of an unknown version").to_owned())
    }

    /// The program, its configuration, and what stands before that on the command line.
    fn program(self) -> Option<(&'static str, &'static str, &'static [&'static str])> {
        match self {
            Self::Ours => None,
            Self::Nginx => Some(("nginx", "nginx.conf", &["-p", ".", "-g", "daemon off;", "-c"])),
            Self::Haproxy => Some(("haproxy", "haproxy.cfg", &["-db", "-f"])),
            Self::Envoy => Some((
                "envoy",
                "envoy.yaml",
                &["--disable-hot-restart", "--log-level", "error", "-c"],
            )),
        }
    }
}

/// Where `./test` puts programs, if it has put this one there.
fn found(program: &str) -> PathBuf {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target/tools/bin")
        .join(program);
    if tool.exists() { tool } else { program.into() }
}

/// A running proxy; ended when it is dropped.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) address: SocketAddr,
    // Held for its drop.
    _folder: TempDir,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Asked, so that a master ends its workers; both fail only when it has ended by itself.
        let _asked = Command::new("kill").arg(self.child.id().to_string()).status();
        let _reaped = self.child.wait();
    }
}

impl Gateway {
    /// None when the program is not here.
    pub(crate) async fn start(kind: Kind, server: SocketAddr) -> Result<Option<Self>> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let folder = tempfile::tempdir()?;
        let mut command = match kind.program() {
            None => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_ingress-proxy"));
                command
                    .args([
                        "--listen",
                        &address.to_string(),
                        "--game",
                        &format!("game-0={server}"),
                    ])
                    .args([
                        "--api",
                        &format!("api-0={server}"),
                        "--log",
                        "error",
                        "--drain-s",
                        "0",
                    ]);
                command
            }
            Some((program, config, arguments)) => {
                let file = folder.path().join(config);
                std::fs::write(&file, adapted(config, server, address)?)?;
                let mut command = Command::new(found(program));
                command.args(arguments).arg(file);
                command
            }
        };
        command
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("start {}", kind.name())),
        };
        let gateway = Self {
            child,
            address,
            _folder: folder,
        };
        let end = Instant::now() + START_MAX;
        // Envoy listens before it knows that its servers are ready.
        while !is_ready(address).await {
            if Instant::now() > end {
                bail!("{} does not answer", kind.name());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(Some(gateway))
    }

    /// The process and its workers.
    fn processes(&self) -> Vec<u32> {
        let own = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children"));
        let children = children.unwrap_or_default();
        let workers = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        std::iter::once(own).chain(workers).collect()
    }

    /// Resident, of all its processes.
    pub(crate) fn memory_bytes(&self) -> Result<u64> {
        let mut all = 0;
        for pid in self.processes() {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
            let line = status.lines().find(|line| line.starts_with("VmRSS:"));
            let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
            all += kilobytes.context("read VmRSS")?.parse::<u64>()? * 1024;
        }
        Ok(all)
    }

    /// Processor time of all its processes so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let mut ticks = 0;
        for pid in self.processes() {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
            let (_, rest) = stat.rsplit_once(") ").context("read stat")?;
            for field in rest.split(' ').skip(11).take(2) {
                ticks += field.parse::<u64>()?;
            }
        }
        Ok(Duration::from_millis(ticks * 1_000 / TICKS))
    }
}

async fn is_ready(address: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(address).await else {
        return false;
    };
    super::traffic::shake(&mut stream).await.is_ok()
}

/// The configuration for one server in the place of all.
fn adapted(config: &str, server: SocketAddr, listen: SocketAddr) -> Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy/gateways")
        .join(config);
    let mut text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    for place in ["game-0.game", "game-1.game", "api-0.api", "api-1.api"] {
        text = text
            .replace(&format!("{place}:8080"), &server.to_string())
            .replace(
                &format!("{place}, port_value: 8080"),
                &format!("{}, port_value: {}", server.ip(), server.port()),
            );
    }
    Ok(text
        .replace("port 9090", &format!("port {}", server.port()))
        .replace("port_value: 9090", &format!("port_value: {}", server.port()))
        .replace("listen 8080", &format!("listen {listen}"))
        .replace("bind :8080", &format!("bind {listen}"))
        .replace(
            "0.0.0.0, port_value: 8080",
            &format!("{}, port_value: {}", listen.ip(), listen.port()),
        )
        // What a small machine allows.
        .replace("maxconn 30000", "maxconn 9000")
        .replace("worker_connections 32768", "worker_connections 18000")
        .replace("worker_rlimit_nofile 65536", "worker_rlimit_nofile 20000"))
}
