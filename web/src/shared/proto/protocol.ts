// Generated from the crate `protocol`; do not edit.
// `UPDATE_GENERATED=1 cargo test -p protocol` writes it anew.

export const PROTOCOL_VERSION = 1;
export const CODE_LEN = 6;
export const CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
export const PLAYER_FRAME_BYTES_MAX = 4096;
export const HOST_FRAME_BYTES_MAX = 16384;
export const BOARD_MAX = 10;
export const PODIUM_MAX = 9;
export const QUESTIONS_MAX = 200;
export const TITLE_CHARS_MAX = 120;
export const TEXT_CHARS_MAX = 1000;
export const CHOICE_CHARS_MAX = 250;
export const CHOICES_MAX = 10;
export const CHOICES_MIN = 2;
export const TIME_MS_MIN = 5000;
export const TIME_MS_MAX = 600000;
export const TIME_MS_DEFAULT = 20000;

/** WebSocket close codes. */
export const CLOSE_OVER = 1000;
export const CLOSE_MOVED = 1012;
export const CLOSE_BAD_FIRST_FRAME = 4400;
export const CLOSE_TOKEN = 4401;
export const CLOSE_KICKED = 4403;
export const CLOSE_NO_SUCH_GAME = 4404;
export const CLOSE_SLOW = 4408;
export const CLOSE_REPLACED = 4409;
export const CLOSE_TOO_MANY = 4429;

/**
 * The code students type, in its canonical form: six symbols of [`CODE_ALPHABET`].
 *
 * Servers accept only this form (`FromStr`); clients turn what people type into it with [`GameCode::from_typed`].
 */
export type GameCode = string;

/**
 * One game, for ever: codes come back, this does not.
 */
export type GameId = string;

/**
 * A teacher's account.
 */
export type TeacherId = string;

/**
 * A stored quiz.
 */
export type QuizId = string;

/**
 * A quiz that its teacher shares. Whoever knows it may read the quiz, so it is drawn at random, 122 bits of it.
 */
export type ShareId = string;

/**
 * A player within one game, counted from 1 in the order of joining and never given twice.
 */
export type PlayerId = number;

/**
 * Why a frame was refused.
 */
export type ErrorCode = "malformed" | "too_large" | "bad_first_frame" | "too_many" | "server_full" | "bad_token" | "no_such_game" | "game_lost" | "locked" | "game_full" | "ended" | "kicked" | "bad_name" | "name_taken" | "no_such_player" | "wrong_phase" | "not_open" | "too_late" | "already_answered" | "bad_choice" | "not_allowed" | "busy";

/**
 * A frame from a player. The first one on a socket is `Join` or `Resume`.
 */
export type PlayerCommand = { "t": "join",
/**
 * The name as typed; the server trims it and collapses white space.
 */
name: string, } | { "t": "resume",
/**
 * The token from `welcome`.
 */
token: string,
/**
 * The last sequence number this client has seen.
 */
seq: number, } | { "t": "answer",
/**
 * Question number, from 1.
 */
q: number,
/**
 * The choice, from 0. For `single` and `true_false`.
 */
choice?: number | null,
/**
 * The ticked choices, from 0. For `multiple`.
 */
choices?: Array<number> | null, } | { "t": "rename",
/**
 * The new name.
 */
name: string, } | { "t": "leave" } | { "t": "ping" };

/**
 * A frame to a player.
 */
