//! Frames that servers send, to players and hosts alike.

use std::borrow::Cow;

use serde::Deserialize;

/// Text that points into the frame unless it has escapes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl Text<'_> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Any frame, flat: `t` says which of the fields to expect. Flat because it is read once per message and phone, and
/// a tagged enum would copy every frame before looking at it.
#[derive(Debug, Deserialize)]
pub struct Frame<'a> {
    /// Type of the frame.
    #[serde(borrow)]
    pub t: Text<'a>,
    /// Public sequence number, in `question`, `result`, `reveal`, `over`, `pong`.
    pub seq: Option<u32>,
    /// Question number, from 1.
    pub q: Option<u16>,
    /// `welcome`: the player.
    pub id: Option<u32>,
    /// `welcome`, `sync`: everything the screen needs.
    #[serde(borrow)]
    pub state: Option<Box<State<'a>>>,
    /// `welcome`: what to resume with.
    #[serde(borrow)]
    pub token: Option<Text<'a>>,
    /// `question`: the stem.
    #[serde(borrow)]
    pub text: Option<Text<'a>>,
    /// `question`: time to answer, in milliseconds.
    pub ms: Option<u32>,
    /// `ack`: whether the answer is in the journal.
    pub saved: Option<bool>,
    /// `result`: whether the answer was correct; none means not answered.
    pub ok: Option<bool>,
    /// `result`: points gained.
    pub points: Option<u32>,
    /// `result`, `over`: points so far.
    pub total: Option<u32>,
    /// `result`, `over`: place.
    pub rank: Option<u32>,
    /// `result`, `over`: players ranked.
    pub of: Option<u32>,
    /// `result`, `reveal`: the correct choices.
    pub correct: Option<Vec<u8>>,
    /// `over` to a host: all places.
    #[serde(borrow)]
    pub places: Option<Vec<Place<'a>>>,
    /// `over` to a player: the first three places.
    #[serde(borrow)]
    pub top: Option<Vec<Place<'a>>>,
    /// `reveal`: answers that contain each choice.
    pub histogram: Option<Vec<u32>>,
    /// `reveal`, `progress`: answers accepted.
    pub answered: Option<u32>,
    /// `reveal`: correct answers.
    pub right: Option<u32>,
    /// `roster`: new players.
    #[serde(borrow)]
    pub joined: Option<Vec<RosterEntry<'a>>>,
    /// `error`: stable code.
    #[serde(borrow)]
    pub code: Option<Text<'a>>,
    /// `bye`: why.
    #[serde(borrow)]
    pub reason: Option<Text<'a>>,
    /// `bye`, `error`: when to come back, in milliseconds.
    pub retry_ms: Option<u32>,
}

/// The part of a player's or host's state that the harness checks.
#[derive(Debug, Deserialize)]
pub struct State<'a> {
    /// Grows when another server, or the same one after a restart, takes the game over.
    pub epoch: Option<u32>,
    /// Head of the public sequence.
    pub seq: Option<u32>,
    /// Phase.
    #[serde(borrow)]
    pub phase: Option<Text<'a>>,
    /// A player's points so far.
    pub total: Option<u32>,
    /// A player's name in force.
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    /// A host's roster.
    #[serde(borrow)]
    pub roster: Option<Vec<RosterEntry<'a>>>,
    /// The question that is open or whose results are shown.
    #[serde(borrow)]
    pub question: Option<StateQuestion<'a>>,
    /// A player's accepted choices; a host's count of answers.
    pub answered: Option<serde::de::IgnoredAny>,
    /// What a player was told at the question's end.
    pub outcome: Option<StateOutcome>,
    /// What a host was told at the question's end.
    pub reveal: Option<StateReveal>,
    /// The final places.
    #[serde(borrow)]
    pub over: Option<StateOver<'a>>,
}

/// A question in a state.
#[derive(Debug, Deserialize)]
pub struct StateQuestion<'a> {
    /// Question number, from 1.
    pub q: Option<u16>,
    /// The stem.
    #[serde(borrow)]
    pub text: Option<Text<'a>>,
}

/// The outcome of a question in a player's state.
#[derive(Debug, Deserialize)]
pub struct StateOutcome {
    /// Question number.
    pub q: Option<u16>,
    /// Points gained.
    pub points: Option<u32>,
}

/// The outcome of a question in a host's state.
#[derive(Debug, Deserialize)]
pub struct StateReveal {
    /// Question number.
    pub q: Option<u16>,
    /// Answers that contain each choice.
    pub histogram: Option<Vec<u32>>,
    /// Answers accepted.
    pub answered: Option<u32>,
    /// Correct answers.
    pub right: Option<u32>,
}

