//! `load run`: carries out a scenario between a verdict's watch and a record.

use anyhow::Context;

use super::Failure;
use super::scenario::Scenario;
use crate::client::Targets;
use crate::measure::FaultKind;
use crate::plan::Plan;
use crate::report::{Console, Judgement, Outcome, Record, store};
use crate::scenario::{ScenarioError, bigroom, idle, kill, ramp, reconnect, scale};
use crate::stack::Stack;
use crate::sys::{clock, limits};
use crate::verdict::{Monitor, Word};

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
    let mut stack = common.start(scenario.wanted())?;
    let targets = common.targets(stack.as_ref(), scenario.goes_in_turn())?;
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
        Scenario::Api(scenario) => scenario.play(targets, plan, up(stack)?, console)?,
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
