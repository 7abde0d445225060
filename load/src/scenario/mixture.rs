//! The calls of a school day: game servers', sign-ins, edits and reads, most of them somebody who looks at a
//! dashboard.
//!
//! What is urgent is rare: at ten times the ceiling it is still less than the API can do, as it is where classes do not come by the
//! thousand a second. `/plans` is not among the calls: it is a constant, needs no admission, and would count as goodput.

use std::rc::Rc;

use super::ScenarioError;
use super::batch::batch;
use super::demand::{Dish, Menu, PhaseTally, Tally};
use super::staff::{Member, Site, json, past_game};
use crate::client::Response;
use crate::client::calls::{Calls, Heard};
use crate::plan::Draw;
use crate::sys::{clock, index, small};
use crate::wire::{self, PlanCheck};

/// Classes of calls, the most urgent first.
pub(super) const CLASSES: [&str; 4] = ["P0", "P1", "P2", "P3"];

/// A kind of calls.
struct Kind {
    name: &'static str,
    class: &'static str,
    /// Of a thousand calls.
    weight: u64,
    /// The status of its answer.
    status: u16,
}

const fn kind(name: &'static str, class: &'static str, weight: u64, status: u16) -> Kind {
    Kind {
        name,
        class,
        weight,
        status,
    }
}

const PLAN_CHECK: u32 = 0;
const RESULT: u32 = 1;
const LOGIN: u32 = 2;
const REFRESH: u32 = 3;
const READ_QUIZ: u32 = 4;
const CHANGE_QUIZ: u32 = 5;
/// The first of those that only read.
const ME: u32 = 6;

/// All kinds, by the numbers above; from [`ME`] on with the paths that follow.
const KINDS: [Kind; 10] = [
    kind("plan check", "P0", 14, 200),
    kind("result", "P0", 6, 204),
    // Each costs 20 ms of a core, so that more of them would measure hashing.
    kind("login", "P1", 2, 200),
    kind("refresh", "P1", 18, 200),
    kind("read a quiz", "P2", 60, 200),
    kind("change a quiz", "P2", 40, 200),
    kind("/users/me", "P3", 260, 200),
    kind("/quiz-usage/dashboard", "P3", 200, 200),
    kind("/quiz-usage/history", "P3", 200, 200),
    kind("/quizzes", "P3", 200, 200),
];
const READS: [&str; 4] = [
    "/users/me",
    "/quiz-usage/dashboard?days=30",
    "/quiz-usage/history?days=30",
    "/quizzes",
];
/// Sum of all weights.
const WEIGHTS: u64 = 1_000;

/// A quiz that is edited by one client at a time.
struct Edited {
    owner: u32,
    id: String,
    version: u32,
    /// A change of it is on its way.
    is_busy: bool,
    /// What became of the last change is not known, so that the next one may come too late.
    is_unsure: bool,
}

/// A result that was sent.
#[derive(Debug, Clone, Copy)]
struct Sent {
    owner: u32,
    ended_ms: u64,
    is_saved: bool,
}

/// A browser's session.
struct Session {
    cookie: String,
    is_busy: bool,
    is_unsure: bool,
}

/// The menu.
pub(super) struct Mixture {
    site: Site,
    staff: Vec<Member>,
    quizzes: Vec<Edited>,
    sessions: Vec<Session>,
    /// Requests that only read, by teacher and path.
    reads: Vec<[Rc<[u8]>; 4]>,
    document: Vec<u8>,
    draw: Draw,
    /// Results that were sent: of whose game, when it ended, and whether it was said to be saved.
    results: Vec<Sent>,
    /// Where the search for a quiz, or a session, that nobody uses goes on.
    turn: u32,
}

impl Mixture {
    /// Calls of `staff` to `site`.
    pub(super) fn new(site: Site, staff: Vec<Member>, seed: u64) -> Self {
        let quizzes = (0..).zip(&staff).flat_map(|(owner, member)| {
            member.quizzes.iter().map(move |id| Edited {
                owner,
                id: id.clone(),
                version: 1,
                is_busy: false,
                is_unsure: false,
            })
        });
        let session = |member: &Member| Session {
            cookie: member.cookie.clone(),
            is_busy: false,
            is_unsure: false,
        };
        let reads =
            |member: &Member| READS.map(|path| site.request("GET", path, Some(&member.token), "", b""));
        Self {
            quizzes: quizzes.collect(),
            sessions: staff.iter().map(session).collect(),
            reads: staff.iter().map(reads).collect(),
            document: json(&wire::reference_document(5)),
            draw: Draw::new(seed),
            results: Vec::new(),
            turn: 0,
            site,
            staff,
        }
    }

    fn dish(&self, kind: u32, about: u32, request: Rc<[u8]>) -> Dish {
        let way = match kind {
            PLAN_CHECK | RESULT => self.site.internal,
            _ => self.site.public,
        };
        Dish {
            kind,
            way,
            about,
            request,
        }
    }

