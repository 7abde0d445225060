// The student page's state: which game, and what the person does on the page before it reaches the game. Everything is
// drawn from here, from the root, whenever something changes; so the page needs no hooks and their bytes.

import * as common from "@lang/common";
import * as t from "@lang/student";
import { wakeUp, watchUrl } from "../shared/client";
import { canonical, codeInAddress, isCode } from "../shared/code";
import type { StatusResponse } from "../shared/proto/protocol";
import { createStore } from "../shared/store";
import { secondsLeft } from "../shared/ui/timebar";
import { createSession, type PlayerSession } from "./session";
import { keptToken } from "./token";

/** How often lasting trouble and time are looked at. */
const TICK_MS = 250;
/** After this long without an ack or a connection the page says so. */
const BANNER_MS = 1_000;
/** Seconds left at which a screen reader is told. */
const SPOKEN_S = [10, 5];

export interface Page {
  session: PlayerSession | null;
  /** What is wrong with the code or name typed. */
  error: string;
  /** A code is being looked up. */
  busy: boolean;
  /** Choices ticked of question `q`, not sent yet. */
  ticked: { q: number; choices: number[] };
  /** What the lobby asks: another name (holds the one in force), or whether to leave. */
  asking: { rename: string } | "leave" | null;
  /** Trouble that has lasted, in words. */
  banner: string;
  /** Time left, in words, at the moments when it is spoken. */
  spoken: string;
}

export const page = createStore<Page>({
  session: null,
  error: "",
  busy: false,
  ticked: { q: 0, choices: [] },
  asking: null,
  banner: "",
  spoken: "",
});
const { get, set } = page;

/** Opens the game of `code`, or the code form for "". The address follows, so that a reload comes back here. */
export function enter(code: string): void {
  get().session?.close();
  const session = code === "" ? null : createSession(code, watchUrl(code));
  const address = session ? `/?g=${code}` : "/";
  if (location.pathname + location.search !== address) history.replaceState(null, "", address);
  set({ session, error: "", busy: false, asking: null });
  if (!session) return;
  session.shown.watch(() => {
    if (get().session === session) set({});
  });
  // A known place is resumed while the page is still being drawn; for others a wrong code shows before the name is typed.
  if (session.known()) session.open();
  else void refusalOf(code).then((error) => get().session === session && set({ error }));
}

export function begin(): void {
  wakeUp(() => get().session?.probe());
  setInterval(tick, TICK_MS);
  enter(codeInAddress());
}

/** Takes a typed code: a place on this device is resumed whatever a new player would be told. */
export async function submitCode(typed: string): Promise<void> {
  const code = canonical(typed);
  if (!isCode(code)) {
    set({ error: t.codeBad });
    return;
  }
  set({ error: "", busy: true });
  const error = keptToken(code) ? "" : await refusalOf(code);
  if (error) set({ error, busy: false });
  else enter(code);
}

/** Why nobody new can join the game of `code`; "" when nothing speaks against it. */
async function refusalOf(code: string): Promise<string> {
  try {
    const response = await fetch(`/game/status?g=${code}`);
    // Other failures are the server's trouble, and the socket will tell.
    if (!response.ok) return response.status === 404 ? (t.errors.no_such_game ?? "") : "";
    const { phase, locked } = (await response.json()) as StatusResponse;
    return (phase === "ended" ? t.errors.ended : locked ? t.errors.locked : "") ?? "";
  } catch {
    return t.offline;
  }
}

/** When the present trouble was first seen; 0 when there is none. */
let troubledAt = 0;

function tick(): void {
  const now = performance.now();
  const trouble = troubleOf();
  troubledAt = trouble ? troubledAt || now : 0;
  const banner = trouble && now - troubledAt >= BANNER_MS ? trouble : "";
  const spoken = spokenAt(now);
  if (banner !== get().banner || spoken !== get().spoken) set({ banner, spoken });
}

function troubleOf(): string {
  const shown = get().session?.shown.get();
  if (!shown || shown.end) return "";
  if (shown.status === "lost") return common.reconnecting;
  if (shown.slot?.stage === "sending" && shown.view.state?.phase === "question") return t.slow;
  return shown.unsaved ? t.unsaved : shown.view.state?.rewound ? t.rewound : "";
}

function spokenAt(now: number): string {
  const view = get().session?.shown.get().view;
  if (view?.state?.phase !== "question" || !view.state.question) return "";
  const seconds = secondsLeft(view.state.question, view.openedAt, now);
  return seconds === 0 ? common.timeUp : SPOKEN_S.includes(seconds) ? common.seconds(seconds) : "";
}
