//! How each process is started: its flags, its files, and where it is asked whether it lives.

use std::fs;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use super::probe::Probe;
use crate::sys::postgres::Programs;
use crate::sys::redis::Redis;

/// Package and binary of the API.
pub(super) const API: &str = "api";
/// Package and binary of the game server.
pub(super) const GAME: &str = "game-server";
/// Package and binary of the proxy.
pub(super) const PROXY: &str = "ingress-proxy";
/// Name of the store among the processes.
pub const REDIS: &str = "redis";
/// Name of the APIs' database server among them.
pub const POSTGRES: &str = "postgres";
/// Bytes of a secret: what the servers ask for.
const SECRET_BYTES: u64 = 32;
/// File of the secret between game servers and APIs.
const SERVICE_TOKEN: &str = "service-token";
/// File of the game servers' secret.
const RESUME_SECRET: &str = "resume-secret";
/// File of the secret that game servers show each other.
const PEER_SECRET: &str = "peer-secret";
/// File of the APIs' public keys.
const JWKS: &str = "jwks.json";
/// File of the game servers that proxies know.
const GAME_SERVERS: &str = "game-servers";
/// Seconds over which a proxy that stops closes its sockets: long enough to spread the phones of a few thousand.
const PROXY_DRAIN_S: u32 = 3;

/// A program, and the command of it that becomes another one and dies with this process; none in tests of this library.
static UNDER: OnceLock<(PathBuf, &'static str)> = OnceLock::new();

/// From now on processes are started through the command `name` of `own`, which takes a process id and a program with its
/// arguments, and dies with this process.
pub fn start_under(own: PathBuf, name: &'static str) {
    // A second offer is the same one.
    let _first = UNDER.set((own, name));
}

/// A process to be started, as often as it takes.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its name among all, as a pod's.
    pub name: String,
    /// Its binary.
    pub binary: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where clients reach it.
    pub listen: SocketAddr,
    /// How it is asked whether it lives.
    pub probe: Probe,
    /// Whether it speaks TLS with clients.
    pub is_tls: bool,
}

impl Program {
    pub(super) fn command(&self) -> Command {
        let mut command = match UNDER.get() {
            Some((own, name)) => {
                let mut command = Command::new(own);
                let parent = std::process::id().to_string();
                command.args([name, parent.as_str()]).arg(&self.binary);
                command
            }
            None => Command::new(&self.binary),
        };
        command.args(&self.arguments);
        command
    }

    /// Its admin listener, if it has one.
    pub(super) fn admin(&self) -> Option<SocketAddr> {
        match &self.probe {
            Probe::Http(address) => Some(*address),
            Probe::Redis(_) | Probe::Postgres(..) => None,
        }
    }

    /// Where clients reach it, as a URL.
    pub(super) fn address(&self) -> String {
        let scheme = match &self.probe {
            Probe::Http(_) if self.is_tls => "https",
            Probe::Http(_) => "http",
            Probe::Redis(_) => "redis",
            Probe::Postgres(..) => "postgres",
        };
        format!("{scheme}://{}", self.listen)
    }
}

fn program(
    name: String,
    binary: PathBuf,
    [listen, admin]: [SocketAddr; 2],
    more: &[(&str, String)],
    first: &[&str],
) -> Program {
    let mut arguments: Vec<String> = first.iter().map(|&a| a.to_owned()).collect();
    let own = [
        ("--listen", listen.to_string()),
        ("--admin-listen", admin.to_string()),
    ];
    for (flag, value) in own.into_iter().chain(more.iter().cloned()) {
        arguments.extend([flag.to_owned(), value]);
    }
    Program {
        name,
        binary,
        arguments,
        listen,
        probe: Probe::Http(admin),
        is_tls: false,
    }
}

