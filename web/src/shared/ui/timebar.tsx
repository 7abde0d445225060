// Time left, from relative milliseconds and the monotonic clock. The bar is a CSS animation, so it stays smooth on slow
// phones; the wall clock plays no part.

import { common } from "@lang/common";
import { useEffect, useState } from "preact/hooks";
import type { QuestionView } from "../proto/protocol";

/** Milliseconds left of a question that had `left` (or all of `ms`) at `openedAt`. */
export function leftMs(question: QuestionView, openedAt: number, now: number): number {
  return Math.max(0, (question.left ?? question.ms) - (now - openedAt));
}

/** Whole seconds left, counted down once a second. */
export function useSecondsLeft(question: QuestionView, openedAt: number): number {
  const seconds = () => Math.ceil(leftMs(question, openedAt, performance.now()) / 1000);
  const [, tick] = useState(0);
  const shown = seconds();
  useEffect(() => {
    const left = leftMs(question, openedAt, performance.now());
    if (left === 0) return undefined;
    // Just after the next whole second.
    const timer = setTimeout(() => tick((n) => n + 1), (left % 1000) + 5);
    return () => clearTimeout(timer);
  }, [question, openedAt, shown]);
  return shown;
}

/** Seconds at which a screen reader says how many are left. */
const SPOKEN = [10, 5];

export function TimeBar({ question, openedAt, spoken }: { question: QuestionView; openedAt: number; spoken: boolean }) {
  const seconds = useSecondsLeft(question, openedAt);
  // Computed once per question: a changed delay would restart the animation.
  const [gone] = useState(() => question.ms - leftMs(question, openedAt, performance.now()));
  const style = { animationDuration: `${question.ms}ms`, animationDelay: `-${gone}ms` };
  return (
    <>
      <div class="timebar" aria-hidden="true">
        <i style={style} />
      </div>
      {spoken && (
        <p class="sr" role="status">
          {seconds === 0 ? common.timeUp : SPOKEN.includes(seconds) ? common.seconds(seconds) : ""}
        </p>
      )}
    </>
  );
}
