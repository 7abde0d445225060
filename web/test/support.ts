// What the tests share: fixtures written by the Rust tests, and a browser whose clock and sockets a test moves.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Env, Socket } from "../src/shared/client";

const folder = process.env["HOMEROOM_FIXTURES"] ?? "";

/** A message as the server sends it. */
export function fixture<T>(name: string): T {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as T;
}

/** Names of all fixtures that begin with `prefix`. */
export function fixtures(prefix: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(prefix))
    .map((file) => file.replace(/\.json$/, ""));
}

/** A server's end of a socket. */
export class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly sent: { t: string; [key: string]: unknown }[] = [];
  closed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.closed = true;
  }

  accept(): void {
    this.onopen?.();
  }

  deliver(frame: object | string): void {
    this.onmessage?.({ data: typeof frame === "string" ? frame : JSON.stringify(frame) });
  }

  hangUp(code: number): void {
    this.closed = true;
    this.onclose?.({ code });
  }

  /** The types of the frames sent so far. */
  types(): string[] {
    return this.sent.map((frame) => frame.t);
  }
}

/** A browser with a clock of its own. */
export class FakeBrowser implements Env {
  now = 0;
  luck = 0;
  readonly sockets: FakeSocket[] = [];
  private timers: { at: number; work: () => void }[] = [];

  socket = (): Socket => {
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket;
  };

  random = (): number => this.luck;

  later = (ms: number, work: () => void): (() => void) => {
    const timer = { at: this.now + ms, work };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  };

  /** Lets time pass, running what falls due in order. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const due = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers = this.timers.filter((timer) => timer !== due);
      this.now = due.at;
      due.work();
    }
    this.now = end;
  }

  /** The newest socket. */
  get last(): FakeSocket {
    const socket = this.sockets[this.sockets.length - 1];
    if (socket === undefined) throw new Error("no socket was opened");
    return socket;
  }
}
