// What host and projector show of a game, by its phase; and the bar above it.

import * as t from "@lang/host";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { grouped } from "../shared/code";
import type { HostState, RosterEntry } from "../shared/proto/protocol";
import type { HostView } from "../shared/reducer";
import { Mark } from "../shared/ui/parts";
import type { Shown } from "./session";
import { LobbyStage } from "./stage/lobby";
import { PodiumStage } from "./stage/podium";
import { QuestionStage } from "./stage/question";
import { ResultsStage } from "./stage/results";

/** `player` draws a name in the lobby, when it can be acted on. */
export function Stage({ view, player }: { view: HostView; player?: (entry: RosterEntry) => ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const { state } = view;
  const shown = state ? `${state.phase}.${state.question?.q ?? 0}` : "";
  useEffect(() => {
    // A screen reader starts with the new view; a button that stays on the page keeps its focus.
    if (document.activeElement === document.body) main.current?.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }, [shown]);
  return (
    <main class="stage" ref={main}>
      {state && <Phase state={state} openedAt={view.openedAt} player={player} />}
    </main>
  );
}

function Phase(props: {
  state: HostState;
  openedAt: number;
  player: ((entry: RosterEntry) => ComponentChildren) | undefined;
}) {
  const { state, openedAt, player } = props;
  const { question, reveal, over } = state;
  switch (state.phase) {
    case "lobby":
      return <LobbyStage state={state} {...(player && { player })} />;
    case "question":
      return question ? <QuestionStage key={question.q} state={state} question={question} openedAt={openedAt} /> : null;
    case "results":
      return question && reveal ? <ResultsStage question={question} reveal={reveal} /> : null;
    case "podium":
      return over ? <PodiumStage over={over} title={t.podium} /> : null;
    case "ended":
      return over ? <PodiumStage over={over} title={t.over} /> : <h1 tabIndex={-1}>{t.over}</h1>;
  }
}

/** The bar: what is played, how far, and the code for whoever comes late. */
export function Top({ state }: { state: HostState }) {
  const q = state.question?.q;
  const playing = state.phase === "question" || state.phase === "results";
  return (
    <header class="top live">
      <Mark />
      <p class="top-title text" dir="auto">
        {state.title}
      </p>
      {playing && q !== undefined && <p class="num">{t.question(q, state.of)}</p>}
      {playing && (
        <p class="late" dir="ltr">
          {location.host} <b>{grouped(state.code)}</b>
        </p>
      )}
      {state.locked && <p class="chip">{t.locked}</p>}
    </header>
  );
}

/** Trouble that the room should not have to guess. */
export function Trouble({ shown }: { shown: Shown }) {
  const lost = shown.status === "lost" && shown.end === null;
  const { state } = shown.view;
  const text = lost ? t.reconnecting : state?.behind ? t.behind : state?.rewound ? t.rewound : "";
  return (
    <p class="trouble" role="status">
      {text}
    </p>
  );
}
