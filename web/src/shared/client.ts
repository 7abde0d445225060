// One socket to a game that comes back by itself for as long as the page is open.
//
// This file owns connecting, retrying, noticing silence, and what each close code means. What the frames say belongs to
// the reducers; what is sent first and shown belongs to the page's session.

import {
  CLOSE_BAD_FIRST_FRAME,
  CLOSE_KICKED,
  CLOSE_NO_SUCH_GAME,
  CLOSE_OVER,
  CLOSE_REPLACED,
  CLOSE_TOKEN,
  CLOSE_TOO_MANY,
} from "./proto/protocol";

/** Full jitter grows from here … */
const BACKOFF_MIN_MS = 200;
/** … to here, and never gives up. */
const BACKOFF_MAX_MS = 5_000;
/** A `ping`, or a frame that must be answered, has this long. */
export const REPLY_MS = 2_000;
/** A handshake that takes longer is tried again; slow mobile networks need a few seconds. */
const HANDSHAKE_MS = 10_000;
/** Wait after "too many" when the server names no delay. */
const TOO_MANY_MS = 2_000;
/** Longest delay that a server may ask for. */
const DELAY_MAX_MS = 60_000;

/**
 * `idle`: nothing wanted yet. `connecting`: the first attempt. `open`: the socket is up. `lost`: trying again.
 * `stopped`: the close code says that trying again is of no use.
 */
export type Status = "idle" | "connecting" | "open" | "lost" | "stopped";

/** What to do after a close. */
export type AfterClose = "stop" | "rejoin" | "retry";

const STOPPING = [CLOSE_OVER, CLOSE_BAD_FIRST_FRAME, CLOSE_KICKED, CLOSE_NO_SUCH_GAME, CLOSE_REPLACED];

/** Moved, slow, too many, 1006 and whatever a proxy or a future server may say: try again. */
export function afterClose(code: number): AfterClose {
  return STOPPING.includes(code) ? "stop" : code === CLOSE_TOKEN ? "rejoin" : "retry";
}

/** Delay before attempt number `failures` (from 0): exponential, full jitter. */
export function backoffMs(failures: number, random: number): number {
  const cap = Math.min(BACKOFF_MAX_MS, 2 * BACKOFF_MIN_MS * 2 ** failures);
  return BACKOFF_MIN_MS + random * (cap - BACKOFF_MIN_MS);
}

/** The part of `WebSocket` that is used. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  send(text: string): void;
  close(): void;
}

/** What the tests replace. */
export interface Env {
  socket(url: string): Socket;
  random(): number;
  later(ms: number, work: () => void): () => void;
}

