//! A network for each game server, which can be cut: packets are dropped both ways, and nobody is told. A server whose machine
//! has died, or behind a broken switch, looks like that.
//!
//! Needs root and iproute2. All of it is in a network namespace of the run's own ([`crate::sys::namespace`]), so the machine's
//! network stays as it is.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;

use super::commands::Program;

/// Where everything but game servers listens: an address that all networks have a way to.
pub(super) const CENTRE: Ipv4Addr = Ipv4Addr::new(10, 79, 0, 1);
/// Ports of a game server for clients, for probes and for other game servers. It has them to itself.
const PORTS: [u16; 3] = [8_080, 9_090, 8_090];
/// Lets packets from one game server to another pass; a setting of this network namespace alone.
const FORWARDING: &str = "/proc/sys/net/ipv4/ip_forward";

/// The networks of a run.
#[derive(Debug)]
pub(super) struct Networks {
    /// Names of the namespaces, by game server.
    names: Vec<String>,
}

impl Networks {
    /// None yet but the way between them.
    pub(super) fn new() -> io::Result<Self> {
        run("ip", "link set lo up")?;
        run("ip", &format!("address add {CENTRE}/32 dev lo"))?;
        fs::write(FORWARDING, "1")?;
        Ok(Self { names: Vec::new() })
    }

    /// Makes the network of the next game server; its addresses there.
    pub(super) fn add(&mut self) -> io::Result<[SocketAddr; 3]> {
        let number = u8::try_from(self.names.len()).map_err(io::Error::other)?;
        let name = format!("homeroom-{}-{number}", std::process::id());
        run("ip", &format!("netns add {name}"))?;
        // From here on dropping this removes it.
        self.names.push(name.clone());
        let (outer, inner) = (mac(number, 1), mac(number, 2));
        let (here, there) = (ip(number, 1), ip(number, 2));
        let link = link(number);
        run(
            "ip",
            &format!("link add {link} address {outer} type veth peer name eth0 address {inner} netns {name}"),
        )?;
        run("ip", &format!("address add {here}/30 dev {link}"))?;
        run("ip", &format!("link set {link} up"))?;
        run("ip", &format!("-n {name} address add {there}/30 dev eth0"))?;
        run("ip", &format!("-n {name} link set lo up"))?;
        run("ip", &format!("-n {name} link set eth0 up"))?;
        run("ip", &format!("-n {name} route add default via {here}"))?;
        // Or asking for the neighbour in vain would tell that it is gone.
        run(
            "ip",
            &format!("neighbour replace {there} lladdr {inner} nud permanent dev {link}"),
        )?;
        run(
            "ip",
            &format!("-n {name} neighbour replace {here} lladdr {outer} nud permanent dev eth0"),
        )?;
        Ok(PORTS.map(|port| (there, port).into()))
    }

    /// The same program, in the network of game server `number`. Its process id is the program's.
    pub(super) fn place(&self, number: usize, program: Program) -> Program {
        let Some(name) = self.names.get(number) else {
            return program;
        };
        let within = ["netns", "exec", name].map(str::to_owned);
        let binary = program.binary.display().to_string();
        Program {
            arguments: within
                .into_iter()
                .chain([binary])
                .chain(program.arguments)
                .collect(),
            binary: "ip".into(),
            ..program
        }
    }

    /// From now on game server `number` hears nothing and is not heard.
    pub(super) fn cut(&self, number: usize) -> io::Result<()> {
        self.both_ends(number, "add", " pfifo limit 0")
    }

    /// Ends a cut.
    pub(super) fn heal(&self, number: usize) -> io::Result<()> {
        self.both_ends(number, "delete", "")
    }

    fn both_ends(&self, number: usize, what: &str, how: &str) -> io::Result<()> {
        let name = self.names.get(number).ok_or(io::ErrorKind::NotFound)?;
        let number = u8::try_from(number).map_err(io::Error::other)?;
        run("tc", &format!("qdisc {what} dev {} root{how}", link(number)))?;
        run("tc", &format!("-n {name} qdisc {what} dev eth0 root{how}"))
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for name in &self.names {
            // What is left of it goes with the namespace of the run.
            let _outcome = run("ip", &format!("netns delete {name}"));
        }
    }
}

fn link(number: u8) -> String {
    format!("homeroom{number}")
}

fn mac(number: u8, end: u8) -> String {
    format!("02:00:00:00:{number:02x}:{end:02x}")
}

const fn ip(number: u8, end: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 79, number.saturating_add(1), end)
}

/// Runs a tool of iproute2 with arguments that contain no spaces.
fn run(tool: &str, arguments: &str) -> io::Result<()> {
    let output = Command::new(tool)
        .args(arguments.split(' '))
        .output()
        .map_err(|error| {
            let why = format!("{tool} cannot be run ({error}); install it: apt-get install iproute2");
            io::Error::new(error.kind(), why)
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("{tool} {arguments}: {said}")))
}
