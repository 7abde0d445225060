// The one thing a host does next, by phase; Space and Enter do it from anywhere on the page.

import * as t from "@lang/host";
import { useEffect, useRef } from "preact/hooks";
import type { HostCommand, HostState } from "../shared/proto/protocol";

export interface Primary {
  label: string;
  command: HostCommand;
  /** Ask first. */
  ask?: "start" | "finish";
}

export function primaryOf(state: HostState): Primary | null {
  const q = state.question?.q ?? 0;
  switch (state.phase) {
    case "lobby": {
      const start: Primary = { label: t.start, command: { t: "start" } };
      return state.roster.length === 0 ? { ...start, ask: "start" } : start;
    }
    case "question":
      return { label: t.closeNow, command: { t: "close", q } };
    case "results":
      return { label: q >= state.of ? t.toPodium : t.next, command: { t: "next", q } };
    case "podium":
      return { label: t.finish, command: { t: "finish" }, ask: "finish" };
    case "ended":
      return null;
  }
}

/** After a change of phase the key waits this long: a double press on Start must not close the first question. */
export const SETTLE_MS = 700;

const CONTROLS = "button,input,select,textarea,summary,[role=dialog],[contenteditable]";
/** Space does nothing on a link, Enter follows it. */
const TAKES: Record<string, string> = { " ": CONTROLS, Enter: `a,${CONTROLS}` };

/** Calls `act` on Space and Enter, unless a control has the focus. */
export function usePrimaryKey(act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const takes = TAKES[event.key];
      if (takes === undefined) return;
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest(takes)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
