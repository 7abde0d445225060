//! A real PostgreSQL for one test: reached by a socket in a folder of its own, gone with the value.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use tempfile::TempDir;

/// Where Debian and others put the server's programs; they are not on the path.
const PROGRAM_FOLDERS: [&str; 3] = ["/usr/lib/postgresql", "/usr/pgsql", "/opt/postgresql"];
/// The port that clients assume.
const PORT_DEFAULT: u16 = 5432;
/// The account that Debian's package makes, for when the tests run as root, which PostgreSQL refuses.
const ACCOUNT: &str = "postgres";

/// A running, frozen or killed server.
pub(crate) struct PostgresServer {
    programs: PathBuf,
    folder: TempDir,
    extra: Vec<String>,
    /// Names the socket, too; nobody listens on it unless `extra` says so.
    port: u16,
    child: Option<Child>,
    databases: AtomicU32,
}

impl PostgresServer {
    pub(crate) fn start() -> Self {
        Self::start_with(PORT_DEFAULT, |_| Vec::new())
    }

    /// With more settings, each `name=value`, which may name files in the server's folder.
    pub(crate) fn start_with(port: u16, extra: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let folder = TempDir::new().unwrap();
        let mut server = Self {
            programs: programs(),
            extra: extra(folder.path()),
            folder,
            port,
            child: None,
            databases: AtomicU32::new(0),
        };
        for entry in std::fs::read_dir(server.folder.path()).unwrap() {
            own(&entry.unwrap().path());
        }
        own(server.folder.path());
        let data = server.data();
        let made = server
            .program("initdb")
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=homeroom",
                "--encoding=UTF8",
            ])
            .args(["--locale=C", "--pgdata"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        server.restart();
        server
    }

    /// A copy of it that follows.
    pub(crate) fn replica(&self) -> Self {
        let folder = TempDir::new().unwrap();
        own(folder.path());
        let mut copy = Self {
            programs: self.programs.clone(),
            folder,
            extra: Vec::new(),
            port: self.port,
            child: None,
            databases: AtomicU32::new(0),
        };
        let copied = copy
            .program("pg_basebackup")
            .args([
                "--no-sync",
                "--checkpoint=fast",
                "--write-recovery-conf",
                "--username=homeroom",
            ])
            .arg("--pgdata")
            .arg(copy.data())
            .args(["--port", &self.port.to_string(), "--host"])
            .arg(self.folder.path())
            .output()
            .unwrap();
        assert!(
            copied.status.success(),
            "{}",
            String::from_utf8_lossy(&copied.stderr)
        );
        copy.restart();
        copy
    }

    /// Starts it again after [`PostgresServer::kill`].
    pub(crate) fn restart(&mut self) {
        assert!(self.child.is_none(), "it still runs");
        let mut command = self.program("postgres");
        command
            .args(["-p", &self.port.to_string()])
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.folder.path());
        // Nothing of it outlives a test, so that nothing has to reach the disk.
        for setting in [
            "listen_addresses=",
            "fsync=off",
            "full_page_writes=off",
            "shared_buffers=64MB",
        ] {
            command.args(["-c", setting]);
        }
        for setting in &self.extra {
            command.args(["-c", setting]);
        }
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let (mut said, mut line) = (String::new(), String::new());
        while !line.contains("ready to accept") {
            line.clear();
            assert!(
                log.read_line(&mut line).unwrap() > 0,
                "PostgreSQL does not start:\n{said}"
            );
            said.push_str(&line);
        }
        // Until it ends; a full pipe would stop the server.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        self.child = Some(child);
    }

    /// The address of a new, empty database.
    pub(crate) fn database(&self) -> String {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// The address of a database.
    pub(crate) fn url(&self, database: &str) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://homeroom@{folder}:{}/{database}", self.port)
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join(format!(".s.PGSQL.{}", self.port))
    }

    /// Runs SQL, and returns what it selects, unaligned.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let output = self
            .program("psql")
            .args([
                "--no-psqlrc",
                "--quiet",
                "--tuples-only",
                "--no-align",
                "--username=homeroom",
            ])
            .args([
                "-v",
                "ON_ERROR_STOP=1",
                "--port",
                &self.port.to_string(),
                "--dbname",
                database,
                "--command",
                sql,
                "--host",
            ])
            .arg(self.folder.path())
            .stdout(Stdio::piped())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Ends it as a crash would: its clients are cut off, nothing is written. (SIGKILL would leave its workers running for
    /// a moment, which a restart would have to wait for.)
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            signal(&child, Signal::SIGQUIT);
            child.wait().unwrap();
        }
    }

    /// The processes that serve connections stand still: connections stay, nothing is answered.
    pub(crate) fn freeze(&self) {
        self.signal_all(Signal::SIGSTOP);
    }

    /// They go on.
    pub(crate) fn thaw(&self) {
        self.signal_all(Signal::SIGCONT);
    }

    fn signal_all(&self, what: Signal) {
        let server = self.child.as_ref().unwrap().id();
        let workers = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap();
        for pid in workers
            .split_whitespace()
            .map(|pid| pid.parse().unwrap())
            .chain([server])
        {
            // One may have ended since.
            let _sent = kill(Pid::from_raw(i32::try_from(pid).unwrap()), what);
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// One of the server's programs, as somebody it agrees to run as, and ended with this test.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "QUIT"]);
        if geteuid().is_root() {
            command.args(["--reuid", ACCOUNT, "--regid", ACCOUNT, "--clear-groups"]);
        }
        command
            .arg(self.programs.join(name))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null());
        command.stdout(Stdio::null());
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn signal(child: &Child, what: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), what).unwrap();
}

/// Gives a file of the test's to whoever the server runs as.
fn own(path: &Path) {
    if geteuid().is_root() {
        let account = User::from_name(ACCOUNT)
            .unwrap()
            .expect("PostgreSQL's package makes this account");
        std::os::unix::fs::chown(path, Some(account.uid.as_raw()), Some(account.gid.as_raw())).unwrap();
    }
}

/// The folder of the newest release's programs.
fn programs() -> PathBuf {
    let installed = PROGRAM_FOLDERS
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .map(|entry| entry.unwrap().path().join("bin"))
        .filter(|bin| bin.join("initdb").is_file());
    installed
        .max()
        .expect("PostgreSQL is not installed: apt-get install postgresql")
}
