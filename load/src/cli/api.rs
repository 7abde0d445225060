//! The scenarios that ask the API, with a class or without one: each defined in one place, with the servers that it needs.

use clap::{Args, Subcommand};

use super::Failure;
use super::common::Common;
use super::topology::{Kind, Wanted};
use crate::client::Targets;
use crate::plan::{Plan, Segment};
use crate::report::{Console, Outcome};
use crate::scenario::{Place, ScenarioError, dashboard, e2e, nine, overload, storage};
use crate::stack::{Apis, Database, Pauses, Stack};

/// Calls and games of one teacher, and sign-ins from one address, that nobody reaches: limits are on, and above the load.
const LIMITS_ABOVE: [(&str, &str); 3] = [
    ("--address-sign-ins-max", "1000000000"),
    ("--teacher-requests-max", "1000000000"),
    ("--teacher-games-max", "1000000000"),
];
/// Sockets of calls: as many as there are callers at once in the worst case.
const CALLERS_MAX: u64 = 12_000;

#[derive(Debug, Subcommand)]
pub(super) enum ApiScenario {
    /// An API is asked for up to ten times as much as it can do: goodput, refusals, liveness, and how soon all is well again.
    Overload(OverloadArgs),
    /// Teachers with months of games look at their pages: times by route, and how many calls one API answers at most.
    Dashboard(ApiArgs),
    /// 240 classes begin within a minute from twelve addresses, fifty teachers start behind one, and one starts thirty games.
    Nine(ApiArgs),
    /// One small class after the other: from the first click to the host, and from the last answer to the history of another API.
    E2e(ApiArgs),
    /// The APIs' database server is killed and started again, and stopped and continued, while calls come in.
    Storage(ApiArgs),
}

#[derive(Debug, Args)]
pub(super) struct ApiArgs {
    #[command(flatten)]
    common: Common,
    /// The same with few teachers, classes or blows and in little time, of which only counts are judged.
    #[arg(long)]
    short: bool,
}

#[derive(Debug, Args)]
pub(super) struct OverloadArgs {
    #[command(flatten)]
    api: ApiArgs,
    /// The same against an API whose admission is switched off, which must fail: the check can.
    #[arg(long)]
    no_admission: bool,
}

/// What a scenario is, as it was asked for.
pub(super) struct Definition {
    pub(super) plan: Plan,
    /// Sockets that may be open at the same time.
    pub(super) sockets: u64,
    pub(super) servers: Wanted,
    play: Box<dyn FnOnce(Scene<'_>) -> Played>,
}

/// Where and with whom a scenario is played.
struct Scene<'a> {
    place: Place,
    plan: &'a Plan,
    stack: &'a Stack,
    console: &'a mut Console,
}

/// The first error says that it was not asked for rightly.
type Played = Result<Result<Outcome, ScenarioError>, Failure>;

impl ApiArgs {
    fn choose<T>(&self, short: T, full: T) -> T {
        if self.short { short } else { full }
    }
}

fn overload(OverloadArgs { api, no_admission }: &OverloadArgs) -> Definition {
    let timing = api.choose(overload::Timing::short(), overload::Timing::full());
    let (connections, delay_ms) = (
        overload::CONNECTIONS.to_string(),
        overload::CALL_DELAY_MS.to_string(),
    );
    let mut flags = flags(&[
        ("--database-connections", &connections),
        ("--measure-call-delay-ms", &delay_ms),
    ]);
    flags.extend(no_admission.then(|| "--measure-without-admission".to_owned()));
    Definition {
        plan: timing.plan(api.common.seed()),
        sockets: CALLERS_MAX,
        servers: one_api(flags),
        play: Box::new(move |scene| {
            let restarts = || scene.stack.unexpected_restarts();
            let seed = scene.plan.seed;
            Ok(overload::run(
                &scene.place,
                &timing,
                seed,
                &restarts,
                scene.console,
            ))
        }),
    }
}

fn dashboard(args: &ApiArgs) -> Definition {
    let timing = args.choose(dashboard::Timing::SHORT, dashboard::Timing::FULL);
    Definition {
        plan: timing.plan(args.common.seed()),
        sockets: 1_000,
        servers: two_apis(flags(&[]), dashboard::KEEPS),
        play: Box::new(move |scene| {
            Ok(dashboard::run(
                &scene.place,
                timing,
                scene.plan.seed,
                scene.console,
            ))
        }),
    }
}