export const browser: Env = {
  socket: (url) => new WebSocket(url) as unknown as Socket,
  random: Math.random,
  later: (ms, work) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

export interface Handlers {
  /** The frame that opens a socket; `null` while the page does not know it yet (a name still being typed). */
  first(): object | null;
  /** Takes a frame; `false` means that a message was lost and the socket must be opened anew. */
  frame(frame: { t: string; retry_ms?: number | null }): boolean;
  status(status: Status): void;
  /** A close after which nothing is retried: `stop` with its code, or `rejoin`. */
  closed(what: "stop" | "rejoin", code: number): void;
  /** Silence after which to ask whether the server is still there, in milliseconds. */
  quietMs(): number;
}

export interface Client {
  /** Opens the socket unless it is open or about to be; sends the first frame when it is known by now. */
  start(): void;
  /** Sends a frame on an introduced socket; `false` when there is none. With `expectReply`, silence reopens the socket. */
  send(frame: object, expectReply?: boolean): boolean;
  /** Asks whether the server is there: at once, for a page that woke up or came back online. */
  probe(): void;
  /** The connection works as far as the reducer sees: the next failure starts from the shortest delay. */
  healthy(): void;
  /** Closes: for good, or ready for another `start`. */
  close(status: "stopped" | "idle"): void;
}

/** A timer that can be set anew and cleared. */
function timer(later: Env["later"]) {
  let cancel: (() => void) | null = null;
  const clear = () => {
    if (cancel) cancel();
    cancel = null;
  };
  const set = (ms: number, work: () => void) => {
    clear();
    cancel = later(ms, () => {
      cancel = null;
      work();
    });
  };
  return { clear, set, pending: () => cancel !== null };
}

/** A client for one game's socket. State lives in this closure, which the build can shorten as it cannot a class. */
export function createClient(url: string, handlers: Handlers, env: Env = browser): Client {
  const retry = timer(env.later);
  const deadline = timer(env.later);
  const quiet = timer(env.later);
  let status: Status = "idle";
  let socket: Socket | null = null;
  let opened = false;
  let introduced = false;
  let failures = 0;
  /** Delay asked for by the last frame, in milliseconds. */
  let asked: number | null = null;

  const setStatus = (next: Status) => {
    if (next === status) return;
    status = next;
    handlers.status(next);
  };

  const drop = () => {
    retry.clear();
    deadline.clear();
    quiet.clear();
    opened = introduced = false;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    socket = null;
  };

  const connect = () => {
    drop();
    asked = null;
    setStatus(status === "open" || status === "lost" ? "lost" : "connecting");
    socket = env.socket(url);
    deadline.set(HANDSHAKE_MS, again);
    socket.onopen = () => {
      deadline.clear();
      opened = true;
      introduce();
    };
    socket.onmessage = (event) => receive(event.data);
    socket.onclose = (event) => closed(event.code);
  };

  const introduce = () => {
    const first = handlers.first();
    if (introduced || !first || !socket) return;
    introduced = true;
    send(first, true);
  };

  const send = (frame: object, expectReply = false): boolean => {
    if (!introduced || !socket) return false;
    socket.send(JSON.stringify(frame));
    // A deadline that runs already stays: repetitions must not put it off. Any frame within it will do.
    if (expectReply && !deadline.pending()) deadline.set(REPLY_MS, () => again(failures ? null : 0));
    return true;
  };

  const receive = (data: unknown) => {
    deadline.clear();
    quiet.set(handlers.quietMs(), probe);
    const frame = parsed(data);
    if (!frame) return;
    // It counts for a close that follows at once.
    asked = frame.retry_ms ?? null;
    if (frame.t === "welcome" || frame.t === "sync") setStatus("open");
    const before = socket;
    const whole = handlers.frame(frame);
    // The handler may have closed the client by itself.
    if (!whole && socket === before) again();
  };

  const closed = (code: number) => {
    const waiting = opened && !introduced;
    const what = afterClose(code);
    drop();
    if (waiting) {
      // Opened early and closed by the server before the page knew its first frame: opened again when it does.
      setStatus("idle");
    } else if (what === "retry") {
      again(asked ?? (code === CLOSE_TOO_MANY ? TOO_MANY_MS : null));
    } else {
      setStatus("stopped");
      handlers.closed(what, code);
    }
  };

  /** Drops the socket and tries again after `delay`, or as long as failures say. */
  const again = (delay: number | null = null) => {
    drop();
    setStatus("lost");
    retry.set(Math.min(delay ?? backoffMs(failures, env.random()), DELAY_MAX_MS), connect);
    failures++;
  };

  const probe = () => {
    if (status === "idle" || status === "stopped") return;
    if (!socket) connect();
    // Before the game has let this page in, a ping would be a bad first frame.
    else if (status === "open") send({ t: "ping" }, true);
  };

  return {
    start() {
      if (opened) introduce();
      else if (!socket) connect();
    },
    send,
    probe,
    healthy() {
      failures = 0;
    },
    close(next) {
      drop();
      failures = 0;
      setStatus(next);
    },
  };
}

function parsed(data: unknown): { t: string; retry_ms?: number | null } | null {
  try {
    const frame = JSON.parse(String(data));
    return typeof frame.t === "string" ? frame : null;
  } catch {
    return null;
  }
}

/** The socket's address on the page's own host. The game's key is the only thing in it; credentials travel in frames. */
export function watchUrl(code: string): string {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  return `${scheme}://${location.host}/game/watch?g=${code}`;
}

/** Calls `client.probe` whenever the page wakes up or the network returns. */
export function wakeUp(probe: () => void): void {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") probe();
  });
  window.addEventListener("pageshow", probe);
  window.addEventListener("online", probe);
}
