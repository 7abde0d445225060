// From frames to what a screen shows, without sockets, clocks or storage: each function takes a view and a frame and
// returns the next view (the same object when nothing changed).
//
// `seq` counts a game's public transitions without gaps. A frame that skips a number, or a `pong` that names one not seen
// here, sets `gap`: a message was lost, and the socket must be opened anew with `resume`. A frame from the past changes
// nothing. `sync` replaces everything; after a takeover (a new `epoch`) even by a lower `seq`.

import type {
  ByeReason,
  ErrorCode,
  HostFrame,
  HostState,
  PlayerFrame,
  PlayerState,
  RosterEntry,
} from "./proto/protocol";

interface View<State> {
  state: State | null;
  /** Monotonic time, in milliseconds, at which the question's time left was true. */
  openedAt: number;
  /** A message was lost: open anew. */
  gap: boolean;
  /** Why the server closes the socket. */
  bye: ByeReason | null;
}

export interface PlayerView extends View<PlayerState> {
  id: number | null;
  /** Resume token of this device. */
  token: string | null;
}

export type HostView = View<HostState>;

export const emptyPlayer: PlayerView = { state: null, openedAt: 0, gap: false, bye: null, id: null, token: null };
export const emptyHost: HostView = { state: null, openedAt: 0, gap: false, bye: null };

/** Refusals that say nothing about the answer itself: it is sent again. */
const PASSING: readonly ErrorCode[] = ["busy", "too_many", "server_full"];
export const isPassing = (code: ErrorCode): boolean => PASSING.includes(code);

/** What a frame with `seq` means for a view. */
type Turn = "next" | "past" | "gap";

function turn(state: { seq: number } | null, seq: number): Turn {
  if (state === null) return "past";
  if (seq <= state.seq) return "past";
  return seq === state.seq + 1 ? "next" : "gap";
}

/** A view taken over from a state that replaces all before; an older owner's state is refused. */
function replaced<S extends { epoch: number }, V extends View<S>>(view: V, state: S, now: number): V {
  if (view.state !== null && state.epoch < view.state.epoch) return { ...view, gap: true };
  return { ...view, state, openedAt: now, gap: false, bye: null };
}

export function reducePlayer(view: PlayerView, frame: PlayerFrame, now: number): PlayerView {
  switch (frame.t) {
    case "welcome":
      return replaced({ ...view, id: frame.id, token: frame.token }, frame.state, now);
    case "sync":
      return replaced(view, frame.state, now);
    case "question":
    case "result":
    case "over": {
      const { state } = view;
      const what = turn(state, frame.seq);
      if (what === "past" || state === null) return view;
      return what === "gap" ? { ...view, gap: true } : playerStep(view, state, frame, now);
    }
    case "renamed":
      return view.state === null ? view : { ...view, state: { ...view.state, name: frame.name } };
    case "pong":
      return turn(view.state, frame.seq) === "past" ? view : { ...view, gap: true };
    case "error":
      // Another answer stands than the one this page holds: ask for the truth.
      return frame.code === "already_answered" && !view.state?.answered ? { ...view, gap: true } : view;
    case "bye":
      return ended({ ...view, bye: frame.reason });
    case "ack":
      return view;
    default:
      // Unknown frames are a newer server's.
      return view;
  }
}

type PlayerStep = Extract<PlayerFrame, { seq: number; t: "question" | "result" | "over" }>;

function playerStep(view: PlayerView, before: PlayerState, frame: PlayerStep, now: number): PlayerView {
  const { t, seq, ...rest } = frame;
  const state: PlayerState = { ...before, seq };
  switch (frame.t) {
    case "question":
      Object.assign(state, { phase: "question", question: rest, answered: null, outcome: null, over: null });
      return { ...view, state, openedAt: now };
    case "result":
      Object.assign(state, { phase: "results", outcome: rest, total: frame.total });
      return { ...view, state };
    case "over":
      Object.assign(state, { phase: "podium", over: rest, total: frame.total });
      return { ...view, state };
  }
}

/** After the farewell of an ended game nothing else comes; the last places stay on the screen. */
function ended<V extends View<PlayerState> | View<HostState>>(view: V): V {
  if (view.bye !== "ended" || view.state === null) return view;
  return { ...view, state: { ...view.state, phase: "ended" } };
}

export function reduceHost(view: HostView, frame: HostFrame, now: number): HostView {
  if (frame.t === "sync") return replaced(view, frame.state, now);
  const { state } = view;
  if (state === null) return frame.t === "bye" ? { ...view, bye: frame.reason } : view;
  switch (frame.t) {
    case "question":
    case "reveal":
    case "over": {
      const what = turn(state, frame.seq);
      if (what === "past") return view;
      return what === "gap" ? { ...view, gap: true } : hostStep(view, state, frame, now);
    }
    case "roster":
      return { ...view, state: { ...state, roster: roster(state.roster, frame) } };
    case "progress":
      if (state.phase !== "question" || state.question?.q !== frame.q) return view;
      return { ...view, state: { ...state, answered: frame.answered, expected: frame.of } };
    case "lock":
      return { ...view, state: { ...state, locked: frame.on } };
    case "saving":
      return { ...view, state: { ...state, behind: frame.behind } };
    case "pong":
      return turn(state, frame.seq) === "past" ? view : { ...view, gap: true };
    case "bye":
      return ended({ ...view, bye: frame.reason });
    case "ticket":
    case "error":
      return view;
    default:
      return view;
  }
}

type HostStep = Extract<HostFrame, { seq: number; t: "question" | "reveal" | "over" }>;

function hostStep(view: HostView, before: HostState, frame: HostStep, now: number): HostView {
  const { t, seq, ...rest } = frame;
  const state: HostState = { ...before, seq };
  switch (frame.t) {
    case "question": {
      const here = before.roster.filter((player) => !player.away).length;
      Object.assign(state, { phase: "question", question: rest, answered: 0, expected: here, reveal: null, over: null });
      return { ...view, state, openedAt: now };
    }
    case "reveal":
      Object.assign(state, { phase: "results", reveal: rest, answered: frame.answered });
      return { ...view, state };
    case "over":
      Object.assign(state, { phase: "podium", over: rest });
      return { ...view, state };
  }
}

type RosterFrame = Extract<HostFrame, { t: "roster" }>;

/** The roster after a frame's changes, in the order the protocol says: joined, renamed, away, back, left. */
function roster(before: RosterEntry[], frame: RosterFrame): RosterEntry[] {
  const players = new Map(before.map((player) => [player.id, player]));
  for (const player of frame.joined ?? []) players.set(player.id, player);
  for (const player of frame.renamed ?? []) {
    const known = players.get(player.id);
    if (known) players.set(player.id, { ...known, name: player.name });
  }
  const mark = (ids: number[] | undefined, away: boolean) => {
    for (const id of ids ?? []) {
      const known = players.get(id);
      if (known) players.set(id, { ...known, away });
    }
  };
  mark(frame.away, true);
  mark(frame.back, false);
  for (const id of frame.left ?? []) players.delete(id);
  return [...players.values()];
}
