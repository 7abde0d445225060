//! The reference of a command line as Markdown, made from its definition; tests compare docs/configuration.md with it.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

/// A heading and a table of the flags of `command`, and the same for each of its subcommands.
#[must_use]
pub fn reference(mut command: Command) -> String {
    command.build();
    let mut page = String::new();
    describe(&command, command.get_name(), &mut page);
    page
}

fn describe(command: &Command, title: &str, page: &mut String) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut table = String::new();
    for arg in command.get_arguments().filter(|arg| arg.get_long().is_some()) {
        if !matches!(
            arg.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        ) {
            table.push_str(&row(arg));
        }
    }
    let mut put = |text: &str| page.push_str(text);
    put(&format!("## `{title}`\n\n{}\n", sentence(&about)));
    if !table.is_empty() {
        put("\n| flag | environment | default | what it sets |\n| --- | --- | --- | --- |\n");
        put(&table);
    }
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        page.push('\n');
        describe(sub, &format!("{title} {}", sub.get_name()), page);
    }
}

fn row(arg: &Arg) -> String {
    let mut flag = format!("--{}", arg.get_long().unwrap_or_default());
    let takes_value = arg.get_action().takes_values();
    if takes_value {
        for name in arg.get_value_names().unwrap_or_default() {
            // Writing to a string cannot fail.
            let _written = write!(flag, " {name}");
        }
    }
    let environment = arg
        .get_env()
        .map_or("–".to_owned(), |name| format!("`{}`", name.to_string_lossy()));
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    let default = match (defaults.is_empty(), arg.is_required_set()) {
        (false, _) if takes_value => defaults.join(", "),
        (_, true) => "required".to_owned(),
        (_, false) => "–".to_owned(),
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let choices: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| takes_value)
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let choices = if choices.is_empty() {
        String::new()
    } else {
        format!(" One of {}.", choices.join(", "))
    };
    format!(
        "| `{flag}` | {environment} | {default} | {}{choices} |\n",
        sentence(&help)
    )
}

/// clap takes the full stop off the end of a help text.
fn sentence(text: &str) -> String {
    let text = text.trim().replace('|', "\\|");
    if text.is_empty() || text.ends_with('.') {
        text
    } else {
        format!("{text}.")
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::telemetry::LogFormat;

    /// Does this and that.
    #[derive(Debug, Parser)]
    #[command(name = "thing", version)]
    struct Thing {
        /// How many at once.
        #[arg(long, env = "THING_COUNT", default_value_t = 3)]
        count: u32,
        /// Where it is.
        #[arg(long, value_name = "FILE")]
        place: std::path::PathBuf,
        /// Look of the log.
        #[arg(long, value_enum, default_value = "text")]
        log_format: LogFormat,
        /// For visitors.
        #[arg(long)]
        demo: bool,
    }

    #[test]
    fn every_flag_is_told_with_its_environment_and_default() {
        assert_eq!(
            reference(Thing::command()),
            "## `thing`\n\nDoes this and that.\n\n\
             | flag | environment | default | what it sets |\n| --- | --- | --- | --- |\n\
             | `--count COUNT` | `THING_COUNT` | `3` | How many at once. |\n\
             | `--place FILE` | – | required | Where it is. |\n\
             | `--log-format LOG_FORMAT` | – | `text` | Look of the log. One of `text`, `json`. |\n\
             | `--demo` | – | – | For visitors. |\n"
        );
    }
}
