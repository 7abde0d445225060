//! A class: one host and some phones, as state machines without I/O.
//!
//! They behave as docs/protocol.md asks and as the pages do: a socket that comes back by itself with a jittered delay, silence
//! that is asked about, an answer that is kept and sent again until it is saved or refused.

mod host;
mod link;
mod phone;
mod quiz;

pub(crate) use host::Host;
pub(crate) use link::{Act, Deed, Timer};
pub(crate) use phone::Phone;
pub(crate) use quiz::draw as draw_quiz;

use serde_json::Value;

use crate::Millis;
use crate::dice::Dice;

/// A client, counted from 0: the host, then the phones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClientId(pub(crate) usize);

/// What a client has at hand when something happens to it.
pub(crate) struct Desk<'a> {
    pub(crate) now: Millis,
    pub(crate) dice: &'a mut Dice,
    pub(crate) acts: Vec<Act>,
}

impl Desk<'_> {
    pub(crate) fn act(&mut self, act: Act) {
        self.acts.push(act);
    }
}

/// Something that happens to a client.
#[derive(Debug)]
pub(crate) enum News {
    /// A timer that it set has fired.
    Timer(Timer),
    /// The answer to its HTTP request.
    Answer { status: u16 },
    /// Its socket is open.
    Open,
    /// A frame.
    Frame(Value),
    /// The connection is over; with the code of a close frame if there was one.
    Closed(Option<u16>),
    /// Its page is loaded again.
    Reload,
}

/// A host or a phone.
pub(crate) enum Client {
    Host(Box<Host>),
    Phone(Box<Phone>),
}

impl Client {
    pub(crate) fn on(&mut self, news: News, desk: &mut Desk<'_>) {
        match self {
            Self::Host(host) => host.on(news, desk),
            Self::Phone(phone) => phone.on(news, desk),
        }
    }

    /// Whether it has opened its page.
    pub(crate) fn is_here(&self) -> bool {
        match self {
            Self::Host(_) => true,
            Self::Phone(phone) => phone.is_here(),
        }
    }

    /// Whether it has nothing to do any more: the game is over, or it was told that it is lost.
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Self::Host(host) => host.is_done(),
            Self::Phone(phone) => phone.is_done(),
        }
    }
}
