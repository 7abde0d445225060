//! The calls of a teacher's pages, in the proportions in which they are made.

use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::client::Response;
use crate::client::calls::{Answer, Heard};
use crate::scenario::demand::{Dish, Menu};
use crate::scenario::staff::{DAY_MS, Member, Site};
use crate::sys::{clock, count, index, small};
use crate::wire::{Dashboard, History, Listed};

/// A route, and how many of a hundred calls are for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) path: &'static str,
    weight: u64,
}

/// The routes.
pub(super) const ROUTES: [Route; 5] = [
    Route {
        path: "/users/me",
        weight: 30,
    },
    Route {
        path: "/quiz-usage/dashboard?days=30",
        weight: 20,
    },
    Route {
        path: "/quiz-usage/history?days=30",
        weight: 20,
    },
    Route {
        path: "/quizzes",
        weight: 20,
    },
    Route {
        path: "/plans",
        weight: 10,
    },
];
/// Sum of all weights.
const WEIGHTS: u64 = 100;
/// One in so many answers is looked at; reading all of them would make the generator as dear as the server.
const LOOK_AT: u32 = 32;

/// The menu.
pub(super) struct Pages<'a> {
    way: u32,
    staff: &'a [Member],
    requests: Vec<[Rc<[u8]>; 5]>,
    quizzes: u32,
    answers: u32,
}

impl<'a> Pages<'a> {
    /// The pages of `staff`, each of whom has so many `quizzes`, at `site`.
    pub(super) fn new(site: &Site, staff: &'a [Member], quizzes: u32) -> Self {
        let of = |member: &Member| {
            ROUTES.map(|route| site.request("GET", route.path, Some(&member.token), "", b""))
        };
        Self {
            way: site.public,
            requests: staff.iter().map(of).collect(),
            staff,
            quizzes,
            answers: 0,
        }
    }

    /// Whether an answer says what was stored.
    fn look_at(&self, kind: u32, about: u32, answer: &Answer<'_>) -> Result<(), String> {
        let Some(member) = self.staff.get(index(about)) else {
            return Err("an answer for nobody".to_owned());
        };
        match kind {
            0 if String::from_utf8_lossy(answer.body).contains(&member.id) => Ok(()),
            0 => Err("/users/me tells of somebody else".to_owned()),
            1 => counted("dashboard", read::<Dashboard>(answer)?.games(), member),
            2 => counted("history", read::<History>(answer)?.games(), member),
            3 => {
                let listed = count(read::<Listed>(answer)?.items.len());
                let wanted = u64::from(self.quizzes);
                match listed == wanted {
                    true => Ok(()),
                    false => Err(format!("/quizzes lists {listed} of {wanted}")),
                }
            }
            _ => read::<Listed>(answer).map(drop),
        }
    }
}

fn read<T: DeserializeOwned>(answer: &Answer<'_>) -> Result<T, String> {
    serde_json::from_slice(answer.body).map_err(|error| error.to_string())
}

/// Whether all games that lie within the days are counted, as long as it is still the day on which they were saved.
fn counted(what: &str, games: u64, member: &Member) -> Result<(), String> {
    let is_another_day = clock::unix_ms() / DAY_MS != member.day;
    match is_another_day || games == u64::from(member.recent) {
        true => Ok(()),
        false => Err(format!("the {what} counts {games} games of {}", member.recent)),
    }
}

impl Menu for Pages<'_> {
    fn kinds(&self) -> usize {
        ROUTES.len()
    }

    fn choose(&mut self, bits: u64) -> Dish {
        let mut point = bits % WEIGHTS;
        let owner = (bits / WEIGHTS) % count(self.requests.len()).max(1);
        let about = small(usize::try_from(owner).unwrap_or(0));
        let mut kind = 0;
        for (number, route) in (0..).zip(&ROUTES) {
            kind = number;
            if point < route.weight {
                break;
            }
            point -= route.weight;
        }
        let requests = self.requests.get(index(about));
        let request = requests.and_then(|requests| requests.get(index(kind)));
        Dish {
            kind,
            way: self.way,
            about,
            request: request.cloned().unwrap_or_default(),
        }
    }

    fn took(&mut self, kind: u32, about: u32, heard: &Heard<'_>) -> Result<(), String> {
        let Ok(answer) = &heard.answer else {
            return Err("no answer".to_owned());
        };
        if answer.status != 200 {
            let response = Response {
                status: answer.status,
                body: answer.body.to_vec(),
            };
            let path = ROUTES.get(index(kind)).map_or("", |route| route.path);
            return Err(response.refusal(format!("GET {path}")).to_string());
        }
        self.answers = self.answers.wrapping_add(1);
        match self.answers % LOOK_AT {
            0 => self.look_at(kind, about, answer),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_of_a_hundred() {
        assert_eq!(ROUTES.iter().map(|route| route.weight).sum::<u64>(), WEIGHTS);
    }
}
