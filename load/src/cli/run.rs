//! `load run`: carries out a scenario between a verdict's watch and a record.

use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::Failure;
use super::faults::{KillArgs, RollingArgs, ScaleArgs};
use super::topology::TopologyArgs;
use crate::client::{GAME_PREFIX, STORE_PREFIX, Target, Targets};
use crate::measure::FaultKind;
use crate::plan::{Pace, Plan, QUESTIONS, Segment};
use crate::report::{Console, Judgement, Outcome, Record, store};
use crate::scenario::{ScenarioError, bigroom, idle, kill, ramp, reconnect, scale};
use crate::stack::{Pauses, REDIS, Stack};
use crate::sys::redis::Redis;
use crate::sys::{clock, limits};
use crate::verdict::monitor::{Process, Processes};
use crate::verdict::{Monitor, Word};

/// Players of a room: what one game holds.
const ROOM_MAX: u32 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Scenario {
    /// One game of each size, all questions, every player on a real socket: bytes, fan-out, scores.
    Bigroom(BigroomArgs),
    /// Players who sit in lobbies: memory of the server per socket.
    Idle(IdleArgs),
    /// Classes in stages: fan-out while they play, messages a second, games by server.
    Ramp(RampArgs),
    /// Every socket drops in an open question and comes back at once.
    Reconnect(ReconnectArgs),
    /// Game servers are killed at random instants while classes play, or frozen, or cut off: nothing that was acked as saved may be
    /// lost.
    Kill(KillArgs),
    /// Every process but the store is restarted by SIGTERM while classes play, one after the other, five times.
    Rolling(RollingArgs),
    /// One game server more and one less while classes play: who is disconnected.
    Scale(ScaleArgs),
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("where").required(true).args(["up", "target", "servers"])))]
pub(super) struct Common {
    /// Servers to run against, as http://HOST:PORT.
    #[arg(long, value_name = "URL")]
    target: Option<Target>,
    /// Game servers to address one by one; a class goes to the one that the hash of its code says.
    #[arg(long, value_name = "URL", value_delimiter = ',', requires = "api")]
    servers: Vec<Target>,
    /// The API, with --servers.
    #[arg(long, value_name = "URL", requires = "servers")]
    api: Option<Target>,
    /// The Redis of these servers, as redis://HOST:PORT, whose bytes and commands are sampled; of several segments one is
    /// told.
    #[arg(long, value_name = "URL", conflicts_with = "up")]
    redis: Option<String>,
    /// Before the paths of the game servers.
    #[arg(long, value_name = "PATH", default_value = GAME_PREFIX)]
    game_prefix: String,
    /// Before the paths of the API.
    #[arg(long, value_name = "PATH", default_value = STORE_PREFIX)]
    store_prefix: String,
    /// Starts a server for this run.
    #[arg(long)]
    up: bool,
    #[command(flatten)]
    topology: TopologyArgs,
    /// Seed of the plan.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The part of the classes that this process plays, as PART/PARTS.
    #[arg(long, value_name = "PART/PARTS", default_value_t = Segment::WHOLE)]
    segment: Segment,
    /// Directory for results.json.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct BigroomArgs {
    #[command(flatten)]
    common: Common,
    /// Players of each room, 1 to 500. [default: 50,100,250,500, with --short 30,60]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(ROOM_MAX)))]
    sizes: Vec<u32>,
    /// Questions of the reference quiz that are played. [default: 20, with --short 5]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=i64::from(QUESTIONS)))]
    questions: Option<u16>,
    /// Answers after 0.1 to 1 s instead of 2 to 15 s, and everything else as much faster.
    #[arg(long)]
    fast: bool,
    /// Small rooms, few questions and a fast pace: half a minute.
    #[arg(long)]
    short: bool,
}

