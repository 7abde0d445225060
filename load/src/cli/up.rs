//! `load up`: servers to play against, looked after until ctrl-c.

use clap::Args;
use serde_json::json;

use super::Failure;
use super::topology::{TopologyArgs, Wanted};
use crate::report::Console;
use crate::stack::{Cause, Pauses, Restart, Stack};
use crate::sys::{clock, signals};

/// How often it is looked whether to stop and what was restarted, in milliseconds.
const LOOK_MS: u64 = 100;
/// Game servers when nobody says.
const GAMES: u32 = 2;

#[derive(Debug, Args)]
pub(super) struct UpArgs {
    #[command(flatten)]
    topology: TopologyArgs,
}

/// Runs until a signal asks for the end.
pub(super) fn up(args: &UpArgs, console: &mut Console) -> Result<bool, Failure> {
    let stack = args.topology.start(Wanted {
        games: Some(GAMES),
        ..Wanted::one(Pauses::CLUSTER)
    })?;
    announce(&stack, console);
    let mut told = vec![0; stack.services().len()];
    let mut pids: Vec<_> = stack.services().iter().map(|service| service.pid()).collect();
    while !signals::stop_requested() {
        for (service, known) in stack.services().iter().zip(&mut pids) {
            let pid = service.pid();
            if let Some(pid) = pid.filter(|_| pid != *known) {
                console.complain(&format!("{} is process {pid} now", service.name()));
            }
            *known = pid.or(*known);
        }
        for (service, told) in stack.services().iter().zip(&mut told) {
            let restarts = service.restarts();
            for Restart { cause, .. } in restarts.iter().skip(*told) {
                let why = match cause {
                    Cause::Ended => "had ended",
                    Cause::Silent => "missed its probes and was killed",
                };
                console.complain(&format!("{} {why} and is started again", service.name()));
            }
            *told = restarts.len();
        }
        clock::pause_ms(LOOK_MS);
    }
    console.complain("stopping");
    drop(stack);
    Ok(true)
}

/// One line for programs, then the same for people.
fn announce(stack: &Stack, console: &mut Console) {
    let addresses = |targets: &[crate::client::Target]| -> Vec<String> {
        targets.iter().map(ToString::to_string).collect()
    };
    let (apis, games) = (addresses(stack.apis()), addresses(stack.games()));
    let proxies = addresses(stack.proxies());
    let admins = addresses(stack.game_admins());
    let processes: Vec<_> = stack
        .services()
        .iter()
        .map(|s| json!({ "name": s.name(), "pid": s.pid() }))
        .collect();
    console.line(
        &json!({ "apis": apis, "games": games, "game_admins": admins, "stores": stack.stores(), "proxies": proxies, "ca": stack.certificate(), "processes": processes })
            .to_string(),
    );
    for service in stack.services() {
        let pid = service
            .pid()
            .map_or_else(|| "down".to_owned(), |pid| pid.to_string());
        console.line(&format!(
            "{:<10} {} (process {pid})",
            service.name(),
            service.address()
        ));
    }
    console.line("ctrl-c stops them");
}