/// A Redis that keeps live games as docs/configuration.md asks for. Its working directory is its own.
pub(super) fn redis(binary: &Path, directory: &Path, listen: SocketAddr) -> Program {
    let settings = [
        ("--port", listen.port().to_string()),
        ("--bind", listen.ip().to_string()),
        ("--dir", text(directory)),
        ("--appendonly", "yes".to_owned()),
        ("--appendfsync", "everysec".to_owned()),
        // Everything is in the file that is appended to.
        ("--save", String::new()),
        ("--maxmemory-policy", "noeviction".to_owned()),
        ("--daemonize", "no".to_owned()),
        // The networks of a run are its own, and a Redis without a password talks to nobody beyond loopback otherwise.
        ("--protected-mode", "no".to_owned()),
    ];
    Program {
        name: REDIS.to_owned(),
        binary: binary.to_owned(),
        arguments: settings
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value])
            .collect(),
        listen,
        probe: Probe::Redis(Arc::new(Redis::at(listen))),
        is_tls: false,
    }
}

/// A PostgreSQL whose files are in `data`, as it is installed but for what loopback and one run make of it.
pub(super) fn postgres(programs: &Programs, data: &Path, listen: SocketAddr) -> Program {
    let (binary, mut arguments) = programs.command("postgres");
    arguments.extend(["-D".to_owned(), text(data)]);
    let settings = [
        format!("listen_addresses={}", listen.ip()),
        format!("port={}", listen.port()),
        // Nobody comes by a socket, and its usual folder may belong to another server.
        "unix_socket_directories=".to_owned(),
        "max_connections=100".to_owned(),
        "shared_buffers=256MB".to_owned(),
    ];
    for setting in settings {
        arguments.extend(["-c".to_owned(), setting]);
    }
    Program {
        name: POSTGRES.to_owned(),
        binary,
        arguments,
        listen,
        probe: Probe::Postgres(programs.clone(), listen),
        is_tls: false,
    }
}

/// `homeroom`, everything in one process.
pub(super) fn one(binary: &Path, directory: &Path, at: [SocketAddr; 2]) -> Program {
    let data = text(&directory.join("data"));
    program(
        "homeroom".to_owned(),
        binary.to_owned(),
        at,
        &[("--data-dir", data)],
        &[],
    )
}

/// The APIs' database in a file.
pub(super) fn sqlite(directory: &Path) -> String {
    format!("sqlite:{}", text(&directory.join("api.db")))
}

/// An API, whose addresses are those for clients, for game servers and for probes, with more flags.
pub(super) fn api(
    binaries: &Path,
    directory: &Path,
    number: u32,
    [listen, internal, admin]: [SocketAddr; 3],
    database: &str,
    flags: &[String],
) -> Program {
    let more = [
        ("--internal-listen", internal.to_string()),
        ("--database", database.to_owned()),
        ("--keys-file", text(&directory.join("keys.json"))),
        ("--jwks-out", text(&directory.join(JWKS))),
        ("--service-token-file", text(&directory.join(SERVICE_TOKEN))),
        // Whoever comes through a proxy is somebody else than whoever comes through it, too.
        ("--trust-forwarded", "127.0.0.0/8".to_owned()),
    ];
    let mut program = program(
        format!("api-{number}"),
        binaries.join(API),
        [listen, admin],
        &more,
        &["serve"],
    );
    program.arguments.extend_from_slice(flags);
    program
}

