// The open question: the whole of it, with time, answers, and what became of the answer.

import * as common from "@lang/common";
import * as t from "@lang/student";
import type { Stage } from "../shared/outbox";
import type { PlayerState, QuestionView } from "../shared/proto/protocol";
import { Tile } from "../shared/ui/shapes";
import { TimeBar } from "../shared/ui/timebar";
import { type Page, page } from "./page";
import { Screen } from "./parts";
import type { PlayerSession } from "./session";

const STAGES: Record<Stage, string> = { sending: t.sending, accepted: t.accepted, saved: t.saved, refused: "" };

export function Question(props: { page: Page; session: PlayerSession; state: PlayerState; question: QuestionView }) {
  const { session, state, question } = props;
  const { q } = question;
  const { slot: any, view } = session.shown.get();
  const slot = any?.q === q ? any : null;
  const multiple = question.kind === "multiple";
  const ticked = props.page.ticked.q === q ? props.page.ticked.choices : [];
  const chosen = slot ? slot.choices : ticked;
  const locked = !!slot;

  const tap = (index: number) => {
    if (locked) return;
    if (!multiple) session.answer([index]);
    else page.set({ ticked: { q, choices: question.choices.map((_, i) => i).filter((i) => (i === index) !== ticked.includes(i)) } });
  };

  return (
    <Screen view={`q${q}`} title={common.question(q, state.of)} tone="asked">
      <Who state={state} />
      {/* A repaired connection brings a new time left: the bar starts anew from it. */}
      <TimeBar key={view.openedAt} question={question} />
      <h2 class="stem text" id="stem" dir="auto">
        {question.text}
      </h2>
      {multiple && <p class="soft">{t.multipleHint}</p>}
      <div class="choices" role="group" aria-labelledby="stem">
        {question.choices.map((text, index) => (
          <button
            key={`${q}.${index}`}
            type="button"
            class="choice"
            aria-pressed={chosen.includes(index)}
            aria-disabled={locked}
            onClick={() => tap(index)}
          >
            <Tile index={index} letter={common.letters[index]} />
            <span class="text" dir="auto">
              {text}
            </span>
          </button>
        ))}
      </div>
      {multiple && !locked && (
        <button class="btn big" type="button" aria-disabled={!ticked.length} onClick={() => ticked.length && session.answer(ticked)}>
          {t.send}
        </button>
      )}
      <p class={`fate ${slot ? slot.stage : ""}`} role="status">
        {slot && (slot.code ? t.errorText(slot.code) : STAGES[slot.stage])}
        {slot?.stage === "saved" && <span class="soft"> · {t.waitOthers}</span>}
      </p>
    </Screen>
  );
}

/** Who plays, with how many points. */
export function Who({ state }: { state: PlayerState }) {
  return (
    <p class="who">
      <span class="name" dir="auto">
        {state.name}
      </span>
      <b class="num">{common.number(state.total)}</b>
    </p>
  );
}
