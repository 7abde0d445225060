// What a game can start with while the API is away: the quizzes of this page as the API signed them, and an access token that is
// never old. All of it is a precaution: what cannot be had is tried again at the next occasion, and nobody is told.

import { renewEarly, request, signedInUser } from "../shared/http";
import type { SignedQuizResponse } from "../shared/proto/protocol";

/** Quizzes of the library that are held without being opened: those changed last, which are the ones about to be played. */
const AHEAD = 6;
/** Quizzes held at once; the one held longest makes room. The largest one has 3 MB. */
const HELD_MAX = 12;
/** How often the token's age is looked at. */
const LOOK_MS = 60_000;

interface Held {
  signed: string;
  teacher: string;
  /** As the library says; none when the quiz was opened from elsewhere. */
  updatedMs: number | undefined;
  /** On the monotonic clock. */
  since: number;
  lifeMs: number;
}

const quizzes = new Map<string, Held>();

/** Fetches a quiz's signed document and keeps it in the place of the one before. Never throws. */
export async function holdQuiz(id: string, updatedMs?: number): Promise<void> {
  const teacher = signedInUser()?.id;
  if (teacher === undefined) return;
  try {
    const answer = await request<SignedQuizResponse>(`/store/quizzes/${encodeURIComponent(id)}/signed`);
    quizzes.delete(id);
    for (const oldest of quizzes.keys()) {
      if (quizzes.size < HELD_MAX) break;
      quizzes.delete(oldest);
    }
    const { signed, expires_in_s } = answer;
    quizzes.set(id, { signed, teacher, updatedMs, since: performance.now(), lifeMs: expires_in_s * 1000 });
  } catch {
    // The API is away or spares itself: the page shows that where somebody asked for something.
  }
}

/** Holds the newest quizzes of a library, one after the other, as far as they are not held as they are. */
export async function holdNewest(rows: readonly { id: string; updated_ms: number }[]): Promise<void> {
  for (const { id, updated_ms } of rows.slice(0, AHEAD)) {
    if (!isCurrent(id, updated_ms)) await holdQuiz(id, updated_ms);
  }
}

/** The document of a quiz, while it is valid; for the teacher who is signed in. */
export function heldQuiz(id: string): string | undefined {
  const held = quizzes.get(id);
  if (!held || held.teacher !== signedInUser()?.id || ageOf(held) >= held.lifeMs) return undefined;
  return held.signed;
}

/** The quiz was changed: what is held is not what its teacher would play. */
export function dropQuiz(id: string): void {
  quizzes.delete(id);
}

const ageOf = (held: Held): number => performance.now() - held.since;

function isCurrent(id: string, updatedMs: number): boolean {
  const held = quizzes.get(id);
  return held !== undefined && heldQuiz(id) !== undefined && held.updatedMs === updatedMs && ageOf(held) < held.lifeMs / 2;
}

/** Keeps the access token young for as long as the page is looked at. Gives back what ends that. */
export function keepTokenYoung(): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") void renewEarly();
  }, LOOK_MS);
  return () => clearInterval(timer);
}
