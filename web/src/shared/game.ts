// Starting a game: the client draws the code, and a code that is in use means drawing again.

import { shell } from "@lang/shell";
import { draw, drawCode } from "./code";
import { HttpError, OfflineError, request } from "./http";
import type { CreateGameRequest, CreateGameResponse, GameSettings, QuizSource } from "./proto/protocol";

/** Codes to try. With 100,000 live games one of 729 million codes is taken once in 7,000 draws. */
const DRAWS_MAX = 6;
/** Attempts when no answer comes; the key makes a repeated create return the same game. */
const ATTEMPTS_MAX = 3;

/**
 * Creates a game from a stored quiz (`{ id }`) or a signed document (`{ signed }`).
 * Throws `HttpError` or `OfflineError`.
 */
export async function createGame(quiz: QuizSource, settings: GameSettings = { scoring: "speed" }): Promise<CreateGameResponse> {
  const body: CreateGameRequest = { quiz, key: draw(32, "0123456789abcdefghijklmnopqrstuv"), settings };
  for (let drawn = 0; drawn < DRAWS_MAX; drawn++) {
    try {
      return await attempt(drawCode(), body);
    } catch (error) {
      if (!(error instanceof HttpError && error.problem.status === 409)) throw error;
    }
  }
  throw new HttpError({ code: "no-free-code", status: 409, title: shell.noCode, detail: shell.noCode });
}

async function attempt(code: string, body: CreateGameRequest): Promise<CreateGameResponse> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await request<CreateGameResponse>(`/game/games?g=${code}`, { method: "POST", body });
    } catch (error) {
      if (!(error instanceof OfflineError) || attempts === ATTEMPTS_MAX) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300 * attempts));
    }
  }
}

/** Addresses of a game's pages. */
export const hostPath = (code: string): string => `/host?g=${code}`;
export const joinPath = (code: string): string => `/?g=${code}`;
export const reportPath = (game: string): string => `/report?game=${game}`;