#[derive(Debug, Args)]
pub(super) struct IdleArgs {
    #[command(flatten)]
    common: Common,
    /// Sockets to hold. [default: 10000, with --short 1000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=19_000))]
    sockets: Option<u32>,
    /// Sockets opened in a second. [default: 100, with --short 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=5_000))]
    connects_per_s: Option<u64>,
    /// Fewer sockets, held for a moment only: ten seconds.
    #[arg(long)]
    short: bool,
    /// Players of each lobby, 1 to 500.
    #[arg(long, default_value_t = ROOM_MAX, value_parser = clap::value_parser!(u32).range(1..=i64::from(ROOM_MAX)))]
    per_game: u32,
    /// Processes of the servers, whose memory is read, all that the sockets end at. [required with --target]
    #[arg(
        long,
        value_name = "PID",
        value_delimiter = ',',
        required_unless_present = "up",
        conflicts_with = "up"
    )]
    pid: Vec<u32>,
}

#[derive(Debug, Args)]
pub(super) struct RampArgs {
    #[command(flatten)]
    common: Common,
    /// Classes of 30 in the last stage. [default: 960, with --short 96]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(ramp::CLASSES_MAX)))]
    classes: Option<u32>,
    /// Stages, in equal steps up to all classes.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=i64::from(ramp::STAGES_MAX)))]
    stages: u32,
    /// About a minute at ten times the pace, instead of 27 minutes.
    #[arg(long)]
    short: bool,
    /// Each stage climbs for this long, in seconds, instead of 180, or 8 with --short; a lesson's students join over 30 s.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    climb: Option<u64>,
    /// Each stage holds for this long, in seconds, instead of 360, or 36 for all stages together with --short.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=36_000))]
    hold: Option<u64>,
    /// Every connection goes to the next game server, whoever has the game: what a balancer without stickiness does.
    #[arg(long)]
    round_robin: bool,
    /// Admin addresses of all game servers, whose metrics tell how the games are spread behind a proxy.
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    admin: Vec<Target>,
}

impl IdleArgs {
    fn timing(&self) -> idle::Timing {
        let timing = if self.short {
            idle::Timing::SHORT
        } else {
            idle::Timing::FULL
        };
        idle::Timing {
            connects_per_s: self.connects_per_s.unwrap_or(timing.connects_per_s),
            ..timing
        }
    }
}

impl RampArgs {
    fn stages(&self) -> ramp::Stages {
        let classes = self.classes.unwrap_or(if self.short { 96 } else { 960 });
        let mut stages = if self.short {
            ramp::Stages::short(classes, self.stages)
        } else {
            ramp::Stages::lesson(classes, self.stages)
        };
        stages.climb_ms = self.climb.map_or(stages.climb_ms, |s| s * 1_000);
        stages.hold_ms = self.hold.map_or(stages.hold_ms, |s| s * 1_000);
        stages
    }
}

#[derive(Debug, Args)]
pub(super) struct ReconnectArgs {
    #[command(flatten)]
    common: Common,
    /// Classes of 30. [default: 300, with --short 30]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=600))]
    classes: Option<u32>,
    /// Fewer classes, in half the time.
    #[arg(long)]
    short: bool,
}

impl ReconnectArgs {
    const fn timing(&self) -> reconnect::Timing {
        if self.short {
            reconnect::Timing::SHORT
        } else {
            reconnect::Timing::FULL
        }
    }
}

impl Scenario {
    const fn common(&self) -> &Common {
        match self {
            Self::Bigroom(args) => &args.common,
            Self::Idle(args) => &args.common,
            Self::Ramp(args) => &args.common,
            Self::Reconnect(args) => &args.common,
            Self::Kill(args) => &args.common,
            Self::Rolling(args) => &args.common,
            Self::Scale(args) => &args.common,
        }
    }

    fn plan(&self) -> Plan {
        let plan = match self {
            Self::Bigroom(args) => bigroom_plan(args),
            Self::Idle(args) => idle_plan(args),
            Self::Ramp(args) => args.stages().plan(args.common.seed),
            Self::Reconnect(args) => reconnect_plan(args),
            Self::Kill(args) => args.plan(),
            Self::Rolling(args) => args.plan(),
            Self::Scale(args) => args.plan(),
        };
        Plan {
            segment: self.common().segment,
            ..plan
        }
    }

    /// Whether networks are to be cut.
    const fn cuts(&self) -> bool {
        match self {
            Self::Kill(args) => args.cut,
            Self::Bigroom(_) | Self::Idle(_) | Self::Ramp(_) | Self::Reconnect(_) => false,
            Self::Rolling(_) | Self::Scale(_) => false,
        }
    }

