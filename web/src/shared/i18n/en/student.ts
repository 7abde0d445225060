// Words of the student page. Each is an export of its own, so that the build drops names and what is not used; another
// language's module is checked to have the same exports.

import type { ErrorCode } from "../../proto/protocol";
import { plural } from "./common";

/** Refusals that a student can meet and do something about. */
export const errors: Partial<Record<ErrorCode, string>> = {
  bad_token: "Your place in the game is no longer valid. Join again.",
  no_such_game: "No game has this code. Check it on the board.",
  game_lost: "This game could not be brought back after the server failed. Ask your teacher to start a new one.",
  locked: "The game is locked. Ask your teacher to open it.",
  game_full: "The game is full. Ask your teacher.",
  ended: "This game has ended.",
  kicked: "The host removed you from this game.",
  bad_name: "Choose a name of 1 to 20 characters.",
  name_taken: "Someone already has this name. Choose another one.",
  not_open: "This question is closed.",
  too_late: "The time was up before your answer arrived.",
  already_answered: "Your first answer counts.",
};
export const otherError = "That did not work. Try again in a moment.";
/** The sentence for a refusal. */
export const errorText = (code: ErrorCode): string => errors[code] ?? otherError;

export const brand = "Homeroom";
export const codeLabel = "Game code";
export const codeHint = "It is on the board.";
export const codeBad = "A code has 6 letters and digits.";
export const offline = "No connection. Check the network and try again.";
export const go = "Continue";
export const checking = "Checking…";
export const nameLabel = "Your name";
export const nameHint = "Everyone in the class sees it.";
export const nameEmpty = "Type a name first.";
export const join = "Join the game";
export const joining = "Joining…";
export const otherCode = "Other code";
export const game = (code: string) => `Game ${code}`;
export const resuming = "Coming back to your game…";
export const inLobby = "You’re in";
export const lobbyWait = "Look at the board. The first question comes to this phone too.";
export const rename = "Change name";
export const save = "Save";
export const cancel = "Cancel";
export const leave = "Leave";
export const leaveAsk = "Leave this game for good?";
export const stay = "Stay";
export const multipleHint = "Tick all that are right, then send.";
export const send = "Send answer";
export const sending = "Sending…";
export const accepted = "Received, being saved…";
export const saved = "Saved";
export const unsaved = "Not saved yet. The game goes on.";
export const rewound = "Your last answers may be lost.";
export const slow = "Your answer has not arrived yet. Still sending…";
export const waitOthers = "Waiting for the others.";
export const wrong = "Not this time";
export const none = "No answer";
export const gained = (n: number) => plural(n, { one: "+# point", other: "+# points" });
export const streak = (n: number) => `${n} in a row`;
export const standing = (place: string, of: number) => `${place} of ${of}`;
export const rightAnswers = (n: number) => plural(n, { one: "Right answer", other: "Right answers" });
export const yours = "your answer";
export const nextSoon = "The next question comes when your teacher is ready.";
export const podium = "Final places";
export const yourPlace = "Your place";
export const tied = "tied";
export const over = "The game is over";
export const overText = "Thanks for playing.";
export const again = "Play another game";
export const left = "You left the game";
export const leftText = "You can join again with the same code.";
export const kicked = "You were removed";
export const joinAgain = "Join again";
export const replaced = "The game is open elsewhere";
export const replacedText = "Another page took over.";
export const takeOver = "Play here";
export const broken = "This page is out of date";
export const brokenText = "Reload it to go on.";
export const reload = "Reload";
