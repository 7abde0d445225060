//! The servers under test: a topology of processes on this machine, started, watched and restarted as a cluster would.
//! Each process has a [`service::Service`] of its own; which there are and how they find each other is decided here.

mod certificate;
mod commands;
mod database;
mod fleet;
mod network;
mod probe;
pub mod service;
mod topology;
mod victims;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::client::{Target, TargetError, Targets};
use crate::sys::postgres::{OWNER, Programs};
use crate::sys::{clock, signals};
use crate::verdict::monitor::{Process, Processes};
use certificate::Certificate;
pub use commands::{POSTGRES, Program, REDIS, start_under};
pub use database::StruckDatabase;
pub use fleet::Growing;
use network::Networks;
pub use probe::Probe;
use service::Service;
pub use service::{Cause, Pauses, Restart};
pub use topology::{Apis, Database, Proxies, Store, Topology, TopologyError};
pub use victims::Struck;

/// A server answers within this time of its start or has failed, in milliseconds. Migrations are part of it.
const START_MS_MAX: u64 = 30_000;
/// How often a start is looked at, in milliseconds.
const LOOK_MS: u64 = 20;
/// Lines of the log shown when a start fails.
const LOG_LINES: usize = 15;

/// Why there is no stack.
#[derive(Debug, Error)]
pub enum StackError {
    /// A binary is missing.
    #[error("{path} does not exist; build it with: cargo build --release -p {package}")]
    NoBinary {
        /// Where it was looked for.
        path: PathBuf,
        /// The package that has it.
        package: &'static str,
    },
    /// There is no Redis.
    #[error("{path} cannot be run; install it (apt-get install redis-server), or leave --store redis out")]
    NoRedis {
        /// Where it was looked for.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no PostgreSQL.
    #[error("no PostgreSQL is installed; install it (apt-get install postgresql), or give --database sqlite")]
    NoPostgres,
    /// Its files cannot be made, or not brought to this release.
    #[error("the database cannot be made")]
    Database(#[source] io::Error),
    /// It is none that knows functions.
    #[error("{path} is no Redis of version 7 or newer; it says: {words}")]
    OldRedis {
        /// Where it is.
        path: PathBuf,
        /// What it says of itself.
        words: String,
    },
    /// Temporary directory, log, port or process could not be had.
    #[error("start failed")]
    Start(#[source] io::Error),
    /// The address is no target.
    #[error("address is no target")]
    Target(#[source] TargetError),
    /// A server ended, or never answered.
    #[error("{name} did not come up; its last words:\n{words}")]
    NotUp {
        /// Which.
        name: String,
        /// The end of its log.
        words: String,
    },
}

/// Running servers with a data directory of their own. Dropping it stops the processes and removes the data.
#[derive(Debug)]
pub struct Stack {
    // In the order of starting, and stopped the other way round: game servers still save to an API when they stop.
    services: Vec<Service>,
    apis: Vec<Target>,
    games: Vec<Target>,
    proxies: Vec<Target>,
    api_admins: Vec<Target>,
    game_admins: Vec<Target>,
    proxy_admins: Vec<Target>,
    stores: Vec<String>,
    pauses: Pauses,
    /// Binaries of separate processes.
    binaries: PathBuf,
    /// Where the APIs listen for game servers.
    internal: Vec<SocketAddr>,
    /// The game servers that proxies are told of.
    game_programs: Vec<Program>,
    /// What the proxies show, when they speak TLS.
    certificate: Option<Certificate>,
    /// Where proxies are to listen, for clients and for probes; drawn before game servers start, which are told.
    doors: Vec<[SocketAddr; 2]>,
    /// Where pages come from that come through the proxies.
    origins: Vec<String>,
    // After the services, which are in them.
    networks: Option<Networks>,
    data: tempfile::TempDir,
}

impl Stack {
    /// Starts what `topology` says and waits until everything answers. What ends is started again after `pauses`.
    ///
    /// # Errors
    /// No binary, no process, or no answer in time.
    pub fn start(topology: &Topology, pauses: Pauses) -> Result<Self, StackError> {
        topology.check_binaries()?;
        let data = tempfile::Builder::new()
            .prefix("homeroom-load-")
            .tempdir()
            .map_err(StackError::Start)?;
        let mut stack = Self {
            services: Vec::new(),
            apis: Vec::new(),
            games: Vec::new(),
            proxies: Vec::new(),
            api_admins: Vec::new(),
            game_admins: Vec::new(),
            proxy_admins: Vec::new(),
            stores: Vec::new(),
            pauses,
            binaries: PathBuf::new(),
            internal: Vec::new(),
            game_programs: Vec::new(),
            certificate: None,
            networks: None,
            doors: Vec::new(),
            origins: Vec::new(),
            data,
        };
        let directory = stack.data.path().to_owned();
        match topology {
            Topology::One { binary } => {
                let program = commands::one(binary, &directory, stack.free()?);
                let target = stack.launch_server(program, &directory)?;
                stack.apis.push(target.clone());
                stack.games.push(target);
            }
            Topology::Separate {
                directory: binaries,
                games,
                apis,
                proxies,
                store,
                networks,
                settings,
            } => {
                stack.binaries.clone_from(binaries);
                if *networks {
                    stack.networks = Some(Networks::new().map_err(StackError::Start)?);
                }
                if let Store::Redis { binary } = store {
                    stack.start_redis(binary, &directory)?;
                }
                for _ in 0..proxies.number {
                    let door = stack.free()?;
                    stack.doors.push(door);
                }
                stack.origins = commands::origins(&stack.doors, proxies.tls);
                let apis = stack.start_apis(*apis, settings, &directory)?;
                for _ in 0..*games {
                    stack.start_game()?;
                }
                commands::write_game_servers(&directory, &stack.game_programs).map_err(StackError::Start)?;
                stack.start_proxies(proxies, &apis, &directory)?;
            }
        }
        Ok(stack)
    }

    /// Where everything but game servers with networks of their own is.
    fn ip(&self) -> Ipv4Addr {
        match &self.networks {
            Some(_) => network::CENTRE,
            None => Ipv4Addr::LOCALHOST,
        }
    }

    /// Addresses where nobody listens.
    fn free<const N: usize>(&self) -> Result<[SocketAddr; N], StackError> {
        let ip = self.ip();
        let mut found = [(ip, 0).into(); N];
        for address in &mut found {
            *address = free_address(ip)?;
        }
        Ok(found)
    }

    fn start_redis(&mut self, binary: &Path, directory: &Path) -> Result<(), StackError> {
        let own = directory.join(REDIS);
        fs::create_dir(&own).map_err(StackError::Start)?;
        let [listen] = self.free()?;
        let program = commands::redis(binary, &own, listen);
        self.stores.push(program.address());
        self.launch(program, directory)
    }

    /// Starts the database server of the APIs, makes their database, and tells its address.
    fn start_postgres(&mut self, directory: &Path) -> Result<String, StackError> {
        let programs = Programs::installed().ok_or(StackError::NoPostgres)?;
        // The server runs as somebody else, who has to get at its files.
        let open = fs::Permissions::from_mode(0o711);
        fs::set_permissions(directory, open).map_err(StackError::Start)?;
        let data = directory.join(commands::POSTGRES);
        programs.make(&data).map_err(StackError::Database)?;
        let [listen] = self.free()?;
        self.launch(commands::postgres(&programs, &data, listen), directory)?;
        let url = format!("postgres://{OWNER}@{listen}/postgres");
        commands::migrate(&self.binaries, &url).map_err(StackError::Database)?;
        Ok(url)
    }

    fn start_apis(
        &mut self,
        number: u32,
        settings: &Apis,
        directory: &Path,
    ) -> Result<Vec<Program>, StackError> {
        commands::write_secrets(directory).map_err(StackError::Start)?;
        let database = match settings.database {
            Database::Sqlite => commands::sqlite(directory),
            Database::Postgres => self.start_postgres(directory)?,
        };
        let mut apis = Vec::new();
        // The first API makes database and keys, so it is up before anybody reads them.
        for number in 0..number {
            let at: [SocketAddr; 3] = self.free()?;
            let mut flags = settings.flags.clone();
            if let Some(redis) = self.stores.first().filter(|_| settings.agrees(number)) {
                flags.extend(["--redis".to_owned(), redis.clone()]);
            }
            let program = commands::api(&self.binaries, directory, number, at, &database, &flags);
            self.api_admins
                .extend(program.admin().map(target_at).transpose()?);
            apis.push(program.clone());
            let target = self.launch_server(program, directory)?;
            self.apis.push(target);
            self.internal.push(at[1]);
        }
        Ok(apis)
    }

    fn start_proxies(
        &mut self,
        proxies: &Proxies,
        apis: &[Program],
        directory: &Path,
    ) -> Result<(), StackError> {
        if proxies.tls {
            self.certificate = Some(Certificate::make(directory, self.ip())?);
        }
        let doors = std::mem::take(&mut self.doors);
        for (number, door) in (0..).zip(doors) {
            let mut program = commands::proxy(&self.binaries, directory, number, door, apis);
            if let Some(certificate) = &self.certificate {
                commands::secure(&mut program, &certificate.chain, &certificate.key);
            }
            self.proxy_admins
                .extend(program.admin().map(target_at).transpose()?);
            let target = self.launch_server(program, directory)?;
            let target = match &self.certificate {
                Some(certificate) => target.trusting(&certificate.trust),
                None => target,
            };
            self.proxies.push(target);
        }
        Ok(())
    }

    /// Starts one more game server and waits until it answers. Proxies are told by somebody else.
    fn start_game(&mut self) -> Result<(), StackError> {
        let directory = self.data.path().to_owned();
        let number = self.games.len();
        let at = match &mut self.networks {
            Some(networks) => networks.add().map_err(StackError::Start)?,
            None => self.free()?,
        };
        let api = self.internal.get(number % self.internal.len().max(1)).copied();
        let api = api.ok_or_else(|| StackError::Start(io::ErrorKind::NotFound.into()))?;
        let store = self.stores.first().map(String::as_str);
        let program = commands::game(
            &self.binaries,
            &directory,
            crate::sys::small(number),
            at,
            api,
            store,
        );
        let program = program.allowing(&self.origins);
        self.game_admins
            .extend(program.admin().map(target_at).transpose()?);
        self.game_programs.push(program.clone());
        let placed = match &self.networks {
            Some(networks) => networks.place(number, program),
            None => program,
        };
        let target = self.launch_server(placed, &directory)?;
        self.games.push(target);
        Ok(())
    }

    fn launch_server(&mut self, program: Program, directory: &Path) -> Result<Target, StackError> {
        let target = program.address().parse().map_err(StackError::Target)?;
        self.launch(program, directory)?;
        Ok(target)
    }

    fn launch(&mut self, program: Program, directory: &Path) -> Result<(), StackError> {
        let log = directory.join(format!("{}.log", program.name));
        let name = program.name.clone();
        let service = Service::start(program, &log, self.pauses).map_err(StackError::Start)?;
        let limit = clock::now().plus_ms(START_MS_MAX);
        while clock::now() < limit && service.restarts().is_empty() && !signals::stop_requested() {
            if service.is_ready() {
                self.services.push(service);
                return Ok(());
            }
            clock::pause_ms(LOOK_MS);
        }
        drop(service);
        let text = fs::read_to_string(&log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let words = lines[lines.len().saturating_sub(LOG_LINES)..].join("\n");
        Err(StackError::NotUp { name, words })
    }

    /// Where clients are to go: to any of the proxies if there are some, else to the game servers themselves, a class to the one that
    /// the hash of its code says.
    #[must_use]
    pub fn targets(&self) -> Option<Targets> {
        match self.proxies.first() {
            Some(first) => Some(Targets::any_of(self.proxies.clone(), first.clone())),
            None => Some(Targets::direct(self.games.clone(), self.apis.first()?.clone())),
        }
    }

    /// Where clients are to go when nothing keeps a class together: to any of the game servers.
    #[must_use]
    pub fn targets_in_turn(&self) -> Option<Targets> {
        Some(Targets::any_of(self.games.clone(), self.apis.first()?.clone()))
    }

    /// Where the metrics of the game servers are.
    #[must_use]
    pub fn game_admins(&self) -> &[Target] {
        &self.game_admins
    }

    /// Where the metrics of the game servers are when they have to be asked which games they hold: behind proxies.
    #[must_use]
    pub fn admins_behind_proxies(&self) -> &[Target] {
        match self.proxies.is_empty() {
            true => &[],
            false => &self.game_admins,
        }
    }

    /// The certificate to believe, as a PEM file, when the proxies speak TLS.
    #[must_use]
    pub fn certificate(&self) -> Option<&Path> {
        self.certificate
            .as_ref()
            .map(|certificate| certificate.chain.as_path())
    }

    /// Where the proxies are.
    #[must_use]
    pub fn proxies(&self) -> &[Target] {
        &self.proxies
    }

    /// Where the APIs are.
    #[must_use]
    pub fn apis(&self) -> &[Target] {
        &self.apis
    }

    /// Where the APIs listen for game servers.
    #[must_use]
    pub fn internal(&self) -> Vec<Target> {
        let targets = self.internal.iter().map(|&address| target_at(address).ok());
        targets.flatten().collect()
    }

    /// Where the APIs' probes are answered.
    #[must_use]
    pub fn api_admins(&self) -> &[Target] {
        &self.api_admins
    }

    /// The secret that game servers sign their calls to the APIs with.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn service_secret(&self) -> io::Result<Vec<u8>> {
        commands::service_secret(self.data.path())
    }

    /// Where the game servers are.
    #[must_use]
    pub fn games(&self) -> &[Target] {
        &self.games
    }

    /// Where the stores of live games are; none when servers keep them themselves.
    #[must_use]
    pub fn stores(&self) -> &[String] {
        &self.stores
    }

    /// The processes, in the order of starting.
    #[must_use]
    pub fn services(&self) -> &[Service] {
        &self.services
    }

    /// The processes at which the clients' sockets end: the proxies if there are any, else the servers of games.
    #[must_use]
    pub fn socket_ends(&self) -> Vec<u32> {
        let doors = if self.proxies.is_empty() {
            &self.games
        } else {
            &self.proxies
        };
        let addresses: Vec<String> = doors.iter().map(ToString::to_string).collect();
        let services = self.services.iter();
        let holders = services.filter(|service| addresses.contains(&service.address()));
        holders.filter_map(|service| service.pid()).collect()
    }

    /// The process of that name, such as `game-1`.
    #[must_use]
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name() == name)
    }

    /// The processes as of whenever it is asked.
    #[must_use]
    pub fn processes(&self) -> Processes {
        let handles: Vec<_> = self.services.iter().map(Service::handle).collect();
        Arc::new(move || {
            let process = |handle: &service::Handle| Process {
                name: handle.name().to_owned(),
                pid: handle.pid(),
                figures: handle.figures(),
            };
            handles.iter().map(process).collect()
        })
    }

    /// Restarts that nobody asked for.
    #[must_use]
    pub fn unexpected_restarts(&self) -> u64 {
        let unexpected = |service: &Service| service.restarts().iter().filter(|r| !r.expected).count();
        crate::sys::count(self.services.iter().map(unexpected).sum())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        while let Some(service) = self.services.pop() {
            drop(service);
        }
    }
}

fn target_at(address: SocketAddr) -> Result<Target, StackError> {
    format!("http://{address}").parse().map_err(StackError::Target)
}

/// An address whose port was free a moment ago.
fn free_address(ip: Ipv4Addr) -> Result<SocketAddr, StackError> {
    let listener = TcpListener::bind((ip, 0)).map_err(StackError::Start)?;
    listener.local_addr().map_err(StackError::Start)
}

#[cfg(test)]
mod tests;
