//! Configuration from flags and environment, checked before anything binds.

use std::fmt::Display;

use clap::Parser;

mod reference;

pub use reference::reference;

/// Exit code for bad configuration (`EX_USAGE` of sysexits.h).
pub const EXIT_USAGE: i32 = 64;

/// Parses flags and environment; prints one clear line and exits with [`EXIT_USAGE`] when they are wrong. `--help` and
/// `--version` print and exit with 0.
#[must_use]
pub fn parse<T: Parser>() -> T {
    match T::try_parse() {
        Ok(config) => config,
        Err(error) if error.use_stderr() => refuse(first_line(&error.to_string())),
        Err(error) => error.exit(),
    }
}

/// Prints why the configuration is refused and exits with [`EXIT_USAGE`].
#[expect(
    clippy::print_stderr,
    reason = "the reader is the person at the terminal; logging is not set up yet"
)]
#[expect(
    clippy::disallowed_methods,
    reason = "nothing runs yet that a destructor would have to save"
)]
pub fn refuse(why: impl Display) -> ! {
    eprintln!("{}: {why}", program());
    std::process::exit(EXIT_USAGE)
}

/// clap explains itself over several lines; the first one says what is wrong, an indented one may name the argument.
fn first_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines
        .next()
        .unwrap_or("the configuration is wrong")
        .trim_start_matches("error: ")
        .to_owned();
    if first.ends_with(':') {
        let names: Vec<&str> = lines
            .take_while(|line| line.starts_with('<') || line.starts_with("--"))
            .collect();
        return format!("{first} {} (--help lists all)", names.join(", "));
    }
    format!("{first} (--help lists all)")
}

fn program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&path).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn one_line_says_what_is_wrong() {
        let message =
            "error: invalid value 'x' for '--listen <LISTEN>': invalid socket address syntax\n\nFor more";
        assert_eq!(
            first_line(message),
            "invalid value 'x' for '--listen <LISTEN>': invalid socket address syntax (--help lists all)"
        );
        let message =
            "error: the following required arguments were not provided:\n  --tls-key <FILE>\n\nUsage: x";
        assert_eq!(
            first_line(message),
            "the following required arguments were not provided: --tls-key <FILE> (--help lists all)"
        );
    }
}
