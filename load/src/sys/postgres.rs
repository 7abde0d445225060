//! The PostgreSQL that is installed: where its programs are, how a database is made for a run, and whether a server takes work.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::{User, geteuid};

/// Where Debian and others put the server's programs, which are not on the path.
const PROGRAM_FOLDERS: [&str; 3] = ["/usr/lib/postgresql", "/usr/pgsql", "/opt/postgresql"];
/// The account that Debian's package makes: PostgreSQL refuses to run as root.
const ACCOUNT: &str = "postgres";
/// Who owns everything in a run's databases.
pub const OWNER: &str = "homeroom";
/// Seconds that a server has to answer whether it takes work: as long as a probe's default in Kubernetes.
const READY_S_MAX: &str = "1";

/// The programs of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs(PathBuf);

impl Programs {
    /// Those of the newest release that is installed; none when there is none.
    #[must_use]
    pub fn installed() -> Option<Self> {
        let folders = PROGRAM_FOLDERS
            .iter()
            .filter_map(|folder| std::fs::read_dir(folder).ok());
        let releases = folders.flatten().filter_map(Result::ok);
        let programs = releases.map(|release| release.path().join("bin"));
        programs
            .filter(|programs| programs.join("initdb").is_file())
            .max_by_key(|programs| release(programs))
            .map(Self)
    }

    /// A program and its first arguments, run by somebody that PostgreSQL agrees to, and ended when this process ends.
    #[must_use]
    pub fn command(&self, name: &str) -> (PathBuf, Vec<String>) {
        let mut arguments = vec!["--pdeathsig", "QUIT"];
        if geteuid().is_root() {
            arguments.extend(["--reuid", ACCOUNT, "--regid", ACCOUNT, "--clear-groups"]);
        }
        let mut arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
        arguments.push(self.0.join(name).display().to_string());
        (PathBuf::from("setpriv"), arguments)
    }

    /// Makes the files of a server in `data`, whose parent must exist. Whoever is on this machine may connect: it listens on loopback only,
    /// and holds nothing but a run's own data.
    ///
    /// # Errors
    /// It cannot be made; with the program's own words.
    pub fn make(&self, data: &Path) -> io::Result<()> {
        std::fs::create_dir(data)?;
        if geteuid().is_root() {
            let account = User::from_name(ACCOUNT)?
                .ok_or_else(|| io::Error::other(format!("there is no account {ACCOUNT}")))?;
            chown(data, Some(account.uid.as_raw()), Some(account.gid.as_raw()))?;
        }
        let (program, arguments) = self.command("initdb");
        let made = Command::new(program)
            .args(arguments)
            .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C"])
            .args(["--username", OWNER, "--pgdata"])
            .arg(data)
            .stdin(Stdio::null())
            .output()?;
        if made.status.success() {
            return Ok(());
        }
        Err(io::Error::other(
            String::from_utf8_lossy(&made.stderr).into_owned(),
        ))
    }

    /// Whether the server at `address` takes work.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn is_ready(&self, address: SocketAddr) -> io::Result<bool> {
        let asked = Command::new(self.0.join("pg_isready"))
            .args(["--quiet", "--timeout", READY_S_MAX])
            .args(["--host", &address.ip().to_string()])
            .args(["--port", &address.port().to_string()])
            .stdin(Stdio::null())
            .status()?;
        Ok(asked.success())
    }
}

/// The release in `/usr/lib/postgresql/15/bin`; 9 is before 15.
fn release(programs: &Path) -> u32 {
    let name = programs.parent().and_then(Path::file_name);
    let text = name.map(|name| name.to_string_lossy().into_owned());
    let number = text
        .as_deref()
        .and_then(|text| text.split('.').next()?.parse().ok());
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_is_the_largest_number() {
        let of = |path: &str| release(Path::new(path));
        assert!(of("/usr/lib/postgresql/15/bin") > of("/usr/lib/postgresql/9.6/bin"));
        assert_eq!(of("/opt/postgresql/current/bin"), 0);
    }
}
