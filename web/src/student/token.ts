// A player's place in a game, kept on the device under the game's code, so that typing the code again resumes.

import { readStore, removeStore, writeStore } from "../shared/storage";

const PREFIX = "homeroom.player.";
/** Games end after six hours and their codes come back; a day is more than any token lives. */
const KEPT_MS = 24 * 60 * 60 * 1000;

interface Kept {
  token: string;
  name: string;
  at: number;
}

export function keepToken(code: string, token: string, name: string): void {
  const kept: Kept = { token, name, at: Date.now() };
  writeStore("local", PREFIX + code, JSON.stringify(kept));
  prune();
}

export function keptToken(code: string): string | null {
  return read(PREFIX + code)?.token ?? null;
}

export function dropToken(code: string): void {
  removeStore("local", PREFIX + code);
}

function read(key: string): Kept | null {
  try {
    const kept = JSON.parse(readStore("local", key) ?? "null") as Kept | null;
    return kept !== null && typeof kept.token === "string" ? kept : null;
  } catch {
    return null;
  }
}

/** Forgets places in games of other days. */
function prune(): void {
  try {
    for (const key of Object.keys(localStorage)) {
      const age = Date.now() - (read(key)?.at ?? 0);
      if (key.startsWith(PREFIX) && age > KEPT_MS) removeStore("local", key);
    }
  } catch {
    // No storage, nothing to prune.
  }
}