export type PlayerFrame = { "t": "welcome",
/**
 * Protocol version.
 */
v: number,
/**
 * This player.
 */
id: PlayerId,
/**
 * Resume token, to be kept on the device.
 */
token: string,
/**
 * Everything the screen needs.
 */
state: PlayerState, } | { "t": "sync",
/**
 * The state.
 */
state: PlayerState, } | { "t": "question",
/**
 * Public sequence number.
 */
seq: number,
/**
 * Number, from 1.
 */
q: number,
/**
 * How it is answered; left out when `single`.
 */
kind?: QuestionKind | null,
/**
 * The stem.
 */
text: string,
/**
 * The choices' texts.
 */
choices: Array<string>,
/**
 * The whole time to answer, in milliseconds.
 */
ms: number,
/**
 * Time left, in milliseconds, when less than `ms`.
 */
left?: number | null, } | { "t": "ack",
/**
 * Question number, from 1.
 */
q: number,
/**
 * Whether the answer is in the journal; `false` is followed by a second `ack` with `true`.
 */
saved: boolean, } | { "t": "result",
/**
 * Public sequence number.
 */
seq: number,
/**
 * Question number, from 1.
 */
q: number,
/**
 * Whether the answer was correct; none means not answered.
 */
ok?: boolean | null,
/**
 * Points gained with this question.
 */
points: number,
/**
 * Points so far.
 */
total: number,
/**
 * Place so far; equal points share a place.
 */
rank: number,
/**
 * Players ranked.
 */
of: number,
/**
 * Correct answers in a row, left out when 0.
 */
streak?: number | null,
/**
 * The correct choices, from 0.
 */
correct: Array<number>, } | { "t": "over",
/**
 * Public sequence number.
 */
seq: number,
/**
 * This player's place; equal points share a place. Left out for who came when the final places stood already.
 */
rank?: number | null,
/**
 * Players ranked.
 */
of: number,
/**
 * This player's points.
 */
total: number,
/**
 * The first three places; ties make it longer, to at most [`PODIUM_MAX`] entries.
 */
top: Array<Place>, } | { "t": "renamed",
/**
 * The name in force.
 */
name: string, } | { "t": "pong",
/**
 * Head of the public sequence.
 */
seq: number, } | { "t": "error",
/**
 * Stable code.
 */
code: ErrorCode,
/**
 * The question meant, when the refused frame was an answer.
 */
q?: number | null,
/**
 * When to try again, in milliseconds.
 */
retry_ms?: number | null, } | { "t": "bye",
/**
 * Why.
 */
reason: ByeReason,
/**
 * When to come back, in milliseconds; none means stay away.
 */
retry_ms?: number | null, };

/**
 * Why the server closes a socket.
 */
export type ByeReason = "ended" | "moved" | "kicked" | "replaced" | "left";

/**
 * The phase of a game.
 */
export type Phase = "lobby" | "question" | "results" | "podium" | "ended";

/**
 * Everything a player's screen needs, in one piece: for join, resume, reload and repair alike.
 */
export type PlayerState = {
/**
 * Epoch of the game's owner; on a new one the client replaces everything, even by a lower `seq`.
 */
epoch: number,
/**
 * Head of the public sequence.
 */
seq: number,
/**
 * Phase.
 */
phase: Phase,
/**
 * Title of the quiz.
 */
title: string,
/**
 * The player's name in force.
 */
name: string,
/**
 * Questions in the game.
 */
of: number,
/**
 * Players in the game.
 */
players: number,
/**
 * Points so far.
 */
total: number,
/**
 * The servers' storage failed and may have lost the last answers; stays so until the game's end.
 */
rewound?: boolean | null,
/**
 * The open question, or the one whose results are shown.
 */
question?: QuestionView | null,
/**
 * This player's accepted answer to it, choices from 0.
 */
answered?: Array<number> | null,
/**
 * The outcome, in phase `results`.
 */
outcome?: OutcomeView | null,
/**
 * The places, in phases `podium` and `ended`.
 */
over?: OverView | null, };

/**
 * A question as players see it: no solution.
 */
export type QuestionView = {
/**
 * Number, from 1.
 */
q: number,
/**
 * How it is answered; left out when `single`.
 */
kind?: QuestionKind | null,
/**
 * The stem.
 */
text: string,
/**
 * The choices' texts.
 */
choices: Array<string>,
/**
 * The whole time to answer, in milliseconds.
 */
ms: number,
/**
 * Time left, in milliseconds, when less than `ms`.
 */
left?: number | null, };

/**
 * What became of a player's answer.
 */
export type OutcomeView = {
/**
 * Question number, from 1.
 */
q: number,
/**
 * Whether the answer was correct; none means not answered.
 */
ok?: boolean | null,
/**
 * Points gained with this question.
 */
points: number,
/**
 * Points so far.
 */
total: number,
/**
 * Place so far; equal points share a place.
 */
rank: number,
/**
 * Players ranked.
 */
of: number,
/**
 * Correct answers in a row, left out when 0.
 */
streak?: number | null,
/**
 * The correct choices, from 0.
 */
correct: Array<number>, };

