//! docs/configuration.md against the limits that have no flag: a changed one fails here until the page tells it.

use std::ops::RangeInclusive;
use std::time::Duration;

use protocol::claims::ACCESS_TOKEN_S;
use protocol::quiz::{
    CHOICE_CHARS_MAX, CHOICES_MAX, CHOICES_MIN, QUESTIONS_MAX, TEXT_CHARS_MAX, TIME_MS_MAX, TIME_MS_MIN,
    TITLE_CHARS_MAX,
};

use super::*;
use crate::import::FILE_BYTES_MAX;
use crate::mail::SEND_MAX;
use crate::password::PASSWORD_CHARS;
use crate::plan;
use crate::problem::Kind;
use crate::store::TIMELINES_MAX;

const PAGE: &str = include_str!("../../../docs/configuration.md");

/// A row: what is limited, how much may be, and what becomes of more.
fn row(what: &str, limit: &impl ToString, past: &impl ToString) -> String {
    format!("| {what} | {} | {} |\n", limit.to_string(), past.to_string())
}

fn refused(kind: Kind) -> String {
    format!("{}, `{}`", kind.status().as_u16(), kind.code())
}

fn bytes(bytes: usize) -> String {
    match bytes / 1024 {
        kib if kib >= 1024 && kib.is_multiple_of(1024) => format!("{} MiB", kib / 1024),
        kib => format!("{kib} KiB"),
    }
}

fn time(ms: u64) -> String {
    let units = [
        (24 * 60 * 60 * 1000, "days"),
        (60 * 1000, "min"),
        (1000, "s"),
        (1, "ms"),
    ];
    let whole = units
        .iter()
        .find(|(unit, _)| ms >= 2 * unit && ms.is_multiple_of(*unit));
    whole.map_or(format!("{ms} ms"), |(unit, name)| format!("{} {name}", ms / unit))
}

fn span(time_max: Duration) -> String {
    time(u64::try_from(time_max.as_millis()).unwrap())
}

fn characters(chars: &RangeInclusive<usize>) -> String {
    format!("{} to {} characters", chars.start(), chars.end())
}

/// What teachers have.
fn of_teachers() -> Vec<String> {
    let plan = plan::free();
    vec![
        row(
            "quizzes of a teacher",
            &plan.quizzes_max,
            &refused(Kind::QuizLimit),
        ),
        row(
            "players of a game",
            &plan.players_max,
            &"the game server refuses them",
        ),
        row(
            "a quiz",
            &format!(
                "a title of {TITLE_CHARS_MAX} characters; {QUESTIONS_MAX} questions of {TEXT_CHARS_MAX} characters, {} to {}, \
                 {CHOICES_MIN} to {CHOICES_MAX} choices of {CHOICE_CHARS_MAX} characters",
                time(TIME_MS_MIN.into()),
                time(TIME_MS_MAX.into())
            ),
            &refused(Kind::BadQuiz),
        ),
        row("a name", &characters(&NAME_CHARS), &refused(Kind::BadName)),
    ]
}

/// How they sign in.
fn of_sign_ins() -> Vec<String> {
    vec![
        row(
            "a password",
            &characters(&PASSWORD_CHARS),
            &refused(Kind::BadPassword),
        ),
        row(
            "passwords hashed at once",
            &format!("{HASHES_AT_ONCE_MAX}, and {HASHES_WAITING_MAX} wait"),
            &refused(Kind::Busy),
        ),
        row(
            "browsers of a teacher signed in",
            &SESSIONS_MAX,
            &"the one unused for longest is signed out",
        ),
        row(
            "a sign-in without use",
            &time(REFRESH_LIFE_MS),
            &refused(Kind::SessionEnded),
        ),
        row(
            "a refresh token that was replaced",
            &time(REFRESH_GRACE_MS),
            &format!("{}: the sign-in ends", refused(Kind::SessionEnded)),
        ),
        row(
            "an access token",
            &time(ACCESS_TOKEN_S * 1000),
            &refused(Kind::TokenExpired),
        ),
        row(
            "a link for a new password",
            &time(RESET_LIFE_MS),
            &refused(Kind::ResetEnded),
        ),
        row(
            "such links of an account by letter",
            &RESETS_MAX,
            &"no letter; the answer is the same",
        ),
        row(
            "letters sent at once",
            &format!("{LETTERS_MAX}, and {LETTERS_WAITING_MAX} wait"),
            &"no letter; the answer is the same",
        ),
        row(
            "a mail server takes a letter",
            &span(SEND_MAX),
            &"it is given up, counted as failed, and its link taken back",
        ),
    ]
}