    /// Whether connections go to the next game server, whoever has the game.
    const fn goes_in_turn(&self) -> bool {
        match self {
            Self::Ramp(args) => args.round_robin,
            Self::Bigroom(_) | Self::Idle(_) | Self::Reconnect(_) => false,
            Self::Kill(_) | Self::Rolling(_) | Self::Scale(_) => false,
        }
    }

    /// Between a process's end and its next start, when nobody says.
    const fn pauses(&self) -> Pauses {
        match self {
            // Its kills are nobody's fault, and what they cost games is no matter of a supervisor's patience.
            Self::Kill(_) | Self::Rolling(_) | Self::Scale(_) => Pauses::always(200),
            Self::Bigroom(_) | Self::Idle(_) | Self::Ramp(_) | Self::Reconnect(_) => Pauses::CLUSTER,
        }
    }

    /// Sockets that are open at the same time.
    fn sockets(&self, plan: &Plan) -> u64 {
        match self {
            Self::Bigroom(_) => plan.sizes.iter().copied().max().map_or(0, u64::from),
            Self::Idle(_) | Self::Ramp(_) | Self::Reconnect(_) => ramp::sockets(plan),
            Self::Kill(args) => kill::sockets(args.timing()),
            Self::Rolling(args) => kill::sockets(args.timing()),
            Self::Scale(args) => scale::sockets(args.timing()),
        }
    }

    /// Why this cannot be done by a part of the processes, or with servers that are there.
    fn objection(&self) -> Option<&'static str> {
        let common = self.common();
        match self {
            Self::Bigroom(_) | Self::Idle(_) if common.segment != Segment::WHOLE => {
                Some("this scenario is one process's; --segment goes with ramp and reconnect")
            }
            Self::Ramp(args) if args.round_robin && !(common.up && common.is_cluster()) => Some(
                "only game servers that share a store pass on what is not theirs: give --up --games 2 --store redis with --round-robin",
            ),
            Self::Ramp(args) if args.round_robin && common.has_proxies(1) => {
                Some("a proxy keeps classes together, which --round-robin does without: leave --proxies out")
            }
            Self::Kill(args) => args.objection(),
            Self::Rolling(args) => args.objection(),
            Self::Scale(args) => args.objection(),
            Self::Bigroom(_) | Self::Idle(_) | Self::Ramp(_) | Self::Reconnect(_) => None,
        }
    }
}

impl Common {
    pub(super) const fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) const fn segment(&self) -> Segment {
        self.segment
    }

    pub(super) const fn is_up(&self) -> bool {
        self.up
    }

    /// Whether several game servers that share a store are started.
    pub(super) fn is_cluster(&self) -> bool {
        self.topology.is_cluster()
    }

    /// Whether at least so many proxies are started.
    pub(super) const fn has_proxies(&self, number: u32) -> bool {
        self.topology.proxies() >= number
    }

    /// Processes that are started, but the store.
    pub(super) fn processes(&self) -> u32 {
        self.topology.processes()
    }

    /// Where clients are to go; `in_turn` for game servers, whoever has the game.
    fn targets(&self, stack: Option<&Stack>, in_turn: bool) -> Option<Targets> {
        let targets = match (stack, &self.target, &self.api) {
            (Some(stack), _, _) if in_turn => stack.targets_in_turn()?,
            (Some(stack), _, _) => stack.targets()?,
            (None, Some(target), _) => Targets::from(target.clone()),
            (None, None, Some(api)) => Targets::direct(self.servers.clone(), api.clone()),
            (None, None, None) => return None,
        };
        Some(targets.with_prefixes(&self.game_prefix, &self.store_prefix))
    }

    /// What is sampled beside the generator, and whether a store is among it.
    fn sampled(&self, stack: Option<&Stack>) -> Result<(Processes, bool), Failure> {
        if let Some(stack) = stack {
            return Ok((stack.processes(), !stack.stores().is_empty()));
        }
        let Some(url) = &self.redis else {
            return Ok((Arc::new(Vec::new), false));
        };
        let redis =
            redis_at(url).map_err(|why| Failure::configuration(why.context(format!("--redis {url}"))))?;
        let sampled = move || {
            vec![Process {
                name: REDIS.to_owned(),
                pid: None,
                figures: redis.figures().unwrap_or_default(),
            }]
        };
        Ok((Arc::new(sampled), true))
    }
}

