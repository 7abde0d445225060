//! The proxy's stand-in: the order in which servers are asked, and which of them are remembered.
//!
//! It follows the rules that the real one follows, over the real placement; sockets and time are the world's. A round robin, as other
//! gateways have it, knows nothing of owners: servers pass connections on themselves.

mod course;

use std::collections::BTreeMap;

use protocol::ids::GameCode;
use protocol::{placement, routing};

use crate::Millis;
use crate::mutation::Mutation;
use course::{Course, FOLLOWS_MAX};

/// Time after which no further server is asked.
const SEARCH_MS: Millis = 6_000;

/// What stands before the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Front {
    /// Nothing: clients reach the only server.
    None,
    /// Our proxy.
    Follows,
    /// Servers in turn, whatever the game.
    RoundRobin,
}

/// The proxy.
#[derive(Debug)]
pub(crate) struct Proxy {
    front: Front,
    owners: BTreeMap<GameCode, usize>,
    mutation: Option<Mutation>,
    /// Requests so far.
    turns: usize,
}

/// The search for the server of one request.
#[derive(Debug)]
pub(crate) struct Search {
    code: GameCode,
    course: Course,
    /// Whom placement would ask.
    first: Option<usize>,
    until: Millis,
    /// Servers asked so far, so that answers to an attempt before this one are known.
    pub(crate) attempt: u64,
    /// Who is being asked.
    pub(crate) server: usize,
    members: usize,
}

/// What an answer means to a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is for the client.
    Settled,
    /// Another server is to be asked.
    Next,
    /// The game is moving: the client is to come back.
    Moving,
}

impl Search {
    /// More servers than the rules allow to ask for one request: each once, two hints, and who gave them once more.
    pub(crate) fn asks_too_many(&self) -> bool {
        let asked = usize::try_from(self.attempt).unwrap_or(usize::MAX);
        asked > self.members + 2 * FOLLOWS_MAX + 1
    }
}

impl Proxy {
    pub(crate) fn new(front: Front, mutation: Option<Mutation>) -> Self {
        Self {
            front,
            owners: BTreeMap::new(),
            mutation,
            turns: 0,
        }
    }

    pub(crate) fn front(&self) -> Front {
        self.front
    }

    /// Begins a search among `members`, numbers and names.
    /// A proxy that is confused asks in the wrong order, and remembers nobody.
    pub(crate) fn search(
        &mut self,
        now: Millis,
        code: GameCode,
        members: &[(usize, String)],
        is_confused: bool,
    ) -> Search {
        let numbers = |order: Vec<usize>| -> Vec<usize> {
            let members = order.into_iter().filter_map(|at| members.get(at));
            members.map(|(number, _)| *number).collect()
        };
        let names: Vec<&str> = members.iter().map(|(_, name)| name.as_str()).collect();
        let (remembered, mut ordered) = match self.front {
            Front::None | Front::RoundRobin => {
                self.turns += 1;
                let count = members.len().max(1);
                (
                    None,
                    numbers((0..count).map(|at| (at + self.turns) % count).collect()),
                )
            }
            Front::Follows => {
                let mut ordered = numbers(placement::order(&names, code.as_str()));
                if is_confused {
                    ordered.reverse();
                    self.owners.remove(&code);
                }
                (self.owners.get(&code).copied(), ordered)
            }
        };
        let first = ordered.first().copied();
        if self.mutation == Some(Mutation::RemembersTheDead) && remembered.is_some() {
            ordered.clear();
        }
        Search {
            code,
            course: Course::new(remembered, ordered),
            first,
            until: now + SEARCH_MS,
            attempt: 0,
            server: 0,
            members: members.len(),
        }
    }

    /// Whom to ask next; none when all were asked, or it takes too long.
    pub(crate) fn next(&self, now: Millis, search: &mut Search) -> Option<usize> {
        if now >= search.until {
            return None;
        }
        search.server = search.course.ask()?;
        search.attempt += 1;
        Some(search.server)
    }

    /// The lines of headers that the proxy adds.
    pub(crate) fn headers(&self, search: &Search, name: impl Fn(usize) -> String) -> String {
        if self.front != Front::Follows {
            return String::new();
        }
        let unreachable: Vec<String> = search.course.unreachable.iter().map(|at| name(*at)).collect();
        let follows = format!("{}: 1\r\n", routing::FOLLOWS_OWNER);
        if unreachable.is_empty() {
            return follows;
        }
        format!(
            "{follows}{}: {}\r\n",
            routing::UNREACHABLE,
            unreachable.join(", ")
        )
    }

    /// The server that is being asked could not be reached.
    pub(crate) fn unreachable(&mut self, search: &mut Search) {
        if self.mutation != Some(Mutation::RemembersTheDead) {
            self.owners.remove(&search.code);
        }
        search.course.unreachable(search.server);
    }

    /// Takes an answer. `owner` is the server that a 421 names.
    pub(crate) fn settles(&mut self, search: &mut Search, status: u16, owner: Option<usize>) -> Verdict {
        if status != 421 || self.front != Front::Follows {
            let is_accepted = status == 101 || (200..300).contains(&status);
            if is_accepted && search.first != Some(search.server) {
                self.owners.insert(search.code, search.server);
            }
            return Verdict::Settled;
        }
        self.owners.remove(&search.code);
        let Some(owner) = owner else {
            return Verdict::Moving;
        };
        if search.course.follow(search.server, owner) {
            return Verdict::Next;
        }
        if self.mutation == Some(Mutation::NoHopLimit) {
            search.course = Course::new(Some(owner), Vec::new());
            return Verdict::Next;
        }
        Verdict::Moving
    }
}