/**
 * Final places, as one player sees them.
 */
export type OverView = {
/**
 * This player's place; equal points share a place. Left out for who came when the final places stood already.
 */
rank?: number | null,
/**
 * Players ranked.
 */
of: number,
/**
 * This player's points.
 */
total: number,
/**
 * The first three places; ties make it longer, to at most [`PODIUM_MAX`] entries.
 */
top: Array<Place>, };

/**
 * One line of a podium or leaderboard.
 */
export type Place = {
/**
 * Place; equal points share one.
 */
rank: number,
/**
 * The player's name.
 */
name: string,
/**
 * Points.
 */
total: number, };

/**
 * A frame from a host. The first one on a socket is `Host`, a screen's is `Screen`.
 */
export type HostCommand = { "t": "host",
/**
 * The teacher's access token.
 */
token: string,
/**
 * A ticket that an earlier socket of this host got: it shows that the game was there, in case that it was lost.
 */
ticket?: string | null, } | { "t": "screen",
/**
 * A ticket that a host's socket asked for.
 */
ticket: string, } | { "t": "start" } | { "t": "next",
/**
 * Question number whose results are on the screen.
 */
q: number, } | { "t": "close",
/**
 * Question number.
 */
q: number, } | { "t": "skip",
/**
 * Question number.
 */
q: number, } | { "t": "end" } | { "t": "finish" } | { "t": "lock",
/**
 * Whether new players are refused.
 */
on: boolean, } | { "t": "kick",
/**
 * The player.
 */
id: PlayerId, } | { "t": "rename",
/**
 * The player.
 */
id: PlayerId,
/**
 * The new name.
 */
name: string, } | { "t": "ticket" } | { "t": "ping" };

/**
 * A frame to a host or a screen.
 */
export type HostFrame = { "t": "sync",
/**
 * Protocol version.
 */
v: number,
/**
 * The state.
 */
state: HostState, } | { "t": "roster",
/**
 * New players.
 */
joined?: Array<RosterEntry>,
/**
 * Players with a new name.
 */
renamed?: Array<RosterEntry>,
/**
 * Players whose connection was lost.
 */
away?: Array<PlayerId>,
/**
 * Players who came back.
 */
back?: Array<PlayerId>,
/**
 * Players who left or were removed.
 */
left?: Array<PlayerId>, } | { "t": "question",
/**
 * Public sequence number.
 */
seq: number,
/**
 * Number, from 1.
 */
q: number,
/**
 * How it is answered; left out when `single`.
 */
kind?: QuestionKind | null,
/**
 * The stem.
 */
text: string,
/**
 * The choices' texts.
 */
choices: Array<string>,
/**
 * The whole time to answer, in milliseconds.
 */
ms: number,
/**
 * Time left, in milliseconds, when less than `ms`.
 */
left?: number | null, } | { "t": "progress",
/**
 * Question number, from 1.
 */
q: number,
/**
 * Answers accepted.
 */
answered: number,
/**
 * Players expected to answer: present now, or answered already.
 */
of: number, } | { "t": "reveal",
/**
 * Public sequence number.
 */
seq: number,
/**
 * Question number, from 1.
 */
q: number,
/**
 * The host skipped it: no points.
 */
skipped?: boolean | null,
/**
 * The correct choices, from 0.
 */
correct: Array<number>,
/**
 * Answers that contain each choice.
 */
histogram: Array<number>,
/**
 * Answers accepted.
 */
answered: number,
/**
 * Correct answers.
 */
right: number,
/**
 * The leaders, at most [`BOARD_MAX`].
 */
board: Array<Place>, } | { "t": "over",
/**
 * Public sequence number.
 */
seq: number,
/**
 * Players ranked.
 */
of: number,
/**
 * Questions played.
 */
questions: number,
/**
 * All places, best first, ties in the order of joining.
 */
places: Array<Place>, } | { "t": "lock",
/**
 * Whether new players are refused.
 */
on: boolean, } | { "t": "saving",
/**
 * Whether it is behind.
 */
behind: boolean, } | { "t": "ticket",
/**
 * The ticket.
 */
ticket: string, } | { "t": "pong",
/**
 * Head of the public sequence.
 */
seq: number, } | { "t": "error",
/**
 * Stable code.
 */
code: ErrorCode,
/**
 * When to try again, in milliseconds.
 */
retry_ms?: number | null, } | { "t": "bye",
/**
 * Why.
 */
reason: ByeReason,
/**
 * When to come back, in milliseconds; none means stay away.
 */
retry_ms?: number | null, };