/// The Redis at a URL, which must tell its figures.
fn redis_at(url: &str) -> anyhow::Result<Redis> {
    let place = url
        .strip_prefix("redis://")
        .context("it must begin with redis://")?;
    let mut addresses = place
        .trim_end_matches('/')
        .to_socket_addrs()
        .context("it must be HOST:PORT")?;
    let redis = Redis::at(addresses.next().context("nobody has that name")?);
    redis.figures().context("it does not tell its figures")?;
    Ok(redis)
}

/// Runs a scenario; whether it passed.
pub(super) fn run(scenario: &Scenario, console: &mut Console) -> Result<bool, Failure> {
    let (common, plan) = (scenario.common(), scenario.plan());
    if let Some(why) = scenario.objection() {
        return Err(Failure::configuration(anyhow::anyhow!(why)));
    }
    if let Scenario::Kill(args) = scenario {
        args.enter_own_network()?;
    }
    limits::ensure_descriptors(scenario.sockets(&plan))
        .map_err(|why| Failure::configuration(anyhow::anyhow!(why)))?;

    if let Some(dir) = &common.out {
        let ready = Record::make_way(dir).with_context(|| format!("--out {}", dir.display()));
        ready.map_err(Failure::configuration)?;
    }
    let begun = clock::unix_ms();
    let mut stack = match common.up {
        true => Some(common.topology.start(None, scenario.pauses(), scenario.cuts())?),
        false => None,
    };
    let Some(targets) = common.targets(stack.as_ref(), scenario.goes_in_turn()) else {
        return Err(Failure::configuration(anyhow::anyhow!(
            "give --target, --servers or --up"
        )));
    };
    let (processes, has_store) = common.sampled(stack.as_ref())?;
    let monitor = Monitor::start(plan.segment.index(), processes).map_err(Failure::unavailable)?;
    let played = play(scenario, &targets, &plan, stack.as_mut(), console)?;
    let mut outcome = match played {
        Ok(outcome) => outcome,
        Err(error) => return give_up(error, console),
    };
    if has_store {
        store::judge(&mut outcome.measured, &plan);
    }
    let (machine, resources) = monitor.finish();
    let restarts = stack.as_ref().map_or(0, Stack::unexpected_restarts);
    let table = outcome.table.clone();
    let record = Record::of_run(outcome, &plan, begun, machine, resources, restarts);
    let judgement = Judgement::of(&record);
    judgement.print(&record, &table, console);
    if let Some(dir) = &common.out {
        let written = record
            .write(dir)
            .with_context(|| format!("--out {}", dir.display()));
        let path = written.map_err(Failure::unavailable)?;
        console.line(&format!("written to {}", path.display()));
    }
    Ok(judgement.is_good())
}

/// Plays a scenario against servers that are there. The first error says that it was not asked for rightly.
fn play(
    scenario: &Scenario,
    targets: &Targets,
    plan: &Plan,
    stack: Option<&mut Stack>,
    console: &mut Console,
) -> Result<Result<Outcome, ScenarioError>, Failure> {
    Ok(match scenario {
        Scenario::Bigroom(_) => bigroom::run(targets, plan, console),
        Scenario::Idle(args) => {
            let pids = stack.map_or_else(|| args.pid.clone(), |stack| stack.socket_ends());
            if pids.is_empty() {
                return Err(Failure::configuration(anyhow::anyhow!("give --pid or --up")));
            }
            idle::run(targets, plan, &pids, args.timing(), console)
        }
        Scenario::Ramp(args) => {
            let admins = match (stack, args.admin.is_empty()) {
                (Some(stack), true) if args.round_robin => stack.game_admins(),
                (Some(stack), true) => stack.admins_behind_proxies(),
                (Some(_), false) | (None, _) => &args.admin,
            };
            let spread = ramp::Placed {
                admins,
                in_turn: args.round_robin,
            };
            ramp::run(targets, spread, plan, &args.stages(), console)
        }
        Scenario::Reconnect(args) => reconnect::run(targets, plan, args.timing(), console),
        Scenario::Kill(args) => {
            let mut victims = up(stack)?.victims(args.blow());
            kill::run(targets, plan, args.timing(), &mut victims, console)
        }
        Scenario::Rolling(args) => {
            let mut victims = up(stack)?.victims(kill::Blow::Stop);
            kill::run(targets, plan, args.timing(), &mut victims, console)
        }
        Scenario::Scale(args) => {
            let mut fleet = up(stack)?.growing();
            scale::run(targets, plan, args.timing(), &mut fleet, console)
        }
    })
}

