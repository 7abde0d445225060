//! Arguments of the scenarios that ask the API, with a class or without one, and the servers that they need.

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
    Dashboard(DashboardArgs),
    /// 240 classes begin within a minute from twelve addresses, fifty teachers start behind one, and one starts thirty games.
    Nine(NineArgs),
    /// One small class after the other: from the first click to the host, and from the last answer to the history of another API.
    E2e(E2eArgs),
    /// The APIs' database server is killed and started again, and stopped and continued, while calls come in.
    Storage(StorageArgs),
}

#[derive(Debug, Args)]
pub(super) struct OverloadArgs {
    #[command(flatten)]
    common: Common,
    /// Two short steps, of which only counts are judged.
    #[arg(long)]
    short: bool,
    /// The same against an API whose admission is switched off, which must fail: the check can.
    #[arg(long)]
    no_admission: bool,
}

#[derive(Debug, Args)]
pub(super) struct DashboardArgs {
    #[command(flatten)]
    common: Common,
    /// A few teachers and short stages, of which only counts are judged.
    #[arg(long)]
    short: bool,
}

#[derive(Debug, Args)]
pub(super) struct NineArgs {
    #[command(flatten)]
    common: Common,
    /// A few classes in a few seconds, of which only counts are judged.
    #[arg(long)]
    short: bool,
}

#[derive(Debug, Args)]
pub(super) struct E2eArgs {
    #[command(flatten)]
    common: Common,
    /// Three classes instead of forty.
    #[arg(long)]
    short: bool,
}

#[derive(Debug, Args)]
pub(super) struct StorageArgs {
    #[command(flatten)]
    common: Common,
    /// One blow of each kind, of which only counts are judged.
    #[arg(long)]
    short: bool,
}

impl OverloadArgs {
    fn timing(&self) -> overload::Timing {
        match self.short {
            true => overload::Timing::short(),
            false => overload::Timing::full(),
        }
    }

    fn flags(&self) -> Vec<String> {
        let mut flags = flags(&[
            ("--database-connections", &overload::CONNECTIONS.to_string()),
            ("--measure-call-delay-ms", &overload::CALL_DELAY_MS.to_string()),
        ]);
        if self.no_admission {
            flags.push("--measure-without-admission".to_owned());
        }
        flags
    }
}

impl DashboardArgs {
    const fn timing(&self) -> dashboard::Timing {
        match self.short {
            true => dashboard::Timing::SHORT,
            false => dashboard::Timing::FULL,
        }
    }
}

impl NineArgs {
    const fn timing(&self) -> nine::Timing {
        match self.short {
            true => nine::Timing::SHORT,
            false => nine::Timing::FULL,
        }
    }
}

impl E2eArgs {
    const fn timing(&self) -> e2e::Timing {
        match self.short {
            true => e2e::Timing::SHORT,
            false => e2e::Timing::FULL,
        }
    }
}

impl StorageArgs {
    const fn timing(&self) -> storage::Timing {
        match self.short {
            true => storage::Timing::SHORT,
            false => storage::Timing::FULL,
        }
    }
}

impl ApiScenario {
    pub(super) const fn common(&self) -> &Common {
        match self {
            Self::Overload(args) => &args.common,
            Self::Dashboard(args) => &args.common,
            Self::Nine(args) => &args.common,
            Self::E2e(args) => &args.common,
            Self::Storage(args) => &args.common,
        }
    }

    pub(super) fn plan(&self) -> Plan {
        let seed = self.common().seed();
        match self {
            Self::Overload(args) => args.timing().plan(seed),
            Self::Dashboard(args) => args.timing().plan(seed),
            Self::Nine(args) => args.timing().plan(seed),
            Self::E2e(args) => args.timing().plan(seed),
            Self::Storage(args) => args.timing().plan(seed),
        }
    }

    /// One game server, an API or two, and PostgreSQL.
    pub(super) fn wanted(&self) -> Wanted {
        let one = Wanted {
            games: Some(1),
            settings: Apis {
                database: Database::Postgres,
                ..Apis::default()
            },
            ..Wanted::one(Pauses::CLUSTER)
        };
        match self {
            Self::Overload(args) => Wanted {
                settings: Apis {
                    flags: args.flags(),
                    ..one.settings.clone()
                },
                ..one
            },
            Self::Dashboard(_) => Wanted {
                apis: Some(2),
                store: Kind::Redis,
                settings: Apis {
                    flags: flags(&[]),
                    agree_from: Some(dashboard::KEEPS),
                    ..one.settings.clone()
                },
                ..one
            },
            // With the limits that everybody has.
            Self::Nine(_) => one,
            Self::E2e(_) => Wanted {
                apis: Some(2),
                store: Kind::Redis,
                settings: Apis {
                    agree_from: Some(e2e::AGREE_FROM),
                    ..one.settings.clone()
                },
                ..one
            },
            Self::Storage(_) => Wanted {
                pauses: Pauses::always(200),
                settings: Apis {
                    flags: flags(&[]),
                    ..one.settings.clone()
                },
                ..one
            },
        }
    }

    /// Sockets that may be open at the same time.
    pub(super) const fn sockets(&self) -> u64 {
        match self {
            Self::Overload(_) => CALLERS_MAX,
            Self::Dashboard(_) | Self::E2e(_) => 1_000,
            Self::Nine(_) => 10_000,
            Self::Storage(_) => CALLERS_MAX / 2,
        }
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
    ) -> Result<Result<Outcome, ScenarioError>, Failure> {
        let place = place(stack, targets)?;
        Ok(match self {
            Self::Overload(args) => {
                let restarts = || stack.unexpected_restarts();
                overload::run(&place, &args.timing(), plan.seed, &restarts, console)
            }
            Self::Dashboard(args) => dashboard::run(&place, args.timing(), plan.seed, console),
            Self::Nine(args) => nine::run(&place, plan, args.timing(), console),
            Self::E2e(args) => e2e::run(&place, plan, args.timing(), console),
            Self::Storage(args) => {
                let database = stack.database().ok_or_else(|| {
                    Failure::configuration(anyhow::anyhow!(
                        "there is no database server to strike: leave --database sqlite out"
                    ))
                })?;
                storage::run(&place, args.timing(), &database, plan.seed, console)
            }
        })
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
