// A player's session: socket, reducer and answer outbox put together. Components read its store and call its methods.

import { type Env, REPLY_MS, type Status, browser, createClient } from "../shared/client";
import { acked, command, keepSlot, keptSlot, place, reconciled, refused, type Slot, unsettled } from "../shared/outbox";
import {
  CLOSE_BAD_FIRST_FRAME,
  CLOSE_KICKED,
  CLOSE_NO_SUCH_GAME,
  CLOSE_REPLACED,
  type ErrorCode,
  type PlayerFrame,
} from "../shared/proto/protocol";
import { emptyPlayer, type PlayerView, reducePlayer } from "../shared/reducer";
import { createStore, type Store } from "../shared/store";
import { dropToken, keepToken, keptToken } from "./token";

/** Silence after which to ask whether the server is there: short while something can happen at any moment. */
const QUIET_PLAYING_MS = 5_000;
const QUIET_WAITING_MS = 15_000;

/** Why a session is over for this page. */
export type End = "over" | "left" | "kicked" | "replaced" | "no_such_game" | "lost" | "broken";

export interface Shown {
  view: PlayerView;
  status: Status;
  slot: Slot | null;
  /** A name was sent and not answered yet. */
  joining: boolean;
  /** The last thing told is not in the journal yet, and could be taken back. */
  unsaved: boolean;
  /** The last refusal that concerns joining or renaming. */
  refusal: ErrorCode | null;
  end: End | null;
}

export interface PlayerSession {
  readonly code: string;
  readonly shown: Store<Shown>;
  /** Whether this device has a place in the game. */
  known(): boolean;
  /** Opens the socket; with a known place this resumes it, otherwise it only saves the handshake's time. */
  open(): void;
  /** For a page that woke up. */
  probe(): void;
  join(name: string): void;
  rename(name: string): void;
  leave(): void;
  /** Takes the game back from a newer page of the same player. */
  takeOver(): void;
  /** Back to the name form, as a new player. */
  startOver(): void;
  /** Hangs up; the place is kept. */
  close(): void;
  /** Answers the open question; the first call for a question counts. */
  answer(choices: number[]): void;
}