/**
 * A player in the host's roster.
 */
export type RosterEntry = {
/**
 * The player.
 */
id: PlayerId,
/**
 * Name in force.
 */
name: string,
/**
 * Connection lost; left out when the player is here.
 */
away?: boolean | null, };

/**
 * Everything a host's screen needs.
 */
export type HostState = {
/**
 * Epoch of the game's owner.
 */
epoch: number,
/**
 * Head of the public sequence.
 */
seq: number,
/**
 * The game, for its report.
 */
game: GameId,
/**
 * The code to join with.
 */
code: GameCode,
/**
 * Title of the quiz.
 */
title: string,
/**
 * Questions in the game.
 */
of: number,
/**
 * Phase.
 */
phase: Phase,
/**
 * Whether new players are refused.
 */
locked: boolean,
/**
 * Whether storage is behind.
 */
behind: boolean,
/**
 * The servers' storage failed and may have lost the last answers; stays so until the game's end.
 */
rewound?: boolean | null,
/**
 * All players, in the order of joining.
 */
roster: Array<RosterEntry>,
/**
 * The open question, or the one whose results are shown.
 */
question?: QuestionView | null,
/**
 * Answers accepted to it.
 */
answered: number,
/**
 * Players expected to answer it: present now, or answered already.
 */
expected: number,
/**
 * The outcome, in phase `results`.
 */
reveal?: RevealView | null,
/**
 * The places, in phases `podium` and `ended`.
 */
over?: HostOverView | null, };

/**
 * The outcome of a question, for the class.
 */
export type RevealView = {
/**
 * Question number, from 1.
 */
q: number,
/**
 * The host skipped it: no points.
 */
skipped?: boolean | null,
/**
 * The correct choices, from 0.
 */
correct: Array<number>,
/**
 * Answers that contain each choice.
 */
histogram: Array<number>,
/**
 * Answers accepted.
 */
answered: number,
/**
 * Correct answers.
 */
right: number,
/**
 * The leaders, at most [`BOARD_MAX`].
 */
board: Array<Place>, };

/**
 * Final places, for the class.
 */
export type HostOverView = {
/**
 * Players ranked.
 */
of: number,
/**
 * Questions played.
 */
questions: number,
/**
 * All places, best first, ties in the order of joining.
 */
places: Array<Place>, };

/**
 * A quiz as it is edited, stored, signed and played.
 */
export type QuizDocument = {
/**
 * Title, 1 to [`TITLE_CHARS_MAX`] characters.
 */
title: string,
/**
 * Questions in playing order, at most [`QUESTIONS_MAX`]; none is allowed in the library, not in a game.
 */
questions: Array<Question>, };

/**
 * One question with its solution.
 */
export type Question = {
/**
 * How it is answered.
 */
kind: QuestionKind,
/**
 * The stem as plain text, 1 to [`TEXT_CHARS_MAX`] characters.
 */
text: string,
/**
 * What can be chosen, [`CHOICES_MIN`] to [`CHOICES_MAX`], in the order shown.
 */
choices: Array<Choice>,
/**
 * Time to answer in milliseconds, [`TIME_MS_MIN`] to [`TIME_MS_MAX`].
 */
time_ms: number, };

/**
 * How a question is answered.
 */
export type QuestionKind = "single" | "multiple" | "true_false";

/**
 * One choice of a question.
 */
export type Choice = {
/**
 * Plain text, 1 to [`CHOICE_CHARS_MAX`] characters.
 */
text: string,
/**
 * Whether it is (one of) the correct ones.
 */
correct: boolean, };

/**
 * How answers earn points.
 */
export type Scoring = "speed" | "accuracy";

/**
 * Settings of one game, chosen by the teacher at its start.
 */
