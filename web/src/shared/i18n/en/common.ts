// Words that several pages use. Each is an export of its own, so that the build drops names and what is not used.

import type { ErrorCode } from "../../proto/protocol";
import { plurals } from "../plural";

export const plural = plurals("en");

/** Refusals on a game's socket. */
export const errors: Record<ErrorCode, string> = {
  malformed: "That could not be read. Reload the page.",
  too_large: "That is too long. Shorten it.",
  bad_first_frame: "The connection did not say who it is. Reload the page.",
  too_many: "That was a lot at once. Wait a moment.",
  server_full: "The server is full right now. Trying again…",
  bad_token: "This device’s place in the game is no longer valid. Join again.",
  no_such_game: "No game has this code. Check it on the board.",
  game_lost: "This game could not be brought back after the server failed. Ask your teacher to start a new one.",
  locked: "The game is locked. Ask your teacher to open it.",
  game_full: "The game is full. Ask your teacher.",
  ended: "This game has ended.",
  kicked: "The host removed you from this game.",
  bad_name: "Choose a name of 1 to 20 characters.",
  name_taken: "Someone already has this name. Choose another one.",
  no_such_player: "This player is no longer in the game.",
  wrong_phase: "That is not possible at this point of the game.",
  not_open: "This question is closed.",
  too_late: "The time was up before your answer arrived.",
  already_answered: "Your first answer counts.",
  bad_choice: "That is not one of the choices.",
  not_allowed: "This page may not do that.",
  busy: "The game is busy. Trying again…",
};

export const number = (n: number) => new Intl.NumberFormat("en").format(n);
export const letters = "ABCDEFGHIJ";
export const true_ = "True";
export const false_ = "False";
export const question = (q: number, of: number) => `Question ${q} of ${of}`;
export const points = (n: number) => plural(n, { one: "# point", other: "# points" });
export const players = (n: number) => plural(n, { one: "# player", other: "# players" });
export const seconds = (n: number) => plural(n, { one: "# second left", other: "# seconds left" });
export const timeUp = "Time is up";
export const correct = "Correct";
export const reconnecting = "Connection lost. Reconnecting…";
export const place = (rank: number) => `${rank}${ordinal(rank)}`;

function ordinal(n: number): string {
  const rule = new Intl.PluralRules("en", { type: "ordinal" }).select(n);
  return { zero: "th", one: "st", two: "nd", few: "rd", many: "th", other: "th" }[rule];
}