export function createSession(
  code: string,
  url: string,
  env: Env = browser,
  now: () => number = () => performance.now(),
): PlayerSession {
  let token = keptToken(code);
  let name: string | null = null;
  let cancelRepeat: (() => void) | null = null;
  /** The server said that it could not bring the game back. */
  let lost = false;

  const fresh = { view: emptyPlayer, slot: null, joining: false, unsaved: false, refusal: null, end: null };
  const shown = createStore<Shown>({ ...fresh, status: "idle", slot: keptSlot(code) });
  const { get, set } = shown;

  const openQuestion = () => {
    const { state } = get().view;
    return state?.phase === "question" ? state.question : null;
  };

  const setSlot = (slot: Slot | null) => {
    if (slot === get().slot) return;
    keepSlot(code, slot);
    set({ slot });
  };

  const repeatIn = (ms: number) => {
    if (cancelRepeat) cancelRepeat();
    cancelRepeat = env.later(ms, sendSlot);
  };

  const sendSlot = () => {
    const { slot } = get();
    const question = openQuestion();
    if (!question || !unsettled(slot) || slot.q !== question.q) return;
    client.send(command(slot, question), slot.stage === "sending");
    repeatIn(REPLY_MS);
  };

  const take = (frame: PlayerFrame): boolean => {
    const before = get();
    const view = reducePlayer(before.view, frame, now());
    if (view !== before.view) set({ view });
    if (view.gap) return false;
    // A frame without the mark, or an ack that says saved, means: and so is all before it. These two depend on nothing.
    const saved = (frame as { saved?: boolean }).saved !== false;
    if (before.unsaved === saved && frame.t !== "pong" && frame.t !== "bye") set({ unsaved: !saved });
    switch (frame.t) {
      case "welcome":
      case "sync":
        arrived(view);
        break;
      case "question":
        if (before.slot?.q !== frame.q) setSlot(null);
        break;
      case "renamed":
        if (token) keepToken(code, token, frame.name);
        set({ refusal: null });
        break;
      case "ack":
        setSlot(acked(before.slot, frame.q, frame.saved));
        break;
      case "error":
        turnedDown(frame);
        break;
      default:
        break;
    }
    return true;
  };

  const arrived = (view: PlayerView) => {
    const { state } = view;
    if (!state) return;
    client.healthy();
    if (view.token) {
      token = view.token;
      keepToken(code, token, state.name);
    }
    set({ joining: false, refusal: null });
    setSlot(reconciled(get().slot, state, get().unsaved));
    sendSlot();
  };

  const turnedDown = (frame: Extract<PlayerFrame, { t: "error" }>) => {
    const { slot, view } = get();
    if (frame.code === "game_lost") lost = true;
    if (frame.q) {
      setSlot(refused(slot, frame.q, frame.code));
      if (frame.retry_ms) repeatIn(frame.retry_ms);
    } else if (view.state || !token) {
      if (!view.state) name = null;
      set({ joining: false, refusal: frame.code });
    }
    // Otherwise a kept place is refused, and the close that follows says what to do.
  };

  const forget = () => {
    token = name = null;
    if (cancelRepeat) cancelRepeat();
    dropToken(code);
    setSlot(null);
  };

  const finish = (end: End) => {
    // The final place is still there to be looked at: a reload comes back to it.
    if (end !== "over") forget();
    client.close("stopped");
    set({ end, joining: false });
  };

  const startOver = () => {
    forget();
    client.close("idle");
    set(fresh);
  };

  const closed = (what: "stop" | "rejoin", closeCode: number) => {
    const { view, refusal } = get();
    if (what === "rejoin") {
      startOver();
      if (view.state) set({ refusal: "bad_token" });
    } else if (closeCode === CLOSE_REPLACED) {
      set({ end: "replaced" });
    } else if (closeCode === CLOSE_BAD_FIRST_FRAME) {
      // After a refused name the server may close too; the form stays, and the next try opens a new socket.
      if (refusal) client.close("idle");
      else set({ end: "broken", joining: false });
    } else {
      const left = view.bye === "left" ? "left" : "over";
      const none = lost ? "lost" : "no_such_game";
      finish(closeCode === CLOSE_KICKED ? "kicked" : closeCode === CLOSE_NO_SUCH_GAME ? none : left);
    }
  };

  const client = createClient(
    url,
    {
      first() {
        if (token) return { t: "resume", token, seq: get().view.state?.seq ?? 0 };
        return name === null ? null : { t: "join", name };
      },
      frame: (frame) => take(frame as PlayerFrame),
      status: (status) => set({ status }),
      closed,
      quietMs() {
        const phase = get().view.state?.phase;
        return phase === "question" || phase === "results" ? QUIET_PLAYING_MS : QUIET_WAITING_MS;
      },
    },
    env,
  );

  return {
    code,
    shown,
    known: () => token !== null,
    open() {
      if (!get().end) client.start();
    },
    probe: client.probe,
    join(typed) {
      name = typed;
      set({ joining: true, refusal: null, end: null });
      // After a refusal the socket may still be there, waiting for another name.
      if (!client.send({ t: "join", name }, true)) client.start();
    },
    rename(typed) {
      set({ refusal: null });
      client.send({ t: "rename", name: typed }, true);
    },
    leave() {
      client.send({ t: "leave" });
      finish("left");
    },
    takeOver() {
      set({ end: null });
      client.start();
    },
    startOver,
    close: () => client.close("stopped"),
    answer(choices) {
      const question = openQuestion();
      if (!question) return;
      const { slot } = get();
      const placed = place(slot, question.q, choices);
      if (placed === slot) return;
      setSlot(placed);
      sendSlot();
    },
  };
}