export type GameSettings = {
/**
 * How answers earn points.
 */
scoring: Scoring, };

/**
 * A finished game, with the questions as played and every accepted answer.
 */
export type GameResult = {
/**
 * The game.
 */
game: GameId,
/**
 * The code it was played under.
 */
code: GameCode,
/**
 * The teacher.
 */
teacher: TeacherId,
/**
 * The stored quiz.
 */
quiz_id: QuizId,
/**
 * Its settings.
 */
settings: GameSettings,
/**
 * The questions as played, with their solutions.
 */
quiz: QuizDocument,
/**
 * When it was created, Unix milliseconds.
 */
created_ms: number,
/**
 * When the podium was reached, Unix milliseconds.
 */
ended_ms: number,
/**
 * What happened to each question, in order; questions after the last one played are missing.
 */
questions: Array<QuestionResult>,
/**
 * The ranked players, best first, ties in the order of joining.
 */
players: Array<PlayerResult>, };

/**
 * What happened to a question.
 */
export type QuestionResult = {
/**
 * Number, from 1.
 */
q: number,
/**
 * The host skipped it: no points.
 */
skipped: boolean, };

/**
 * A player's place and answers.
 */
export type PlayerResult = {
/**
 * The player.
 */
id: PlayerId,
/**
 * Name.
 */
name: string,
/**
 * Place; equal points share one.
 */
rank: number,
/**
 * Points.
 */
total: number,
/**
 * Accepted answers, in question order.
 */
answers: Array<AnswerResult>, };

/**
 * One accepted answer.
 */
export type AnswerResult = {
/**
 * Question number, from 1.
 */
q: number,
/**
 * The choices, from 0.
 */
choices: Array<number>,
/**
 * Time from the question's opening to the answer's arrival at the server, in milliseconds.
 */
elapsed_ms: number,
/**
 * Whether it was correct.
 */
correct: boolean,
/**
 * Points earned.
 */
points: number, };

/**
 * The history of a game, oldest first.
 */
export type GameTimeline = {
/**
 * The game.
 */
game: GameId,
/**
 * The code it was played under.
 */
code: GameCode,
/**
 * What happened.
 */
events: Array<TimelineEvent>,
/**
 * Events beyond the bound that are not among them.
 */
left_out?: number, };

/**
 * One event.
 */
export type TimelineEvent = {
/**
 * When, Unix milliseconds by the clock of the server that had the game.
 */
at_ms: number,
/**
 * What.
 */
what: Happened, };

/**
 * What can happen to a game.
 */
export type Happened = { "t": "created" } | { "t": "owner",
/**
 * The server's name.
 */
server: string,
/**
 * Its number among the owners; the same server after a restart is another one.
 */
epoch: number,
/**
 * It went on from what the servers' storage had left, after that had failed: the last answers before may be missing.
 */
rewound?: boolean | null, } | { "t": "opened",
/**
 * Number, from 1.
 */
q: number, } | { "t": "closed",
/**
 * Number, from 1.
 */
q: number, } | { "t": "drops" } & Drops | { "t": "behind" } | { "t": "caught_up",
/**
 * How long that took.
 */
after_ms: number, } | { "t": "over" } | { "t": "result_saved" } | { "t": "ended" };

/**
 * Connections that were lost without a goodbye, and those that came back. Those of a server that died are lost uncounted: its
 * successor sees them come back.
 */
export type Drops = {
/**
 * Players' connections lost.
 */
players_lost: number,
/**
 * Players who came back.
 */
players_back: number,
/**
 * Hosts' connections lost.
 */
hosts_lost: number,
/**
 * Hosts' connections after the first one.
 */
hosts_back: number, };

/**
 * `application/problem+json` (RFC 9457): the body of every refused HTTP call.
 */
export type Problem = {
/**
 * Stable code, kebab-case; clients choose words by it.
 */
code: string,
/**
 * HTTP status.
 */
status: number,
/**
 * Short English name of the kind of problem.
 */
title: string,
/**
 * One clear English sentence: what, where, and what to do.
 */
detail: string, };

/**
 * `POST /auth/register`.
 */
