//! What an operator may choose about the API, and the bounds that nobody chooses.

use std::ops::RangeInclusive;
use std::time::Duration;

use ipnet::IpNet;

/// Settings of one API process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Whether people reach the site by https. The refresh cookie is `Secure` then; on a plain-HTTP school network a
    /// `Secure` cookie would never come back, and nobody could stay signed in.
    pub public_url_is_https: bool,
    /// Where the public address mounts this router, without a slash at the end: the cookie's path and the `Location`
    /// of new things begin with it.
    pub mount_prefix: String,
    /// Origins whose pages may use the refresh cookie, beside the address that a call itself was sent to. For a proxy that
    /// passes another `Host` on.
    pub origins: Vec<String>,
    /// Calls that may use the store at once: never more than it has connections, since they would only wait for one.
    pub permits: u32,
    /// Calls of one teacher in [`QUOTA_WINDOW`].
    pub teacher_requests_max: u32,
    /// Games that one teacher may start in [`QUOTA_WINDOW`].
    pub teacher_games_max: u32,
    /// Attempts to sign in or up from one address in [`QUOTA_WINDOW`].
    pub address_sign_ins_max: u32,
    /// Networks of proxies in front of this process, which are believed when they say whom a call comes from.
    pub trusted_proxies: Vec<IpNet>,
    /// For measurements only: every admitted call first keeps a connection of the store busy for this long, so that the capacity
    /// of a process is known. Zero, as it is unless something else is said, does nothing.
    pub call_delay: Duration,
}

impl Default for Config {
    /// Plain HTTP under `/store`: what `./run` serves on a machine that has no certificate.
    fn default() -> Self {
        Self {
            public_url_is_https: false,
            mount_prefix: "/store".to_owned(),
            origins: Vec::new(),
            permits: PERMITS_DEFAULT,
            teacher_requests_max: TEACHER_REQUESTS_MAX_DEFAULT,
            teacher_games_max: TEACHER_GAMES_MAX_DEFAULT,
            address_sign_ins_max: ADDRESS_SIGN_INS_MAX_DEFAULT,
            trusted_proxies: Vec::new(),
            call_delay: Duration::ZERO,
        }
    }
}

/// Permits over SQLite: its readers, and a few calls that take turns at writing.
pub const PERMITS_DEFAULT: u32 = 8;
/// Permits over so many connections to PostgreSQL: a fifth of them stays without one. A connection that comes back to its pool is first
/// asked whether it is well, which takes a round trip; without some to spare, the next statement of every call would wait for that.
#[must_use]
pub const fn permits_over(connections: u32) -> u32 {
    connections - connections / 5
}
/// Calls of one teacher in a minute unless something else is said: a page of ten calls every second.
pub const TEACHER_REQUESTS_MAX_DEFAULT: u32 = 600;
/// Games that one teacher may start in a minute unless something else is said: one every three seconds is no class.
pub const TEACHER_GAMES_MAX_DEFAULT: u32 = 20;
/// Attempts to sign in or up from one address in a minute unless something else is said: a staff of a hundred behind one address, each of
/// whom mistypes the password twice at nine o'clock.
pub const ADDRESS_SIGN_INS_MAX_DEFAULT: u32 = 300;
/// Sessions that may go on or end from one address, for each attempt to sign in that may come from it: a teacher's page asks each time that
/// it is opened, and every quarter of an hour.
pub const RENEWALS_PER_SIGN_IN: u32 = 10;
/// What all are counted over. The window opens with the first call in it.
pub const QUOTA_WINDOW: Duration = Duration::from_secs(60);
/// How long a body may take before its call lets go of its permit: what a phone sends in one go is here by then.
pub const BODY_PERMIT_MAX: Duration = Duration::from_millis(50);

