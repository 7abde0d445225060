// Bounds of what a teacher types that the generated protocol file has no constant for, and lengths as the server counts them.

/** Password length in characters, as `RegisterRequest` documents it. */
export const PASSWORD_CHARS_MIN = 8;
export const PASSWORD_CHARS_MAX = 256;
/** Length of a teacher's name in characters. */
export const NAME_CHARS_MAX = 80;

/** Length as the server counts it: Unicode scalar values, so an emoji outside the basic plane is one. */
export function charCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** White space as Rust's `str::trim` sees it; JavaScript's own trim differs at U+0085 and U+FEFF. */
export function trimSpace(text: string): string {
  return text.replace(/^\p{White_Space}+/u, "").replace(/\p{White_Space}+$/u, "");
}