export type RegisterRequest = {
/**
 * E-mail address, the sign-in name.
 */
email: string,
/**
 * Password, 8 to 256 characters.
 */
password: string,
/**
 * Name to show, 1 to 80 characters.
 */
name: string, };

/**
 * `POST /auth/login`.
 */
export type LoginRequest = {
/**
 * E-mail address.
 */
email: string,
/**
 * Password.
 */
password: string, };

/**
 * Answer to register, login and refresh. The refresh token travels in an `HttpOnly` cookie beside it.
 */
export type SessionResponse = {
/**
 * Access token, to be sent as `Authorization: Bearer`.
 */
access_token: string,
/**
 * Its life in seconds.
 */
expires_in_s: number,
/**
 * The account.
 */
user: User, };

/**
 * `GET /users/me`.
 */
export type User = {
/**
 * The account.
 */
id: TeacherId,
/**
 * E-mail address.
 */
email: string,
/**
 * Name to show.
 */
name: string, };

/**
 * `DELETE /users/me`: the account with everything that belongs to it.
 */
export type DeleteAccountRequest = {
/**
 * The password, once more: a page that was left open must not be enough.
 */
password: string, };

/**
 * `POST /auth/reset-request`.
 */
export type ResetRequest = {
/**
 * E-mail address of the account.
 */
email: string, };

/**
 * `POST /auth/reset`.
 */
export type ResetPasswordRequest = {
/**
 * From the link.
 */
token: string,
/**
 * The new password, 8 to 256 characters.
 */
password: string, };

/**
 * A page of a list, in the list's own order.
 */
export type Page<T> = {
/**
 * The rows.
 */
items: Array<T>,
/**
 * Key of the next page, for `?after=`; none on the last page.
 */
next?: string | null, };

/**
 * A row of `GET /quizzes`, newest change first.
 */
export type QuizSummary = {
/**
 * The quiz.
 */
id: QuizId,
/**
 * Title.
 */
title: string,
/**
 * Questions.
 */
questions: number,
/**
 * Last change, Unix milliseconds.
 */
updated_ms: number, };

/**
 * `GET /quizzes/{id}`, and the answer to `POST /quizzes` and `PUT /quizzes/{id}` (whose bodies are a `QuizDocument`).
 */
export type QuizResponse = {
/**
 * The quiz.
 */
id: QuizId,
/**
 * Grows by one with every change; `PUT` sends it back as `If-Match` and is refused when it is stale.
 */
version: number,
/**
 * Last change, Unix milliseconds.
 */
updated_ms: number,
/**
 * The document.
 */
quiz: QuizDocument, };

/**
 * `GET /quizzes/{id}/signed`: the document that a page holds, so that a game can start while the API is away.
 */
export type SignedQuizResponse = {
/**
 * The signed document.
 */
signed: string,
/**
 * Its life in seconds.
 */
expires_in_s: number, };

/**
 * `POST /quizzes/{id}/share`, and `GET` of the same.
 */
export type ShareResponse = {
/**
 * Under which every teacher who knows it can see and copy the quiz.
 */
share: ShareId, };

/**
 * `GET /shared/{id}`: a quiz that somebody shares.
 */
export type SharedQuizResponse = {
/**
 * Name of who shares it.
 */
by: string,
/**
 * Last change, Unix milliseconds.
 */
updated_ms: number,
/**
 * The document as it is now.
 */
quiz: QuizDocument, };

/**
 * Answer to `POST /quizzes/import?filename=…` (body: the file's bytes).
 */
export type ImportResponse = {
/**
 * The new quiz; none when nothing could be imported.
 */
quiz?: QuizSummary | null,
/**
 * Format found.
 */
format: ImportFormat,
/**
 * Questions imported.
 */
imported: number,
/**
 * Items left out, in file order.
 */
skipped: Array<SkippedItem>,
/**
 * Things that were changed to fit, in file order.
 */
notes: Array<SkippedItem>, };

/**
 * File formats that can be imported.
 */
export type ImportFormat = "gift" | "kahoot" | "json";

/**
 * An item of an imported file and what is said of it.
 */
export type SkippedItem = {
/**
 * Its name, or the beginning of its text.
 */
name: string,
/**
 * Where it stands: "line 12", "row 9", "cell C9".
 */
place: string,
/**
 * Why, as one sentence.
 */
reason: string, };