fn nine(args: &ApiArgs) -> Definition {
    let timing = args.choose(nine::Timing::SHORT, nine::Timing::FULL);
    Definition {
        plan: timing.plan(args.common.seed()),
        sockets: 10_000,
        // With the limits that everybody has.
        servers: one_api(Vec::new()),
        play: Box::new(move |scene| Ok(nine::run(&scene.place, scene.plan, timing, scene.console))),
    }
}

fn e2e(args: &ApiArgs) -> Definition {
    let timing = args.choose(e2e::Timing::SHORT, e2e::Timing::FULL);
    Definition {
        plan: timing.plan(args.common.seed()),
        sockets: 1_000,
        servers: two_apis(Vec::new(), e2e::AGREE_FROM),
        play: Box::new(move |scene| Ok(e2e::run(&scene.place, scene.plan, timing, scene.console))),
    }
}

fn storage(args: &ApiArgs) -> Definition {
    let timing = args.choose(storage::Timing::SHORT, storage::Timing::FULL);
    Definition {
        plan: timing.plan(args.common.seed()),
        sockets: CALLERS_MAX / 2,
        servers: Wanted {
            pauses: Pauses::always(200),
            ..one_api(flags(&[]))
        },
        play: Box::new(move |scene| {
            let database = scene.stack.database().ok_or_else(|| {
                Failure::configuration(anyhow::anyhow!(
                    "there is no database server to strike: leave --database sqlite out"
                ))
            })?;
            let seed = scene.plan.seed;
            Ok(storage::run(&scene.place, timing, &database, seed, scene.console))
        }),
    }
}

impl ApiScenario {
    fn args(&self) -> &ApiArgs {
        match self {
            Self::Overload(args) => &args.api,
            Self::Dashboard(args) | Self::Nine(args) | Self::E2e(args) | Self::Storage(args) => args,
        }
    }

    pub(super) fn definition(&self) -> Definition {
        match self {
            Self::Overload(args) => overload(args),
            Self::Dashboard(args) => dashboard(args),
            Self::Nine(args) => nine(args),
            Self::E2e(args) => e2e(args),
            Self::Storage(args) => storage(args),
        }
    }

    pub(super) fn common(&self) -> &Common {
        &self.args().common
    }

    /// Why this cannot be done by a part of the processes, or with servers that are there.
    pub(super) fn objection(&self) -> Option<&'static str> {
        let common = self.common();
        if common.segment() != Segment::WHOLE {
            return Some("this scenario is one process's; --segment goes with ramp and reconnect");
        }
        (!common.is_up()).then_some(
            "this scenario sets the API's limits and signs as a game server does: give --up, and --bin-dir for other binaries",
        )
    }

    /// Plays it against the servers of `stack`. The first error says that it was not asked for rightly.
    pub(super) fn play(
        &self,
        targets: &Targets,
        plan: &Plan,
        stack: &Stack,
        console: &mut Console,
    ) -> Played {
        (self.definition().play)(Scene {
            place: place(stack, targets)?,
            plan,
            stack,
            console,
        })
    }
}

/// One game server, one API with these flags, and PostgreSQL.
fn one_api(flags: Vec<String>) -> Wanted {
    Wanted {
        games: Some(1),
        settings: Apis {
            database: Database::Postgres,
            flags,
            ..Apis::default()
        },
        ..Wanted::one(Pauses::CLUSTER)
    }
}

/// The same with two APIs, of which those from `agree_from` on agree in a Redis.
fn two_apis(flags: Vec<String>, agree_from: u32) -> Wanted {
    let one = one_api(flags);
    Wanted {
        apis: Some(2),
        store: Kind::Redis,
        settings: Apis {
            agree_from: Some(agree_from),
            ..one.settings
        },
        ..one
    }
}

/// The limits that nobody reaches, and more flags.
fn flags(more: &[(&str, &str)]) -> Vec<String> {
    let all = LIMITS_ABOVE.iter().chain(more);
    all.flat_map(|(flag, value)| [(*flag).to_owned(), (*value).to_owned()])
        .collect()
}

fn place(stack: &Stack, targets: &Targets) -> Result<Place, Failure> {
    Ok(Place {
        apis: stack.apis().to_vec(),
        internal: stack.internal(),
        admins: stack.api_admins().to_vec(),
        targets: targets.clone(),
        secret: stack.service_secret().map_err(Failure::unavailable)?,
    })
}