    fn member(&self, number: u32) -> Option<&Member> {
        self.staff.get(index(number))
    }

    fn token(&self, number: u32) -> Option<&str> {
        self.member(number).map(|member| member.token.as_str())
    }

    fn read(&self, kind: u32, owner: u32) -> Dish {
        let paths = self.reads.get(index(owner));
        let request = paths.and_then(|paths| paths.get(index(kind - ME)));
        self.dish(kind, owner, request.cloned().unwrap_or_default())
    }

    fn plan_check(&self, owner: u32) -> Dish {
        let body = self.member(owner).map_or_else(Vec::new, |member| {
            json(&PlanCheck {
                teacher: &member.id,
                quiz: member.quizzes.first().map_or("", String::as_str),
            })
        });
        let request = self.site.internal_request("/internal/plan-check", &body);
        self.dish(PLAN_CHECK, owner, request)
    }

    fn result(&mut self, owner: u32) -> Dish {
        let number = small(self.results.len());
        self.results.push(Sent {
            owner,
            ended_ms: clock::unix_ms(),
            is_saved: false,
        });
        self.dish(RESULT, number, self.result_request(number))
    }

    /// The request that saves result `number`, the same whenever it is made.
    fn result_request(&self, number: u32) -> Rc<[u8]> {
        let sent = self.results.get(index(number));
        let body = sent.and_then(|sent| {
            let member = self.member(sent.owner)?;
            // Beyond all games of the past.
            let key = (sent.owner, u32::MAX - number);
            Some(json(&past_game(member, key, sent.ended_ms, &self.draw)))
        });
        self.site
            .internal_request("/internal/results", &body.unwrap_or_default())
    }

    /// Sends again every result that was not said to be saved, as game servers do until it is; how many there were.
    ///
    /// # Errors
    /// One is refused for good.
    pub(super) fn save_the_rest(&mut self, calls: &mut Calls) -> Result<u32, ScenarioError> {
        let unsaved = (0..).zip(&self.results).filter(|(_, sent)| !sent.is_saved);
        let unsaved: Vec<u32> = unsaved.map(|(number, _)| number).collect();
        let number = small(unsaved.len());
        let way = self.site.internal;
        let mut make = |n: u32| {
            let number = unsaved.get(index(n)).copied().unwrap_or_default();
            (way, self.result_request(number))
        };
        batch(
            calls,
            "POST /internal/results",
            number,
            4,
            &mut make,
            &mut |_, _| Ok(()),
        )?;
        Ok(number)
    }

    /// Games of each teacher that must be counted now, those of the past included, by a dashboard of 30 days.
    pub(super) fn games(&self) -> Vec<u64> {
        let mut games: Vec<u64> = self.staff.iter().map(|member| u64::from(member.recent)).collect();
        for sent in &self.results {
            if let Some(games) = games.get_mut(index(sent.owner)) {
                *games += 1;
            }
        }
        games
    }

    /// Results that were sent.
    pub(super) fn results(&self) -> u64 {
        crate::sys::count(self.results.len())
    }

    /// Whose pages these are, and where.
    pub(super) fn staff(&self) -> (&Site, &[Member]) {
        (&self.site, &self.staff)
    }

    fn login(&self, owner: u32) -> Dish {
        let body = self.member(owner).map_or_else(Vec::new, Member::login);
        let request = self.site.request("POST", "/auth/login", None, "", &body);
        self.dish(LOGIN, owner, request)
    }

    /// The next that nobody uses of `len` things; none when all are in use.
    fn next_free(&mut self, len: usize, is_free: impl Fn(&Self, usize) -> bool) -> Option<usize> {
        for _one in 0..len {
            self.turn = self.turn.wrapping_add(1);
            let place = index(self.turn) % len;
            if is_free(self, place) {
                return Some(place);
            }
        }
        None
    }

    fn refresh(&mut self) -> Option<Dish> {
        let is_free = |own: &Self, place: usize| own.sessions.get(place).is_some_and(|s| !s.is_busy);
        let place = self.next_free(self.sessions.len(), is_free)?;
        let session = self.sessions.get_mut(place)?;
        session.is_busy = true;
        let cookie = format!("Cookie: {}\r\n", session.cookie);
        let request = self.site.request("POST", "/auth/refresh", None, &cookie, b"");
        Some(self.dish(REFRESH, small(place), request))
    }

    fn change(&mut self) -> Option<Dish> {
        let is_free = |own: &Self, place: usize| own.quizzes.get(place).is_some_and(|q| !q.is_busy);
        let place = self.next_free(self.quizzes.len(), is_free)?;
        let quiz = self.quizzes.get_mut(place)?;
        quiz.is_busy = true;
        let (path, more) = (
            format!("/quizzes/{}", quiz.id),
            format!("If-Match: \"{}\"\r\n", quiz.version),
        );
        let owner = quiz.owner;
        let request = self
            .site
            .request("PUT", &path, self.token(owner), &more, &self.document);
        Some(self.dish(CHANGE_QUIZ, small(place), request))
    }

