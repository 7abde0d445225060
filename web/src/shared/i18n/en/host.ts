// Words of the host page and the projector view.

import type { ErrorCode } from "../../proto/protocol";
import * as common from "./common";

const { plural } = common;

export const title = "Host a game";
export const screenTitle = "Projector view";
export const joinAt = "Join at";
export const withCode = "with the code";
export const qrLabel = (url: string) => `QR code for ${url}`;
export const localOnly = "Phones cannot open this address. Open this page by the computer’s name or number in the network instead.";
export const lobbyEmpty = "Nobody is here yet. Names appear as students join.";
export const players = common.players;
export const away = "away";
export const playerMenu = ": rename or remove";
export const locked = "Joining is locked";
export const lock = "Lock joining";
export const unlock = "Unlock joining";
export const start = "Start";
export const startEmpty = "Start without players?";
export const startEmptyText = "Nobody has joined yet. Players can still join while the game runs.";
export const closeNow = "Close question";
export const skip = "Skip question";
export const skipAsk = "Skip this question?";
export const skipText = "It closes now, and nobody gets points for it.";
export const next = "Next question";
export const toPodium = "Show final places";
export const finish = "End game";
export const endNow = "End early";
export const endAsk = "End the game now?";
export const endText = "The final places are shown next, counting the questions played so far.";
export const endLobbyText = "No question has been played, so there will be no report.";
export const finishAsk = "Close the game?";
export const finishText = "Phones say goodbye. The report is saved.";
export const playerList = "Players";
export const projector = "Open projector view";
export const newName = "New name";
export const remove = "Remove";
export const removeAsk = (name: string) => `Remove ${name}?`;
export const removeText = "They leave the game, and their points with them. They may join again.";
export const save = "Save";
export const moreActions = "Game controls";
export const question = common.question;
export const answeredShort = "answered";
export const timeLeft = "time left";
export const timeUp = common.timeUp;
export const results = "Results";
export const rightOf = (right: number, answered: number) => `${common.number(right)} of ${common.number(answered)} right`;
export const nobodyAnswered = "Nobody answered.";
export const skippedNote = "Skipped: no points for this question";
export const colChoice = "Answer";
export const colAnswers = "Answers";
export const colCorrect = "Correct";
export const correct = common.correct;
export const leaders = "Leaders";
export const podium = "Final places";
export const tied = (n: number) => plural(n, { one: "", other: "# players share this place" });
export const allPlaces = "All places";
export const noRanking = "Nobody took part.";
export const over = "The game is over";
export const overSaved = "The result is saved in your reports.";
export const report = "Open the report";
export const library = "Back to the library";
export const behind = "Saving is behind. The game goes on; answers are kept and saved as soon as possible.";
export const rewound = "The servers’ storage failed. The last answers before that may be missing.";
export const reconnecting = common.reconnecting;
export const connecting = "Connecting to the game…";
export const signInTitle = "Sign in to host";
export const signInText = "Your sign-in has ended. The game goes on without you; sign in to take it up again.";
export const signIn = "Sign in";
export const lost = "This game is lost";
export const lostText = "The server failed and could not bring it back. Start a new game.";
export const noGame = "No such game";
export const noGameText = "There is no running game with this code. If it has ended, its report is in your games.";
export const notYours = "Not your game";
export const notYoursText = "This game belongs to another account.";
export const broken = "This page is out of date";
export const brokenText = "Reload it to go on.";
export const reload = "Reload";
export const ticketBad = "This projector view has ended";
export const ticketBadText = "Open it again from the host page.";
export const offlineText = "The server cannot be reached. Trying again…";
export const keyHint = "Space";

/** Refusals of a host's commands; those not named here cannot be caused from the page. */
const refusals: Partial<Record<ErrorCode, string>> = {
  wrong_phase: "The game had already moved on.",
  not_open: "The game had already moved on.",
};
export const refusal = (code: ErrorCode): string => refusals[code] ?? common.errors[code];
