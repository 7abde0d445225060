//! The teachers of a run against the API: accounts, quizzes and games of the past, made by the calls that pages and game servers make.

use std::rc::Rc;

use super::ScenarioError;
use super::batch::batch;
use crate::client::calls::{Answer, Calls, request};
use crate::plan::{Draw, Subject};
use crate::report::Console;
use crate::sys::{clock, count, index, small};
use crate::wire::{
    self, Login, PlayedAnswer, PlayedBy, PlayedGame, PlayedQuestion, QuizVersion, Register, ServiceSigner,
    Settings, SignedIn,
};

/// Accounts made at once: two passwords are hashed at the same time, and two wait.
const ACCOUNTS_AT_ONCE: u32 = 4;
/// Other calls at once.
const AT_ONCE: u32 = 8;
/// Games of the past lie within so many days, half of them within what a dashboard looks at.
const PAST_DAYS: u32 = 60;
/// Days that a dashboard looks at.
const RECENT_DAYS: u32 = 30;
/// A day, in milliseconds.
pub(super) const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// Players and questions of a game of the past: what its counts are of. A dashboard counts games, and reads no answers.
const PAST_PLAYERS: u32 = 6;
const PAST_QUESTIONS: u16 = 3;
const PASSWORD: &str = "a long enough password for a load test";

/// A teacher who is signed in.
#[derive(Debug, Clone)]
pub(super) struct Member {
    email: String,
    /// The account.
    pub(super) id: String,
    /// Access token.
    pub(super) token: String,
    /// The cookie that refreshes it.
    pub(super) cookie: String,
    /// Stored quizzes.
    pub(super) quizzes: Vec<String>,
    /// Games whose results were saved.
    pub(super) games: u32,
    /// Those of them that a dashboard of [`RECENT_DAYS`] counts on the day on which they were saved.
    pub(super) recent: u32,
    /// That day, in days since 1970.
    pub(super) day: u64,
}

/// How many of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Teachers.
    pub(super) teachers: u32,
    /// Quizzes of each.
    pub(super) quizzes: u32,
    /// Questions of a quiz.
    pub(super) questions: u16,
    /// Games of each, at least and at most.
    pub(super) games: (u32, u32),
}

/// Where the calls go.
#[derive(Debug, Clone)]
pub(super) struct Site {
    /// Number of the way to the API for clients.
    pub(super) public: u32,
    /// Number of the way to it for game servers.
    pub(super) internal: u32,
    /// The host of the first.
    pub(super) host: String,
    /// The host of the second.
    pub(super) internal_host: String,
    /// Before the paths of the first.
    pub(super) prefix: String,
    /// Signs the calls of game servers.
    pub(super) signer: ServiceSigner,
}

impl Site {
    /// A request of a client.
    pub(super) fn request(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        more: &str,
        body: &[u8],
    ) -> Rc<[u8]> {
        let path = format!("{}{path}", self.prefix);
        request(method, &path, &self.host, token, more, body)
    }

    /// A request of a game server.
    pub(super) fn internal_request(&self, path: &str, body: &[u8]) -> Rc<[u8]> {
        let token = self.signer.token(clock::unix_ms() / 1_000).unwrap_or_default();
        request("POST", path, &self.internal_host, Some(&token), "", body)
    }
}

/// JSON of what always can be written.
pub(super) fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn read<'a, T: serde::Deserialize<'a>>(answer: &Answer<'a>) -> Result<T, String> {
    serde_json::from_slice(answer.body).map_err(|error| error.to_string())
}

/// Registers teachers, stores their quizzes and saves the results of their games.
///
/// # Errors
/// A call failed or was refused.
pub(super) fn hire(
    calls: &mut Calls,
    site: &Site,
    size: Size,
    seed: u64,
    console: &mut Console,
) -> Result<Vec<Member>, ScenarioError> {
    console.progress(&format!("registering {} teachers", size.teachers));
    let mut staff = register(calls, site, size.teachers)?;
    console.progress(&format!("storing {} quizzes", size.teachers * size.quizzes));
    store_quizzes(calls, site, size, &mut staff)?;
    play_the_past(calls, site, size, seed, &mut staff, console)?;
    Ok(staff)
}