/// Brings the APIs' database to their release.
pub(super) fn migrate(binaries: &Path, database: &str) -> io::Result<()> {
    let output = Command::new(binaries.join(API))
        .args(["migrate", "--database", database])
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

/// A game server whose addresses are those for clients, for probes and for other game servers; it asks the API that listens for
/// it at `api`, and keeps its games at `store` or in memory.
pub(super) fn game(
    binaries: &Path,
    directory: &Path,
    number: u32,
    [listen, admin, peer]: [SocketAddr; 3],
    api: SocketAddr,
    store: Option<&str>,
) -> Program {
    let name = format!("game-{number}");
    let mut more = vec![
        ("--name", name.clone()),
        ("--api-internal", format!("http://{api}")),
        ("--service-token-file", text(&directory.join(SERVICE_TOKEN))),
        ("--jwks-file", text(&directory.join(JWKS))),
        ("--resume-secret-file", text(&directory.join(RESUME_SECRET))),
    ];
    // With a store in common they know each other, and any of them takes over the games of one that is gone.
    if let Some(url) = store {
        more.extend([
            ("--redis", url.to_owned()),
            ("--peer-listen", peer.to_string()),
            ("--peer-secret-file", text(&directory.join(PEER_SECRET))),
        ]);
    }
    program(name, binaries.join(GAME), [listen, admin], &more, &[])
}

/// The origins of pages from proxies that listen at the first address of each of these `doors`, as browsers write them.
pub(super) fn origins(doors: &[[SocketAddr; 2]], tls: bool) -> Vec<String> {
    let scheme = if tls { "https" } else { "http" };
    let both = |[listen, _admin]: &[SocketAddr; 2]| {
        let by_name = format!("{scheme}://localhost:{}", listen.port());
        [format!("{scheme}://{listen}"), by_name]
    };
    doors.iter().flat_map(both).collect()
}

impl Program {
    /// A game server that takes sockets from pages of these origins: behind a proxy it does not see what its clients call it.
    pub(super) fn allowing(mut self, origins: &[String]) -> Self {
        for origin in origins {
            self.arguments
                .extend(["--allow-origin".to_owned(), origin.clone()]);
        }
        self
    }
}

/// Servers as a proxy is told of them.
fn servers(programs: &[Program]) -> Vec<String> {
    let probed = programs.iter().filter_map(|p| Some((p, p.admin()?.port())));
    let one = |(p, probe): (&Program, u16)| format!("{}={}/{probe}", p.name, p.listen);
    probed.map(one).collect()
}

/// A proxy before `apis` and the game servers of [`write_game_servers`].
pub(super) fn proxy(
    binaries: &Path,
    directory: &Path,
    number: u32,
    at: [SocketAddr; 2],
    apis: &[Program],
) -> Program {
    let more = [
        ("--game-file", text(&directory.join(GAME_SERVERS))),
        ("--api", servers(apis).join(",")),
        ("--drain-s", PROXY_DRAIN_S.to_string()),
    ];
    program(format!("proxy-{number}"), binaries.join(PROXY), at, &more, &[])
}

/// Lets a proxy speak TLS with the certificate and key of these files.
pub(super) fn secure(proxy: &mut Program, chain: &Path, key: &Path) {
    let flags = [
        "--tls-cert".to_owned(),
        text(chain),
        "--tls-key".to_owned(),
        text(key),
    ];
    proxy.arguments.extend(flags);
    proxy.is_tls = true;
}

/// Tells the proxies which game servers there are. They look at the file every second and never see half of it.
pub(super) fn write_game_servers(directory: &Path, games: &[Program]) -> io::Result<()> {
    let new = directory.join(format!("{GAME_SERVERS}.new"));
    fs::write(&new, servers(games).join("\n"))?;
    fs::rename(new, directory.join(GAME_SERVERS))
}

/// Draws the secrets that the processes share.
pub(super) fn write_secrets(directory: &Path) -> io::Result<()> {
    for name in [SERVICE_TOKEN, RESUME_SECRET, PEER_SECRET] {
        let mut secret = String::new();
        let mut bytes = fs::File::open("/dev/urandom")?.take(SECRET_BYTES);
        let mut byte = [0u8; 1];
        while bytes.read(&mut byte)? == 1 {
            secret.push_str(&format!("{:02x}", byte[0]));
        }
        fs::write(directory.join(name), secret)?;
    }
    Ok(())
}

/// The secret between game servers and APIs, as they read it.
pub(super) fn service_secret(directory: &Path) -> io::Result<Vec<u8>> {
    let text = fs::read(directory.join(SERVICE_TOKEN))?;
    Ok(text.trim_ascii().to_vec())
}

/// A path as an argument; temporary directories have names in plain letters.
fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn pages_of_each_proxy_are_known_by_number_and_by_name() {
        let door = |port| {
            [
                (Ipv4Addr::LOCALHOST, port).into(),
                (Ipv4Addr::LOCALHOST, 1).into(),
            ]
        };
        let expected = [
            "https://127.0.0.1:8080",
            "https://localhost:8080",
            "https://127.0.0.1:8081",
            "https://localhost:8081",
        ];
        assert_eq!(origins(&[door(8_080), door(8_081)], true), expected);
        assert_eq!(
            origins(&[door(8_080)], false),
            ["http://127.0.0.1:8080", "http://localhost:8080"]
        );
    }
}
