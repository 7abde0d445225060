//! Whom a proxy asks for one request, one after another: whoever is remembered, then placement's order; a hint is followed twice at
//! most, and who gave one that leads nowhere is asked once more.

use std::collections::VecDeque;

/// Hints that are followed for one request (durability.md, rule 12).
pub(super) const FOLLOWS_MAX: usize = 2;

/// The servers still to be asked.
#[derive(Debug)]
pub(super) struct Course {
    next: VecDeque<usize>,
    follows: usize,
    /// Who is asked because of a hint, and who gave it.
    hint: Option<(usize, usize)>,
    /// Those that could not be reached.
    pub(super) unreachable: Vec<usize>,
}

impl Course {
    pub(super) fn new(remembered: Option<usize>, ordered: Vec<usize>) -> Self {
        let others = ordered.into_iter().filter(|server| Some(*server) != remembered);
        Self {
            next: remembered.into_iter().chain(others).collect(),
            follows: 0,
            hint: None,
            unreachable: Vec::new(),
        }
    }

    pub(super) fn ask(&mut self) -> Option<usize> {
        self.next.pop_front()
    }

    /// `from` says that `owner` has the game; whether that is followed.
    pub(super) fn follow(&mut self, from: usize, owner: usize) -> bool {
        if self.follows == FOLLOWS_MAX || from == owner || self.unreachable.contains(&owner) {
            return false;
        }
        self.follows += 1;
        self.next.retain(|server| *server != owner);
        self.next.push_front(owner);
        self.hint = Some((owner, from));
        true
    }

    pub(super) fn unreachable(&mut self, server: usize) {
        self.unreachable.push(server);
        if let Some((owner, from)) = self.hint.take()
            && owner == server
        {
            self.next.push_front(from);
        }
    }
}
