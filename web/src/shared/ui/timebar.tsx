// Time left, from relative milliseconds and the monotonic clock. The bar is a CSS animation, so it stays smooth on slow
// phones; the wall clock plays no part.

import type { QuestionView } from "../proto/protocol";

/** Whole seconds left of a question whose time left was true at `openedAt`. */
export function secondsLeft(question: QuestionView, openedAt: number, now: number): number {
  return Math.ceil(Math.max(0, (question.left ?? question.ms) - (now - openedAt)) / 1000);
}

/** The bar. It must be drawn when the question's frame arrives, and anew (another `key`) when a frame repeats it. */
export function TimeBar({ question }: { question: QuestionView }) {
  const goneMs = question.ms - (question.left ?? question.ms);
  return (
    <div class="timebar" aria-hidden="true">
      <i style={{ animationDuration: `${question.ms}ms`, animationDelay: `-${goneMs}ms` }} />
    </div>
  );
}