/// The servers that this run has started.
fn up(stack: Option<&mut Stack>) -> Result<&mut Stack, Failure> {
    stack.ok_or_else(|| Failure::configuration(anyhow::anyhow!("give --up")))
}

/// What ended a run that could not be carried out. When it was this machine's ports or descriptors, that is a verdict and
/// not a failure of the servers.
fn give_up(error: ScenarioError, console: &mut Console) -> Result<bool, Failure> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    let mut found = None;
    while let Some(error) = cause {
        found = found.or(error.downcast_ref().map(FaultKind::of_connect));
        cause = error.source();
    }
    let what = match found {
        Some(FaultKind::NoPort) => "a source port",
        Some(FaultKind::NoDescriptor) => "a descriptor",
        Some(_) | None => return Err(error.into()),
    };
    console.settle();
    console.line(&format!("verdict: {}", Word::Invalid));
    console.line(&format!(
        "  {}: {error} for want of {what}; nothing was measured",
        Word::Invalid
    ));
    Ok(false)
}

fn reconnect_plan(args: &ReconnectArgs) -> Plan {
    let classes = args.classes.unwrap_or(if args.short { 30 } else { 300 });
    let sizes = vec![ramp::CLASS_SIZE; crate::sys::index(classes)];
    let pace = if args.short {
        reconnect::PACE_SHORT
    } else {
        reconnect::PACE
    };
    Plan::new(args.common.seed, pace, reconnect::QUESTIONS, sizes)
}

fn bigroom_plan(args: &BigroomArgs) -> Plan {
    let (sizes, questions): (&[u32], u16) = if args.short {
        (&[30, 60], 5)
    } else {
        (&[50, 100, 250, 500], QUESTIONS)
    };
    let sizes = if args.sizes.is_empty() { sizes } else { &args.sizes };
    Plan::new(
        args.common.seed,
        if args.fast || args.short {
            Pace::FAST
        } else {
            Pace::LESSON
        },
        args.questions.unwrap_or(questions),
        sizes.to_vec(),
    )
}

fn idle_plan(args: &IdleArgs) -> Plan {
    let sockets = args.sockets.unwrap_or(if args.short { 1_000 } else { 10_000 });
    let (full, rest) = (sockets / args.per_game, sockets % args.per_game);
    let sizes = (0..full)
        .map(|_| args.per_game)
        .chain((rest > 0).then_some(rest))
        .collect();
    Plan::new(args.common.seed, Pace::FAST, 0, sizes)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn good_command_lines_become_plans() {
        let parse = |line: &str| Cli::try_parse_from(line.split(' ')).map(|cli| cli.command);
        let run = |line: &str| match parse(line) {
            Ok(Command::Run(scenario)) => *scenario,
            other => panic!("{other:?}"),
        };
        let Scenario::Bigroom(args) = run("load run bigroom --up --sizes 8,16 --fast --seed 5") else {
            panic!("refused");
        };
        let plan = bigroom_plan(&args);
        assert_eq!(
            (plan.seed, plan.pace.name, plan.questions, plan.sizes),
            (5, "fast", 20, vec![8, 16])
        );
        let Scenario::Idle(args) = run("load run idle --target http://127.0.0.1:1 --pid 1 --sockets 1200")
        else {
            panic!("refused");
        };
        assert_eq!(idle_plan(&args).sizes, [500, 500, 200]);
        assert_eq!(args.timing().connects_per_s, 100);
        let Scenario::Bigroom(args) = run("load run bigroom --up --short") else {
            panic!("refused");
        };
        let plan = bigroom_plan(&args);
        assert_eq!(
            (plan.pace.name, plan.questions, plan.sizes),
            ("fast", 5, vec![30, 60])
        );
    }
}
