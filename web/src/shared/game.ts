// Starting a game: the client draws the code, and a code that is in use means drawing again.

import { shell } from "@lang/shell";
import { draw, drawCode } from "./code";
import { HttpError, leaveToken, OfflineError, request } from "./http";
import type { CreateGameRequest, CreateGameResponse, GameSettings } from "./proto/protocol";

/** Codes to try. With 100,000 live games one of 729 million codes is taken once in 7,000 draws. */
const DRAWS_MAX = 6;
/** Attempts when no answer comes; the key makes a repeated create return the same game. */
const ATTEMPTS_MAX = 3;

/** The game server's word for "the API does not answer me". */
const API_AWAY = "api-unavailable";

/**
 * Creates a game from a stored quiz; from the signed document that `held` gives when the API is away, and then leaves the host's
 * page the access token. Throws `HttpError` or `OfflineError`.
 */
export async function createGame(
  id: string,
  settings: GameSettings = { scoring: "speed" },
  held: () => string | undefined = () => undefined,
): Promise<CreateGameResponse> {
  const body: CreateGameRequest = { quiz: { id }, key: draw(32, "0123456789abcdefghijklmnopqrstuv"), settings };
  try {
    return await createAt(body);
  } catch (error) {
    const signed = error instanceof HttpError && error.problem.code === API_AWAY ? held() : undefined;
    if (signed === undefined) throw error;
    // With the same key: whichever of the two makes the game, there is one.
    const game = await createAt({ ...body, quiz: { signed } });
    leaveToken();
    return game;
  }
}

async function createAt(body: CreateGameRequest): Promise<CreateGameResponse> {
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
