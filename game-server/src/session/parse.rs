//! Reading clients' frames: unknown types are ignored, unknown fields too, all else that does not fit is malformed. What is no object is,
//! although serde would take a list for one, its members in the order of the fields.

use std::borrow::Cow;

use protocol::host::HostCommand;
use protocol::player::PlayerCommand;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Types of frames that players send.
const PLAYER_TYPES: [&str; 6] = ["join", "resume", "answer", "rename", "leave", "ping"];
/// Types of frames that hosts and screens send.
const HOST_TYPES: [&str; 13] = [
    "host", "screen", "start", "next", "close", "skip", "end", "finish", "lock", "kick", "rename", "ticket",
    "ping",
];

/// White space before a JSON text (RFC 8259, 2).
const JSON_BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// What a frame turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<T> {
    Frame(T),
    /// A type of a newer protocol.
    Unknown,
    /// A type that only the other role sends.
    NotAllowed,
    Malformed,
}

/// A socket's first frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum First {
    Join { name: String },
    Resume { token: String },
    Host { token: String, ticket: Option<String> },
    Screen { ticket: String },
}

#[derive(Deserialize)]
struct Tagged<'a> {
    #[serde(borrow)]
    t: Cow<'a, str>,
}

pub(crate) fn player(text: &str) -> Parsed<PlayerCommand> {
    parse(text, &PLAYER_TYPES, &HOST_TYPES)
}

pub(crate) fn host(text: &str) -> Parsed<HostCommand> {
    parse(text, &HOST_TYPES, &PLAYER_TYPES)
}

/// None when the frame cannot open a socket.
pub(crate) fn first(text: &str) -> Option<First> {
    if let Parsed::Frame(command) = player(text) {
        return match command {
            PlayerCommand::Join { name } => Some(First::Join { name }),
            PlayerCommand::Resume { token, .. } => Some(First::Resume { token }),
            PlayerCommand::Answer { .. }
            | PlayerCommand::Rename { .. }
            | PlayerCommand::Leave
            | PlayerCommand::Ping => None,
        };
    }
    let Parsed::Frame(command) = host(text) else {
        return None;
    };
    match command {
        HostCommand::Host { token, ticket } => Some(First::Host { token, ticket }),
        HostCommand::Screen { ticket } => Some(First::Screen { ticket }),
        HostCommand::Start
        | HostCommand::Next { .. }
        | HostCommand::Close { .. }
        | HostCommand::Skip { .. }
        | HostCommand::End
        | HostCommand::Finish
        | HostCommand::Lock { .. }
        | HostCommand::Kick { .. }
        | HostCommand::Rename { .. }
        | HostCommand::Ticket
        | HostCommand::Ping => None,
    }
}

fn parse<T: DeserializeOwned>(text: &str, own: &[&str], other: &[&str]) -> Parsed<T> {
    if !text.trim_start_matches(JSON_BLANKS).starts_with('{') {
        return Parsed::Malformed;
    }
    let Ok(Tagged { t }) = serde_json::from_str::<Tagged<'_>>(text) else {
        return Parsed::Malformed;
    };
    if own.contains(&t.as_ref()) {
        serde_json::from_str(text).map_or(Parsed::Malformed, Parsed::Frame)
    } else if other.contains(&t.as_ref()) {
        Parsed::NotAllowed
    } else {
        Parsed::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_known_to_its_role() {
        for t in PLAYER_TYPES {
            let text = format!(r#"{{"t":"{t}","name":"x","token":"x","q":1,"choice":0,"new":[{{}}]}}"#);
            assert!(matches!(player(&text), Parsed::Frame(_)), "{t}");
        }
        for t in HOST_TYPES {
            let text = format!(r#"{{"t":"{t}","token":"x","ticket":"x","q":1,"on":true,"id":1,"name":"x"}}"#);
            assert!(matches!(host(&text), Parsed::Frame(_)), "{t}");
        }
    }

    #[test]
    fn what_does_not_fit_has_a_name() {
        assert_eq!(player(r#"{"t":"start"}"#), Parsed::NotAllowed);
        assert_eq!(host(r#"{"t":"answer","q":1,"choice":0}"#), Parsed::NotAllowed);
        assert_eq!(player(r#"{"t":"dance","to":"music"}"#), Parsed::Unknown);
        for text in [
            "",
            "{",
            "null",
            "[]",
            "7",
            "{}",
            r#"{"t":7}"#,
            r#"{"t":"answer","q":"x"}"#,
        ] {
            assert_eq!(player(text), Parsed::Malformed, "{text}");
        }
        let deep = format!(
            r#"{{"t":"ping","x":{}1{}}}"#,
            "[".repeat(2_000),
            "]".repeat(2_000)
        );
        assert_eq!(player(&deep), Parsed::Malformed);
    }

    #[test]
    fn a_list_is_no_frame() {
        for text in [
            r#"["ping"]"#,
            r#" [ "ping" ]"#,
            r#"["dance"]"#,
            r#"["start"]"#,
            r#"["rename","x"]"#,
            r#"["rename",7,"x"]"#,
            r#"["join","x"]"#,
            r#"["host","x"]"#,
        ] {
            assert_eq!(player(text), Parsed::Malformed, "{text}");
            assert_eq!(host(text), Parsed::Malformed, "{text}");
            assert_eq!(first(text), None, "{text}");
        }
        assert_eq!(
            player(" \t\r\n{\"t\":\"ping\"}"),
            Parsed::Frame(PlayerCommand::Ping)
        );
    }

    #[test]
    fn what_opens_no_socket_is_no_first_frame() {
        assert_eq!(first(r#"{"t":"ping"}"#), None);
        assert_eq!(first(r#"{"t":"start"}"#), None);
        assert_eq!(first(r#"{"t":"dance"}"#), None);
    }
}
