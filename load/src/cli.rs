//! x
#[derive(clap::Parser)]
/// x
pub struct Cli {}
/// x
pub fn execute(_: &Cli) -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
/// x
pub fn refuse(_: &clap::Error) -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
