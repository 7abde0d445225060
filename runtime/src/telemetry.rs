//! Logging: one line an event on standard error, as text for people or JSON for collectors.

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// At `trace`, the WebSocket library writes every frame, tokens of teachers and players included. What the Redis client warns of, a lost
/// connection, is said by who handles it: one line an error.
const QUIET: [&str; 3] = ["tungstenite=warn", "tokio_tungstenite=warn", "fred=error"];

/// Starts logging. `filter` has the syntax of `tracing_subscriber::EnvFilter`, for example `info,game_server=debug`. A
/// second call in the same process (tests) changes nothing.
///
/// # Errors
/// The filter's own message when it cannot be parsed.
pub fn init(format: LogFormat, filter: &str) -> Result<(), String> {
    let filter = quietened(filter)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_span_events(FmtSpan::NONE)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_writer(std::io::stderr);
    let installed = match format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    // Only a second call fails, and then the first one's choice stands.
    drop(installed);
    Ok(())
}

fn quietened(filter: &str) -> Result<EnvFilter, String> {
    let unreadable = |e| format!("the log filter {filter:?} cannot be read: {e}");
    let asked = EnvFilter::try_new(filter).map_err(|e| unreadable(e.to_string()))?;
    QUIET.iter().try_fold(asked, |filter, directive| {
        let directive = directive
            .parse()
            .map_err(|e: tracing_subscriber::filter::ParseError| unreadable(e.to_string()))?;
        Ok(filter.add_directive(directive))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_with_tokens_stay_out_of_the_log_whatever_is_asked_for() {
        for asked in ["trace", "tungstenite=trace", "info,tungstenite=trace"] {
            let shown = quietened(asked).unwrap().to_string();
            assert!(
                shown.split(',').any(|d| d == "tungstenite=warn"),
                "{asked}: {shown}"
            );
            assert!(!shown.contains("tungstenite=trace"), "{asked}: {shown}");
            assert!(shown.split(',').any(|d| d == "fred=error"), "{asked}: {shown}");
        }
        assert!(quietened("===").is_err());
    }
}
