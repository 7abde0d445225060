// Game codes: what people type, what servers accept, and drawing a new one.

import { CODE_ALPHABET, CODE_LEN, type GameCode } from "./proto/protocol";

/** The canonical form of what was typed so far: upper case, without white space and hyphens. */
export function canonical(typed: string): string {
  return typed.replace(/[\s-]+/g, "").toUpperCase();
}

export function isCode(text: string): text is GameCode {
  return text.length === CODE_LEN && [...text].every((symbol) => CODE_ALPHABET.includes(symbol));
}

/** The code in `?g=`, or "" when there is none that could be one. */
export function codeInAddress(search: string = location.search): GameCode {
  const code = canonical(new URLSearchParams(search).get("g") ?? "");
  return isCode(code) ? code : "";
}

/** For reading aloud and from far: two groups of three. */
export const grouped = (code: GameCode): string => `${code.slice(0, 3)} ${code.slice(3)}`;

/** Draws a code. `getRandomValues` also exists outside secure contexts. */
export function drawCode(): GameCode {
  return draw(CODE_LEN, CODE_ALPHABET);
}

/** A random string over an alphabet of at most 128 symbols, each equally likely. */
export function draw(length: number, alphabet: string): string {
  const fair = 256 - (256 % alphabet.length);
  let out = "";
  while (out.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < fair && out.length < length) out += alphabet[byte % alphabet.length];
    }
  }
  return out;
}