fn register(calls: &mut Calls, site: &Site, teachers: u32) -> Result<Vec<Member>, ScenarioError> {
    // Accounts outlive a run, so their names carry its time and process.
    let run = format!("{}-{}", clock::unix_ms(), std::process::id());
    let email = |number: u32| format!("staff-{run}-{number}@example.org");
    let mut made: Vec<Option<Member>> = vec![None; index(teachers)];
    batch(
        calls,
        "POST /auth/register",
        teachers,
        ACCOUNTS_AT_ONCE,
        &mut |number| {
            let body = json(&Register {
                email: &email(number),
                password: PASSWORD,
                name: "Load Teacher",
            });
            (
                site.public,
                site.request("POST", "/auth/register", None, "", &body),
            )
        },
        &mut |number, answer| {
            let session: SignedIn = read(answer)?;
            if let Some(place) = made.get_mut(index(number)) {
                *place = Some(Member {
                    email: email(number),
                    id: session.user.id,
                    token: session.access_token,
                    cookie: answer.cookie.unwrap_or_default().to_owned(),
                    quizzes: Vec::new(),
                    games: 0,
                    recent: 0,
                    day: 0,
                });
            }
            Ok(())
        },
    )?;
    Ok(made.into_iter().flatten().collect())
}

/// Signs everybody in again: a long preparation outlives an access token.
///
/// # Errors
/// A call failed or was refused.
pub(super) fn sign_in_again(
    calls: &mut Calls,
    site: &Site,
    staff: &mut [Member],
) -> Result<(), ScenarioError> {
    let bodies: Vec<Vec<u8>> = staff.iter().map(Member::login).collect();
    batch(
        calls,
        "POST /auth/login",
        small(staff.len()),
        ACCOUNTS_AT_ONCE,
        &mut |number| {
            let body = bodies.get(index(number)).map_or(&[][..], Vec::as_slice);
            (site.public, site.request("POST", "/auth/login", None, "", body))
        },
        &mut |number, answer| {
            let session: SignedIn = read(answer)?;
            if let Some(member) = staff.get_mut(index(number)) {
                member.token = session.access_token;
                member.cookie = answer.cookie.unwrap_or_default().to_owned();
            }
            Ok(())
        },
    )
}

impl Member {
    /// The body of a sign-in.
    pub(super) fn login(&self) -> Vec<u8> {
        json(&Login {
            email: &self.email,
            password: PASSWORD,
        })
    }
}

fn store_quizzes(
    calls: &mut Calls,
    site: &Site,
    size: Size,
    staff: &mut [Member],
) -> Result<(), ScenarioError> {
    let body = json(&wire::reference_document(size.questions));
    let tokens: Vec<String> = staff.iter().map(|member| member.token.clone()).collect();
    let teacher = |number: u32| index(number / size.quizzes.max(1));
    batch(
        calls,
        "POST /quizzes",
        small(staff.len()) * size.quizzes,
        AT_ONCE,
        &mut |number| {
            let token = tokens.get(teacher(number)).map(String::as_str);
            (site.public, site.request("POST", "/quizzes", token, "", &body))
        },
        &mut |number, answer| {
            let quiz: QuizVersion = read(answer)?;
            if let Some(member) = staff.get_mut(teacher(number)) {
                member.quizzes.push(quiz.id);
            }
            Ok(())
        },
    )
}