/// The final places in a state.
#[derive(Debug, Deserialize)]
pub struct StateOver<'a> {
    /// A player's place.
    pub rank: Option<u32>,
    /// Players ranked.
    pub of: Option<u32>,
    /// A player's points.
    pub total: Option<u32>,
    /// A host's list of all places.
    #[serde(borrow)]
    pub places: Option<Vec<Place<'a>>>,
}

/// A player in a host's roster.
#[derive(Debug, Deserialize)]
pub struct RosterEntry<'a> {
    /// The player.
    pub id: u32,
    /// Name in force.
    #[serde(borrow)]
    pub name: Text<'a>,
}

/// A line of a podium.
#[derive(Debug, Deserialize)]
pub struct Place<'a> {
    /// Place; equal points share one.
    pub rank: u32,
    /// The player's name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// Points.
    pub total: u32,
}

impl<'a> Frame<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    /// Not a JSON object with `t`, or a known field has the wrong type.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_borrow_and_unknown_ones_are_skipped() {
        let frame = Frame::parse(
            r#"{"t":"question","seq":3,"q":2,"text":"Two?","choices":["a"],"ms":20000,"new":{"x":[1]}}"#,
        )
        .expect("frame");
        assert_eq!(
            (frame.t.as_str(), frame.seq, frame.q, frame.ms),
            ("question", Some(3), Some(2), Some(20_000))
        );
        assert!(matches!(frame.text, Some(Text(Cow::Borrowed("Two?")))));
    }

    #[test]
    fn the_frames_of_a_game_are_read() {
        let welcome = r#"{"t":"welcome","v":1,"id":9,"token":"x","state":{"epoch":1,"seq":4,"phase":"lobby","title":"T","name":"A\u0041","of":20,"players":3,"total":0}}"#;
        let frame = Frame::parse(welcome).expect("welcome");
        let state = frame.state.expect("state");
        assert_eq!(
            (frame.id, state.seq, state.name.expect("name").as_str()),
            (Some(9), Some(4), "AA")
        );

        let result = r#"{"t":"result","seq":5,"q":1,"ok":true,"points":900,"total":900,"rank":1,"of":3,"streak":1,"correct":[2]}"#;
        let frame = Frame::parse(result).expect("result");
        assert_eq!(
            (frame.ok, frame.points, frame.total, frame.rank),
            (Some(true), Some(900), Some(900), Some(1))
        );

        let over =
            r#"{"t":"over","seq":9,"of":1,"questions":1,"places":[{"rank":1,"name":"A","total":900}]}"#;
        assert_eq!(
            Frame::parse(over).expect("over").places.expect("places")[0].total,
            900
        );
    }

    #[test]
    fn a_state_tells_a_client_that_comes_back_where_it_stands() {
        let welcome = r#"{"t":"welcome","v":1,"id":9,"token":"h.c.s","state":{"epoch":2,"seq":3,"phase":"results","name":"A","total":912,"question":{"q":1,"text":"One?","choices":["a"],"ms":20000},"answered":[0],"outcome":{"q":1,"ok":true,"points":912,"total":912,"rank":2,"of":12,"streak":1,"correct":[0]}}}"#;
        let frame = Frame::parse(welcome).expect("welcome");
        let state = frame.state.expect("state");
        assert_eq!(
            (frame.token.expect("token").as_str(), state.epoch),
            ("h.c.s", Some(2))
        );
        assert!(state.answered.is_some());
        assert_eq!(state.question.and_then(|q| q.q), Some(1));
        assert_eq!(state.outcome.and_then(|o| o.points), Some(912));

        let sync = r#"{"t":"sync","v":1,"state":{"epoch":1,"seq":7,"phase":"podium","roster":[],"answered":0,"expected":0,"over":{"of":4,"questions":3,"places":[{"rank":1,"name":"Noor","total":2610}]}}}"#;
        let state = Frame::parse(sync).expect("sync").state.expect("state");
        assert_eq!(state.over.and_then(|o| o.places).map(|p| p.len()), Some(1));
    }

    #[test]
    fn what_is_no_frame_is_an_error() {
        for text in ["", "[]", "{}", r#"{"t":5}"#, r#"{"t":"ack","q":-1}"#] {
            assert!(Frame::parse(text).is_err(), "{text}");
        }
    }
}