/// What calls carry, and what answers hold.
fn of_calls() -> Vec<String> {
    let too_large = || refused(Kind::BodyTooLarge);
    vec![
        row(
            "body of an account's call",
            &bytes(ACCOUNT_BODY_BYTES_MAX),
            &too_large(),
        ),
        row("body of a quiz", &bytes(QUIZ_BODY_BYTES_MAX), &too_large()),
        row("a file to import", &bytes(FILE_BYTES_MAX), &too_large()),
        row(
            "body of a plan check",
            &bytes(PLAN_CHECK_BODY_BYTES_MAX),
            &too_large(),
        ),
        row("body of a result", &bytes(RESULT_BODY_BYTES_MAX), &too_large()),
        row(
            "body of a timeline",
            &bytes(TIMELINE_BODY_BYTES_MAX),
            &too_large(),
        ),
        row(
            "a body arrives",
            &span(BODY_READ_MAX),
            &refused(Kind::BodyTimeout),
        ),
        row(
            "a body arrives with its permit held",
            &span(BODY_PERMIT_MAX),
            &"others go first",
        ),
        row(
            "files uploaded at once",
            &format!("{UPLOADS_MAX}, of which {UPLOADS_OF_TEACHER_MAX} are one teacher's"),
            &refused(Kind::Busy),
        ),
        row(
            "files parsed at once",
            &IMPORTS_PARSING_MAX,
            &"the other uploads wait",
        ),
        row(
            "results exported at once",
            &format!("{EXPORTS_MAX}, of which {EXPORTS_WRITING_MAX} are written"),
            &refused(Kind::Busy),
        ),
        row(
            "rows of a page",
            &format!("{PAGE_LIMIT_MAX}; {PAGE_LIMIT_DEFAULT} unless it is said"),
            &refused(Kind::BadQuery),
        ),
        row(
            "days of a dashboard",
            &format!("{DAYS_MAX}; {DAYS_DEFAULT} unless it is said"),
            &refused(Kind::BadQuery),
        ),
        row("timelines of a code", &TIMELINES_MAX, &"those that ended last"),
    ]
}

#[test]
fn the_page_tells_every_limit_without_a_flag() {
    let rows = [of_teachers(), of_sign_ins(), of_calls()].concat().concat();
    let table = format!("| what | at most | past it |\n| --- | --- | --- |\n{rows}\n");
    assert!(
        PAGE.contains(&table),
        "docs/configuration.md must hold this:\n\n{table}"
    );
}

#[test]
fn the_page_tells_what_flags_and_refusals_begin_with() {
    let window_s = QUOTA_WINDOW.as_secs();
    assert_eq!(window_s, 60, "the page says \"a minute\"");
    let [first, .., last] = RETRY_AFTER_S;
    for told in [
        format!("`Retry-After` of {first} to {last} s"),
        format!("four fifths of the connections ({} of 16)", permits_over(16)),
        format!(
            "{TEACHER_REQUESTS_MAX_DEFAULT} calls of the API and {TEACHER_GAMES_MAX_DEFAULT} games, by default"
        ),
        format!("there is only the address: {ADDRESS_SIGN_INS_MAX_DEFAULT} attempts"),
        format!(
            "and {} times as many renewals",
            if RENEWALS_PER_SIGN_IN == 10 { "ten" } else { "?" }
        ),
        format!("An account gets {RESETS_MAX} letters in {}", time(RESET_LIFE_MS)),
    ] {
        assert!(PAGE.contains(&told), "docs/configuration.md must hold: {told}");
    }
}
