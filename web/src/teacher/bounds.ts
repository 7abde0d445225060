// Bounds of a quiz document, the same figures as protocol/src/quiz.rs, which gives the reason of each.
// A test reads the Rust source and compares.

export const QUESTIONS_MAX = 200;
export const TITLE_CHARS_MAX = 120;
export const TEXT_CHARS_MAX = 1_000;
export const CHOICE_CHARS_MAX = 250;
export const CHOICES_MAX = 10;
export const CHOICES_MIN = 2;
export const TIME_MS_MIN = 5_000;
export const TIME_MS_MAX = 600_000;
export const TIME_MS_DEFAULT = 20_000;

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
