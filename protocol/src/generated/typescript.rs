//! The TypeScript file.

use std::fmt::Write as _;

use ts_rs::{Config, TS};

use super::{REPAIR, root, settle};
use crate::{close, error, host, ids, player, quiz, rest, result, timeline};

const HEADER: &str = "// Generated from the crate `protocol`; do not edit.\n\
    // `UPDATE_GENERATED=1 cargo test -p protocol` writes it anew.\n\n";

/// Appends one type with its documentation.
fn declare<T: TS>(out: &mut String, config: &Config) {
    if let Some(docs) = T::docs() {
        out.push_str(docs.trim_end());
        out.push('\n');
    }
    writeln!(out, "export {}\n", T::decl(config)).unwrap();
}

/// Appends one constant.
fn constant(out: &mut String, name: &str, value: impl std::fmt::Display) {
    writeln!(out, "export const {name} = {value};").unwrap();
}

fn constants(out: &mut String) {
    constant(out, "PROTOCOL_VERSION", crate::PROTOCOL_VERSION);
    constant(out, "CODE_LEN", ids::CODE_LEN);
    let alphabet = std::str::from_utf8(ids::CODE_ALPHABET).unwrap();
    constant(out, "CODE_ALPHABET", format!("{alphabet:?}"));
    constant(out, "PLAYER_FRAME_BYTES_MAX", crate::PLAYER_FRAME_BYTES_MAX);
    constant(out, "HOST_FRAME_BYTES_MAX", crate::HOST_FRAME_BYTES_MAX);
    constant(out, "BOARD_MAX", host::BOARD_MAX);
    constant(out, "PODIUM_MAX", player::PODIUM_MAX);
    constant(out, "QUESTIONS_MAX", quiz::QUESTIONS_MAX);
    constant(out, "TITLE_CHARS_MAX", quiz::TITLE_CHARS_MAX);
    constant(out, "TEXT_CHARS_MAX", quiz::TEXT_CHARS_MAX);
    constant(out, "CHOICE_CHARS_MAX", quiz::CHOICE_CHARS_MAX);
    constant(out, "CHOICES_MAX", quiz::CHOICES_MAX);
    constant(out, "CHOICES_MIN", quiz::CHOICES_MIN);
    constant(out, "TIME_MS_MIN", quiz::TIME_MS_MIN);
    constant(out, "TIME_MS_MAX", quiz::TIME_MS_MAX);
    constant(out, "TIME_MS_DEFAULT", quiz::TIME_MS_DEFAULT);
    out.push_str("\n/** WebSocket close codes. */\n");
    constant(out, "CLOSE_OVER", close::OVER);
    constant(out, "CLOSE_MOVED", close::MOVED);
    constant(out, "CLOSE_BAD_FIRST_FRAME", close::BAD_FIRST_FRAME);
    constant(out, "CLOSE_TOKEN", close::TOKEN);
    constant(out, "CLOSE_KICKED", close::KICKED);
    constant(out, "CLOSE_NO_SUCH_GAME", close::NO_SUCH_GAME);
    constant(out, "CLOSE_SLOW", close::SLOW);
    constant(out, "CLOSE_REPLACED", close::REPLACED);
    constant(out, "CLOSE_TOO_MANY", close::TOO_MANY);
    out.push('\n');
}

fn types(out: &mut String, config: &Config) {
    declare::<ids::GameCode>(out, config);
    declare::<ids::GameId>(out, config);
    declare::<ids::TeacherId>(out, config);
    declare::<ids::QuizId>(out, config);
    declare::<ids::ShareId>(out, config);
    declare::<ids::PlayerId>(out, config);
    declare::<error::ErrorCode>(out, config);
    declare::<player::PlayerCommand>(out, config);
    declare::<player::PlayerFrame>(out, config);
    declare::<player::ByeReason>(out, config);
    declare::<player::Phase>(out, config);
    declare::<player::PlayerState>(out, config);
    declare::<player::QuestionView>(out, config);
    declare::<player::OutcomeView>(out, config);
    declare::<player::OverView>(out, config);
    declare::<player::Place>(out, config);
    declare::<host::HostCommand>(out, config);
    declare::<host::HostFrame>(out, config);
    declare::<host::RosterEntry>(out, config);
    declare::<host::HostState>(out, config);
    declare::<host::RevealView>(out, config);
    declare::<host::HostOverView>(out, config);
    declare::<quiz::QuizDocument>(out, config);
    declare::<quiz::Question>(out, config);
    declare::<quiz::QuestionKind>(out, config);
    declare::<quiz::Choice>(out, config);
    declare::<result::Scoring>(out, config);
    declare::<result::GameSettings>(out, config);
    declare::<result::GameResult>(out, config);
    declare::<result::QuestionResult>(out, config);
    declare::<result::PlayerResult>(out, config);
    declare::<result::AnswerResult>(out, config);
    declare::<timeline::GameTimeline>(out, config);
    declare::<timeline::TimelineEvent>(out, config);
    declare::<timeline::Happened>(out, config);
    declare::<timeline::Drops>(out, config);
    rest_types(out, config);
}

fn rest_types(out: &mut String, config: &Config) {
    declare::<rest::Problem>(out, config);
    declare::<rest::RegisterRequest>(out, config);
    declare::<rest::LoginRequest>(out, config);
    declare::<rest::SessionResponse>(out, config);
    declare::<rest::User>(out, config);
    declare::<rest::DeleteAccountRequest>(out, config);
    declare::<rest::ResetRequest>(out, config);
    declare::<rest::ResetPasswordRequest>(out, config);
    declare::<rest::Page<ts_rs::Dummy>>(out, config);
    declare::<rest::QuizSummary>(out, config);
    declare::<rest::QuizResponse>(out, config);
    declare::<rest::SignedQuizResponse>(out, config);
    declare::<rest::ShareResponse>(out, config);
    declare::<rest::SharedQuizResponse>(out, config);
    declare::<rest::ImportResponse>(out, config);
    declare::<rest::ImportFormat>(out, config);
    declare::<rest::SkippedItem>(out, config);
    declare::<rest::CreateGameRequest>(out, config);
    declare::<rest::QuizSource>(out, config);
    declare::<rest::CreateGameResponse>(out, config);
    declare::<rest::StatusResponse>(out, config);
    declare::<rest::GameSummary>(out, config);
    declare::<rest::ReportResponse>(out, config);
    declare::<rest::QuestionReport>(out, config);
    declare::<rest::DashboardResponse>(out, config);
    declare::<rest::UsageCount>(out, config);
    declare::<rest::QuizUsage>(out, config);
    declare::<rest::HistoryResponse>(out, config);
    declare::<rest::UsageDay>(out, config);
    declare::<rest::Plan>(out, config);
}

#[test]
fn typescript_is_as_committed() {
    // JSON has one kind of number, and none of ours leaves the safe integers.
    let config = Config::new().with_large_int("number");
    let mut out = HEADER.to_owned();
    constants(&mut out);
    types(&mut out, &config);
    // ts-rs ends lines with a space before a field's documentation.
    let content = out
        .trim_end()
        .lines()
        .fold(String::new(), |all, line| all + line.trim_end() + "\n");
    let path = root().join("web/src/shared/proto/protocol.ts");
    settle(&path, &content).unwrap_or_else(|stale| panic!("{stale}; {REPAIR}"));
}
