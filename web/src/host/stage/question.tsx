// An open question on the board: text, answers, time, and how many have answered.

import * as common from "@lang/common";
import * as t from "@lang/host";
import { useEffect, useState } from "preact/hooks";
import type { HostState, QuestionView } from "../../shared/proto/protocol";
import { Tile } from "../../shared/ui/shapes";
import { secondsLeft, TimeBar } from "../../shared/ui/timebar";

/** Seconds left at which a screen reader is told. */
const SPOKEN_S = [10, 5, 0];

export function QuestionStage({ state, question, openedAt }: { state: HostState; question: QuestionView; openedAt: number }) {
  const seconds = useSeconds(question, openedAt);
  return (
    <div class="question-stage">
      <div class="gauges">
        <p class="gauge" aria-label={t.timeLeft} role="timer">
          <b class="num">{seconds}</b>
          <span aria-hidden="true">s</span>
        </p>
        <TimeBar key={`${question.q}.${openedAt}`} question={question} />
        <p class="gauge end">
          <b class="num">
            {common.number(state.answered)}
            <i> / {common.number(state.expected)}</i>
          </b>
          <span>{t.answeredShort}</span>
        </p>
      </div>
      <h1 class={stemClass(question.text)} dir="auto" tabIndex={-1}>
        {question.text}
      </h1>
      <ul class={`choices plain ${gridClass(question.choices)}`}>
        {question.choices.map((text, index) => (
          <li class="choice" key={index}>
            <Tile index={index} letter={common.letters[index]} />
            <span class="text" dir="auto">
              {text}
            </span>
          </li>
        ))}
      </ul>
      <p class="sr" role="status">
        {SPOKEN_S.includes(seconds) ? (seconds === 0 ? t.timeUp : common.seconds(seconds)) : ""}
      </p>
    </div>
  );
}

/** Long texts are set smaller, so that a question keeps to one view. */
export function stemClass(text: string): string {
  const length = [...text].length;
  return `stem text ${length > 320 ? "long" : length > 110 ? "medium" : "short"}`;
}

export function gridClass(choices: string[]): string {
  const longest = Math.max(...choices.map((text) => [...text].length));
  const size = longest > 90 || choices.length > 6 ? "dense" : choices.length > 4 ? "many" : "";
  return `${choices.length > 2 || longest < 60 ? "two" : "one"} ${size}`;
}

function useSeconds(question: QuestionView, openedAt: number): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), 200);
    return () => clearInterval(timer);
  }, [question, openedAt]);
  return secondsLeft(question, openedAt, Math.max(now, openedAt));
}