    fn read_quiz(&self, bits: u64) -> Option<Dish> {
        let place = usize::try_from(bits % crate::sys::count(self.quizzes.len()).max(1)).unwrap_or(0);
        let quiz = self.quizzes.get(place)?;
        let path = format!("/quizzes/{}", quiz.id);
        let request = self.site.request("GET", &path, self.token(quiz.owner), "", b"");
        Some(self.dish(READ_QUIZ, small(place), request))
    }

    /// A session's refresh has come to its end; whether its answer is one that may come.
    fn took_refresh(&mut self, about: u32, heard: &Heard<'_>) -> bool {
        let Some(session) = self.sessions.get_mut(index(about)) else {
            return false;
        };
        session.is_busy = false;
        let may_be_stored = heard.answer.is_err() || heard.status() == 503;
        let was_unsure = std::mem::replace(&mut session.is_unsure, may_be_stored);
        if let Ok(answer) = &heard.answer
            && answer.status == 200
            && let Some(cookie) = answer.cookie
        {
            cookie.clone_into(&mut session.cookie);
        }
        // One whose successor was lost on the way is ended when it comes back late.
        let is_ended = was_unsure && heard.status() == 401;
        if is_ended {
            session.is_busy = true;
        }
        is_ended
    }

    fn took_result(&mut self, about: u32, heard: &Heard<'_>) -> bool {
        if let Some(sent) = self.results.get_mut(index(about)) {
            sent.is_saved = heard.status() == 204;
        }
        false
    }

    fn took_change(&mut self, about: u32, heard: &Heard<'_>) -> bool {
        let Some(quiz) = self.quizzes.get_mut(index(about)) else {
            return false;
        };
        quiz.is_busy = false;
        let status = heard.status();
        // A change whose connection to the database broke may be stored all the same.
        let may_be_stored = heard.answer.is_err() || status == 503;
        let was_unsure = std::mem::replace(&mut quiz.is_unsure, may_be_stored);
        let is_stale = was_unsure && status == 412;
        quiz.version += u32::from(status == 200 || is_stale);
        is_stale
    }
}

impl Menu for Mixture {
    fn kinds(&self) -> usize {
        KINDS.len()
    }

    fn choose(&mut self, bits: u64) -> Dish {
        let mut point = bits % WEIGHTS;
        let bits = bits / WEIGHTS;
        let owner = small(usize::try_from(bits % crate::sys::count(self.staff.len()).max(1)).unwrap_or(0));
        let mut chosen = ME;
        for (number, kind) in (0..).zip(&KINDS) {
            if point < kind.weight {
                chosen = number;
                break;
            }
            point -= kind.weight;
        }
        let dish = match chosen {
            PLAN_CHECK => Some(self.plan_check(owner)),
            RESULT => Some(self.result(owner)),
            LOGIN => Some(self.login(owner)),
            REFRESH => self.refresh(),
            READ_QUIZ => self.read_quiz(bits),
            CHANGE_QUIZ => self.change(),
            read => Some(self.read(read, owner)),
        };
        // All sessions, or all quizzes, are in use: their callers look at something else meanwhile.
        dish.unwrap_or_else(|| self.read(ME, owner))
    }

    fn took(&mut self, kind: u32, about: u32, heard: &Heard<'_>) -> Result<(), String> {
        let may_be = match kind {
            REFRESH => self.took_refresh(about, heard),
            CHANGE_QUIZ => self.took_change(about, heard),
            RESULT => self.took_result(about, heard),
            _ => false,
        };
        let Some(expected) = KINDS.get(index(kind)) else {
            return Err("a call of no kind".to_owned());
        };
        match &heard.answer {
            Ok(answer) if answer.status == expected.status || may_be => Ok(()),
            Ok(answer) => {
                let body = answer.body.to_vec();
                let response = Response {
                    status: answer.status,
                    body,
                };
                Err(response.refusal(expected.name.to_owned()).to_string())
            }
            Err(_) => Err("no answer".to_owned()),
        }
    }
}

/// All calls of a class in a phase.
pub(super) fn of_class(phase: &PhaseTally, class: &str) -> Tally {
    let mut all = Tally::default();
    for (kind, tally) in KINDS.iter().zip(&phase.kinds) {
        if kind.class == class {
            all.add(tally);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_of_a_thousand_and_the_urgent_is_rare() {
        assert_eq!(KINDS.iter().map(|kind| kind.weight).sum::<u64>(), WEIGHTS);
        assert_eq!(KINDS.len() - index(ME), READS.len());
        let urgent = KINDS.iter().filter(|kind| kind.class < "P2");
        let urgent: u64 = urgent.map(|kind| kind.weight).sum();
        assert!(
            urgent * 10 < WEIGHTS / 2,
            "at ten times the ceiling less than half of it"
        );
    }
}