/// Bytes of a body of an account call: an address, a password and a name, in JSON, with every character escaped.
pub const ACCOUNT_BODY_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a quiz document in JSON: 200 questions of 3,500 characters of 4 bytes are 2.8 MB.
pub const QUIZ_BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a plan check: two ids.
pub const PLAN_CHECK_BODY_BYTES_MAX: usize = 1024;
/// Bytes of a result: 500 players of names of 512 bytes who answered 200 questions with all of ten choices are 10.5 MB, and
/// the quiz 4 MiB.
pub const RESULT_BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Largest body of a timeline: 700 events of 100 bytes, and what a newer server may add.
pub const TIMELINE_BODY_BYTES_MAX: usize = 256 * 1024;
/// Bytes read and thrown away of a body that is too large, so that the client gets to read its refusal: a server that
/// stops reading resets the connection, and the browser shows a network error instead of a sentence.
pub const DRAIN_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Time to send a body: 10 MiB on a line of 2 Mbit/s take 42 s.
pub const BODY_READ_MAX: Duration = Duration::from_secs(60);

/// Files that are uploaded at once: with [`crate::import::FILE_BYTES_MAX`], at most 80 MiB are held.
pub const UPLOADS_MAX: usize = 8;
/// Of these, how many may be one teacher's: slow lines of one must not keep everybody else's files out.
pub const UPLOADS_OF_TEACHER_MAX: usize = 3;
/// Files that are parsed at once: both cores of a small machine, and no more of its memory.
pub const IMPORTS_PARSING_MAX: usize = 2;

/// Results that are exported at once, each held whole: a hall's takes some 10 MB, and its workbook several times that.
pub const EXPORTS_MAX: usize = 8;
/// Of these, how many are written at once: both cores of a small machine.
pub const EXPORTS_WRITING_MAX: usize = 2;

/// Characters of a teacher's name.
pub const NAME_CHARS: RangeInclusive<usize> = 1..=80;
/// Passwords that are hashed at once: each takes 19 MiB and a core for about 20 ms.
pub const HASHES_AT_ONCE_MAX: usize = 2;
/// Sign-ins that wait for their turn to hash: a staff room at nine o'clock, done in under a second.
pub const HASHES_WAITING_MAX: usize = 64;

/// Life of a refresh token that is not used, in milliseconds: a school holiday of six weeks signs a teacher out, two weeks do not.
pub const REFRESH_LIFE_MS: u64 = 30 * 24 * 60 * 60 * 1000;
/// How long a refresh token that was just replaced still gives its successor, in milliseconds. Two tabs refresh at the
/// same moment, or a reload drops the answer that carried the new cookie: neither may sign the teacher out.
pub const REFRESH_GRACE_MS: u64 = 10_000;
/// Life of a link for a new password, in milliseconds: a letter may be grey-listed for a quarter of an hour.
pub const RESET_LIFE_MS: u64 = 60 * 60 * 1000;
/// Links for a new password that an account may have at once, so letters to it in an hour: nobody floods a teacher's mail.
pub const RESETS_MAX: u32 = 3;
/// Letters that are sent at once.
pub const LETTERS_MAX: usize = 8;
/// Letters that wait for their turn: four minutes' worth of a mail server that answers none. Past them there is no letter; an answer that
/// told so would tell who has an account, since only letters to accounts wait.
pub const LETTERS_WAITING_MAX: usize = 64;
/// Sessions (browsers signed in) of one teacher; the one unused for longest goes. A teacher has a handful of devices.
pub const SESSIONS_MAX: u32 = 20;

/// Rows of a page when nothing is said.
pub const PAGE_LIMIT_DEFAULT: u32 = 50;
/// Rows of a page at most.
pub const PAGE_LIMIT_MAX: u32 = 100;

/// Days that a dashboard counts when nothing is said.
pub const DAYS_DEFAULT: u32 = 30;
/// Days that it counts at most: a school year and its holidays.
pub const DAYS_MAX: u32 = 366;

/// Seconds that a client is asked to wait when the API is full; each of them is said to as many, so that they do not all come
/// back at once.
pub const RETRY_AFTER_S: [u32; 3] = [1, 2, 3];

#[cfg(test)]
mod documented;