fn play_the_past(
    calls: &mut Calls,
    site: &Site,
    size: Size,
    seed: u64,
    staff: &mut [Member],
    console: &mut Console,
) -> Result<(), ScenarioError> {
    let draw = Draw::new(seed);
    let (least, most) = size.games;
    let now_ms = clock::unix_ms();
    let days_ago = |owner, game| draw.between((Subject::Past, owner, game, 1), 0, PAST_DAYS - 1);
    let mut owners = Vec::new();
    for (number, member) in (0..).zip(staff.iter_mut()) {
        member.games = draw.between((Subject::Past, number, 0, 0), least, most);
        owners.extend((0..member.games).map(|game| (number, game)));
        let recent = (0..member.games).filter(|&game| days_ago(number, game) < RECENT_DAYS);
        member.recent = small(recent.count());
        member.day = now_ms / DAY_MS;
    }
    console.progress(&format!("saving the results of {} games", owners.len()));
    batch(
        calls,
        "POST /internal/results",
        small(owners.len()),
        AT_ONCE,
        &mut |number| {
            let (owner, game) = owners.get(index(number)).copied().unwrap_or_default();
            let body = staff.get(index(owner)).map_or_else(Vec::new, |member| {
                let ended_ms = now_ms.saturating_sub(u64::from(days_ago(owner, game)) * DAY_MS);
                json(&past_game(member, (owner, game), ended_ms, &draw))
            });
            (site.internal, site.internal_request("/internal/results", &body))
        },
        &mut |_, _| Ok(()),
    )
}

/// A game of `member` that ended at `ended_ms`; `key` makes it another one than others of this run.
pub(super) fn past_game<'a>(
    member: &'a Member,
    key: (u32, u32),
    ended_ms: u64,
    draw: &Draw,
) -> PlayedGame<'a> {
    let (owner, game) = key;
    let quizzes = count(member.quizzes.len()).max(1);
    let bits = |n: u32| draw.bits(Subject::Past, owner, game, n);
    let quiz = usize::try_from(bits(2) % quizzes).unwrap_or(0);
    let stamp = ended_ms ^ u64::from(std::process::id()) << 44;
    let id = [bits(3) ^ stamp, bits(4)];
    let alphabet = small(wire::CODE_ALPHABET.len());
    let symbol = |n: u32| draw.between((Subject::Past, owner, game, 10 + n), 0, alphabet - 1);
    PlayedGame {
        game: uuid(id),
        code: wire::code([symbol(0), symbol(1), symbol(2), symbol(3), symbol(4), symbol(5)]),
        teacher: &member.id,
        quiz_id: member.quizzes.get(quiz).map_or("", String::as_str),
        settings: Settings::default(),
        quiz: wire::reference_document(PAST_QUESTIONS),
        created_ms: ended_ms.saturating_sub(600_000),
        ended_ms,
        questions: (1..=PAST_QUESTIONS)
            .map(|q| PlayedQuestion { q, skipped: false })
            .collect(),
        players: (1..=PAST_PLAYERS).map(past_player).collect(),
    }
}

/// Everybody answers; the first half is right, and all of them are as fast as each other.
fn past_player(id: u32) -> PlayedBy {
    let is_right = id <= PAST_PLAYERS / 2;
    let points = if is_right { 900 } else { 0 };
    let answer = |q: u16| PlayedAnswer {
        q,
        choices: [if is_right {
            crate::plan::reference_correct(q)
        } else {
            (crate::plan::reference_correct(q) + 1) % 4
        }],
        elapsed_ms: 4_000,
        correct: is_right,
        points,
    };
    PlayedBy {
        id,
        name: format!("Student {id}"),
        rank: if is_right { 1 } else { PAST_PLAYERS / 2 + 1 },
        total: points * u32::from(PAST_QUESTIONS),
        answers: (1..=PAST_QUESTIONS).map(answer).collect(),
    }
}

/// Random bits as an id.
fn uuid([high, low]: [u64; 2]) -> String {
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_shape_of_ids_and_games_differ() {
        assert_eq!(
            uuid([0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]),
            "01234567-89ab-4def-8fed-ba9876543210"
        );
        let member = Member {
            email: String::new(),
            id: "t".to_owned(),
            token: String::new(),
            cookie: String::new(),
            quizzes: vec!["a".to_owned(), "b".to_owned()],
            games: 0,
            recent: 0,
            day: 0,
        };
        let draw = Draw::new(1);
        let (one, other) = (
            past_game(&member, (0, 0), 1, &draw),
            past_game(&member, (0, 1), 1, &draw),
        );
        assert_ne!(one.game, other.game);
        assert_eq!(one.players.len(), 6);
        let json = serde_json::to_string(&one).expect("plain data");
        assert!(json.contains(r#""settings":{}"#), "{json}");
    }
}