/**
 * `POST /game/games?g=CODE`.
 */
export type CreateGameRequest = {
/**
 * A stored quiz's id, or the signed document.
 */
quiz: QuizSource,
/**
 * Chosen by the client at random, at most 64 characters; a repeated create with it returns the same game.
 */
key: string,
/**
 * Settings.
 */
settings: GameSettings, };

/**
 * Where a game's questions come from.
 */
export type QuizSource = { "id": QuizId } | { "signed": string };

/**
 * Answer to `POST /game/games`: 201 for a new game, 200 for the same one again.
 */
export type CreateGameResponse = {
/**
 * The game.
 */
game: GameId,
/**
 * Its code.
 */
code: GameCode,
/**
 * Players it may hold.
 */
players_max: number, };

/**
 * `GET /game/status?g=CODE`: what a join page needs.
 */
export type StatusResponse = {
/**
 * Phase.
 */
phase: Phase,
/**
 * Players.
 */
players: number,
/**
 * Whether new players are refused.
 */
locked: boolean, };

/**
 * A row of `GET /games`, newest first.
 */
export type GameSummary = {
/**
 * The game.
 */
id: GameId,
/**
 * Title of the quiz as played.
 */
title: string,
/**
 * When the podium was reached, Unix milliseconds.
 */
ended_ms: number,
/**
 * Players ranked.
 */
players: number,
/**
 * Questions played.
 */
questions: number, };

/**
 * `GET /games/{id}/report`.
 */
export type ReportResponse = {
/**
 * The result as saved.
 */
result: GameResult,
/**
 * Per question, in playing order.
 */
questions: Array<QuestionReport>, };

/**
 * One question of a report.
 */
export type QuestionReport = {
/**
 * Number, from 1.
 */
q: number,
/**
 * Answers that contain each choice.
 */
histogram: Array<number>,
/**
 * Answers accepted.
 */
answered: number,
/**
 * Correct answers.
 */
right: number,
/**
 * Median time to answer in milliseconds; none when nobody answered.
 */
median_ms?: number | null, };

/**
 * `GET /quiz-usage/dashboard?days=30`: what a teacher's games came to, counted over whole days of UTC, today the last one.
 */
export type DashboardResponse = {
/**
 * Days counted.
 */
days: number,
/**
 * Where the first of them begins, Unix milliseconds.
 */
since_ms: number,
/**
 * Quizzes in the library now.
 */
quizzes: number,
/**
 * Games that ended in these days.
 */
played: UsageCount,
/**
 * The quizzes that were played most, at most ten.
 */
most_played: Array<QuizUsage>, };

/**
 * Games, and what happened in them.
 */
export type UsageCount = {
/**
 * Games.
 */
games: number,
/**
 * Players ranked in them; who played twice counts twice.
 */
players: number,
/**
 * Accepted answers.
 */
answers: number,
/**
 * Right ones among them.
 */
right: number, };

/**
 * How much one quiz was played.
 */
export type QuizUsage = {
/**
 * The quiz.
 */
quiz: QuizId,
/**
 * Its title now; none when it was deleted since.
 */
title?: string | null,
/**
 * Its games.
 */
played: UsageCount,
/**
 * End of the last of them, Unix milliseconds.
 */
last_ms: number, };

/**
 * `GET /quiz-usage/history?days=30`: the days on which games ended, newest first.
 */
export type HistoryResponse = {
/**
 * Days looked at, as in a dashboard.
 */
days: number,
/**
 * Where the first of them begins, Unix milliseconds.
 */
since_ms: number,
/**
 * Those with games.
 */
items: Array<UsageDay>, };

/**
 * A day of a history.
 */
export type UsageDay = {
/**
 * Where it begins in UTC, Unix milliseconds.
 */
day_ms: number,
/**
 * Its games.
 */
played: UsageCount, };

/**
 * A row of `GET /plans`.
 */
export type Plan = {
/**
 * Stable name.
 */
id: string,
/**
 * Name to show.
 */
name: string,
/**
 * Players per game.
 */
players_max: number,
/**
 * Stored quizzes.
 */
quizzes_max: number, };
