// A host's or a screen's session: socket and reducer put together. Several hosts of one game stay in step by the frames.

import { browser, createClient, type Env, type Status } from "../shared/client";
import {
  CLOSE_BAD_FIRST_FRAME,
  CLOSE_KICKED,
  CLOSE_NO_SUCH_GAME,
  type ErrorCode,
  type HostCommand,
  type HostFrame,
} from "../shared/proto/protocol";
import { emptyHost, type HostView, reduceHost } from "../shared/reducer";
import { createStore, type Store } from "../shared/store";

/** Silence after which to ask whether the server is there: a board that stands still in front of a class is the worst. */
const QUIET_MS = 5_000;
/** Wait before asking again for a token when the API cannot be reached. */
const CREDENTIAL_RETRY_MS = 2_000;

/** Why a session is over for this page. */
export type End = "over" | "token" | "not_yours" | "no_such_game" | "lost" | "broken";

export interface Shown {
  view: HostView;
  status: Status;
  /** The last refused command; gone with the next command. */
  refusal: ErrorCode | null;
  end: End | null;
  /** A ticket for the projector view. */
  ticket: string | null;
}

/** Where the first frame comes from. */
export interface Credential {
  /** The first frame, or `null` when there is no valid credential. May throw while the API cannot be reached. */
  first(): Promise<HostCommand | null>;
  /** Another first frame after the server refused the one before; `null` when there is no other. */
  replace(): Promise<HostCommand | null>;
  /** Ask for a ticket for the projector view after each `sync`. */
  wantsTicket: boolean;
  /** Keeps a ticket for a reload: should the servers lose the game, it shows that there was one. */
  keep?(ticket: string): void;
}

export interface HostSession {
  readonly shown: Store<Shown>;
  start(): void;
  probe(): void;
  command(command: HostCommand): void;
  dismiss(): void;
}

export function createHostSession(
  url: string,
  credential: Credential,
  env: Env = browser,
  now: () => number = () => performance.now(),
): HostSession {
  const shown = createStore<Shown>({ view: emptyHost, status: "idle", refusal: null, end: null, ticket: null });
  const { get, set } = shown;
  let first: HostCommand | null = null;
  /** The credential was replaced and has not worked yet: a second refusal is final. */
  let replaced = false;

  const startWith = async (source: () => Promise<HostCommand | null>) => {
    try {
      first = await source();
    } catch {
      set({ status: "lost" });
      env.later(CREDENTIAL_RETRY_MS, () => void startWith(source));
      return;
    }
    if (first) client.start();
    else set({ end: "token" });
  };

  const take = (frame: HostFrame): boolean => {
    const before = get();
    const view = reduceHost(before.view, frame, now());
    if (view !== before.view) set({ view });
    if (view.gap) return false;
    if (frame.t === "sync") {
      replaced = false;
      client.healthy();
      set({ refusal: null });
      if (credential.wantsTicket) client.send({ t: "ticket" });
    } else if (frame.t === "ticket") {
      set({ ticket: frame.ticket });
      credential.keep?.(frame.ticket);
      if (first?.t === "host") first = { ...first, ticket: frame.ticket };
    } else if (frame.t === "error") {
      set({ refusal: frame.code });
    }
    return true;
  };

  const closed = (what: "stop" | "rejoin", code: number) => {
    if (what === "rejoin") {
      if (replaced) {
        set({ end: "token" });
      } else {
        replaced = true;
        void startWith(credential.replace);
      }
      return;
    }
    const ends: Record<number, End> = {
      [CLOSE_KICKED]: "not_yours",
      [CLOSE_NO_SUCH_GAME]: get().refusal === "game_lost" ? "lost" : "no_such_game",
      [CLOSE_BAD_FIRST_FRAME]: "broken",
    };
    set({ end: ends[code] ?? "over", refusal: null });
  };

  const client = createClient(
    url,
    {
      first: () => first,
      frame: (frame) => take(frame as HostFrame),
      status: (status) => set({ status }),
      closed,
      quietMs: () => QUIET_MS,
    },
    env,
  );

  return {
    shown,
    start: () => void startWith(credential.first),
    probe: client.probe,
    command(command) {
      set({ refusal: null });
      // Every command changes something that the server tells at once, so silence means a dead line.
      client.send(command, true);
    },
    dismiss: () => set({ refusal: null }),
  };
}
