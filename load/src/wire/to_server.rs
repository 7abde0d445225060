//! Frames that players and hosts send.

use serde::Serialize;

/// A frame to the server, in the order of a game.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum ToServer<'a> {
    /// First frame of a new player.
    Join {
        /// Name to play under.
        name: &'a str,
    },
    /// First frame of a player that was here before.
    Resume {
        /// From `welcome`.
        token: &'a str,
        /// The last sequence number seen.
        seq: u32,
    },
    /// First frame of a host.
    Host {
        /// The teacher's access token.
        token: &'a str,
    },
    /// A player's answer to a question with one choice.
    Answer {
        /// Question number, from 1.
        q: u16,
        /// The choice, from 0.
        choice: u8,
    },
    /// Opens the first question.
    Start,
    /// Leaves the results of a question.
    Next {
        /// The question whose results are shown.
        q: u16,
    },
    /// Closes the open question.
    Close {
        /// The question.
        q: u16,
    },
    /// Ends the playing: to the podium.
    End,
    /// Closes the game on its podium.
    Finish,
    /// Asks for `pong`.
    Ping,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_what_the_protocol_page_shows() {
        let json = |frame: ToServer<'_>| serde_json::to_string(&frame).expect("plain data");
        assert_eq!(
            json(ToServer::Join { name: "Zoë 1" }),
            r#"{"t":"join","name":"Zoë 1"}"#
        );
        assert_eq!(
            json(ToServer::Answer { q: 7, choice: 2 }),
            r#"{"t":"answer","q":7,"choice":2}"#
        );
        assert_eq!(json(ToServer::Host { token: "x" }), r#"{"t":"host","token":"x"}"#);
        assert_eq!(json(ToServer::Next { q: 3 }), r#"{"t":"next","q":3}"#);
        assert_eq!(
            json(ToServer::Resume { token: "x", seq: 3 }),
            r#"{"t":"resume","token":"x","seq":3}"#
        );
        assert_eq!(json(ToServer::End), r#"{"t":"end"}"#);
        assert_eq!(json(ToServer::Start), r#"{"t":"start"}"#);
        assert_eq!(json(ToServer::Finish), r#"{"t":"finish"}"#);
        assert_eq!(json(ToServer::Ping), r#"{"t":"ping"}"#);
    }
}
