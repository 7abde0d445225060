//! The order in which servers are asked for one request about a game: a pure decision, without time or sockets.
//!
//! First whoever held the game last, as far as is remembered; then rendezvous order. A server that says who the owner is (421) is
//! followed, at most twice. When the owner it named cannot be reached, or is not known here, that server is asked once more and told so: it
//! may claim the game now, or pass the request on itself.

use std::collections::VecDeque;

/// How often 421 is followed (durability.md, rule 12): once because a game is not where it would be placed, once more because it
/// has just moved.
pub const FOLLOWS_MAX: u32 = 2;

/// The servers that are still to be asked.
#[derive(Debug, Clone)]
pub struct Course<T> {
    queue: VecDeque<T>,
    follows: u32,
    /// Who is being asked because another one said so, and that other one.
    pointed: Option<(T, T)>,
    unreachable: Vec<T>,
}

impl<T: Clone + PartialEq> Course<T> {
    /// `remembered` first, then `ordered`.
    #[must_use]
    pub fn new(remembered: Option<T>, ordered: Vec<T>) -> Self {
        let mut queue = VecDeque::from(ordered);
        if let Some(owner) = remembered {
            queue.retain(|server| *server != owner);
            queue.push_front(owner);
        }
        Self {
            queue,
            follows: 0,
            pointed: None,
            unreachable: Vec::new(),
        }
    }

    /// Whom to ask next.
    pub fn ask(&mut self) -> Option<T> {
        self.queue.pop_front()
    }

    /// `from` has said that `owner` holds the game. Whether that is followed.
    pub fn follow(&mut self, from: T, owner: T) -> bool {
        if self.follows >= FOLLOWS_MAX || from == owner || self.unreachable.contains(&owner) {
            return false;
        }
        self.follows += 1;
        self.queue.retain(|server| *server != owner);
        self.queue.push_front(owner.clone());
        self.pointed = Some((owner, from));
        true
    }

    /// `from` has named an owner that is not known here. Whether it is asked again, to be told so; that counts as one that was followed.
    pub fn unknown(&mut self, from: T) -> bool {
        if self.follows >= FOLLOWS_MAX {
            return false;
        }
        self.follows += 1;
        self.queue.push_front(from);
        self.pointed = None;
        true
    }

    /// Those that could not be reached for this request.
    #[must_use]
    pub fn were_unreachable(&self) -> &[T] {
        &self.unreachable
    }

    /// `server` could not be reached.
    pub fn unreachable(&mut self, server: &T) {
        self.unreachable.push(server.clone());
        if let Some((owner, from)) = self.pointed.take()
            && owner == *server
        {
            self.queue.push_front(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_connections_go_on_in_order_and_end() {
        let mut course = Course::new(None, vec!["a", "b", "c"]);
        for expected in ["a", "b", "c"] {
            assert_eq!(course.ask(), Some(expected));
            course.unreachable(&expected);
        }
        assert_eq!(course.ask(), None);
    }

    #[test]
    fn whoever_held_it_last_is_asked_first_and_once() {
        let mut course = Course::new(Some("b"), vec!["a", "b"]);
        assert_eq!(
            (course.ask(), course.ask(), course.ask()),
            (Some("b"), Some("a"), None)
        );
        let mut gone = Course::new(Some("z"), vec!["a"]);
        assert_eq!((gone.ask(), gone.ask()), (Some("z"), Some("a")));
    }

    #[test]
    fn two_hints_are_followed_and_no_third() {
        let mut course = Course::new(None, vec!["a", "b", "c"]);
        assert_eq!(course.ask(), Some("a"));
        assert!(course.follow("a", "c"));
        assert_eq!(course.ask(), Some("c"));
        assert!(course.follow("c", "a"));
        assert_eq!(course.ask(), Some("a"));
        assert!(!course.follow("a", "c"));
        let mut selfish = Course::new(None, vec!["a"]);
        assert_eq!(selfish.ask(), Some("a"));
        assert!(!selfish.follow("a", "a"));
    }

    #[test]
    fn when_the_owner_is_gone_the_one_who_named_it_is_asked_again() {
        let mut course = Course::new(None, vec!["a", "b", "c"]);
        assert_eq!(course.ask(), Some("a"));
        assert!(course.follow("a", "c"));
        assert_eq!(course.ask(), Some("c"));
        course.unreachable(&"c");
        assert_eq!(course.ask(), Some("a"));
        assert_eq!(course.were_unreachable(), ["c"]);
        assert!(!course.follow("a", "c"), "it has been told");
        assert_eq!((course.ask(), course.ask()), (Some("b"), None));
    }

    /// Whatever the servers say, it ends.
    #[test]
    fn no_answers_keep_it_going() {
        let servers = ["a", "b", "c"];
        for script in 0..5_u32.pow(8) {
            let mut course = Course::new(None, servers.to_vec());
            let (mut digits, mut asked) = (script, 0);
            while let Some(server) = course.ask() {
                asked += 1;
                assert!(asked <= 7, "script {script}");
                let digit = usize::try_from(digits % 5).unwrap();
                digits /= 5;
                match servers.get(digit) {
                    Some(owner) => {
                        if !course.follow(server, owner) {
                            break;
                        }
                    }
                    None if digit == 3 => course.unreachable(&server),
                    None => {
                        if !course.unknown(server) {
                            break;
                        }
                    }
                }
            }
        }
    }
}
