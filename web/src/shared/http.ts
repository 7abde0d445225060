// HTTP calls to the API (`/store`) and to a game's server (`/game`), and the teacher's session.
//
// The access token lives in memory only; the refresh token is an HttpOnly cookie that scripts never see. A page that
// was opened with a token of its own (`#token=`, the demo) keeps it for its tab.

import { shell } from "@lang/shell";
import type { LoginRequest, Problem, RegisterRequest, SessionResponse, User } from "./proto/protocol";
import { readStore, removeStore, writeStore } from "./storage";

/** A refused call: `problem.code` is stable, `message` is a sentence for people. */
export class HttpError extends Error {
  readonly problem: Problem;
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, retryAfterMs?: number) {
    super(problem.detail || problem.title);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No answer came at all. */
export class OfflineError extends Error {
  constructor() {
    super(shell.offline);
  }
}

/** The sentence to show for whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof HttpError || error instanceof OfflineError ? error.message : shell.unexpected;
}

export interface RequestOptions {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Sent as JSON, unless it is a `Blob` or a string with `type`. */
  body?: unknown;
  /** Media type of a body that is not JSON. */
  type?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Send the access token, and on 401 refresh it and try once more. On unless switched off. */
  auth?: boolean;
}

/** An answer with what its caller may need from the headers. */
export interface Answer<T> {
  status: number;
  body: T;
  headers: Headers;
}

/** Calls the server and returns the JSON body (`undefined` when there is none). Throws `HttpError` or `OfflineError`. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await requestFull<T>(path, options)).body;
}

export async function requestFull<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  const auth = options.auth ?? true;
  const token = auth ? await accessToken() : null;
  let response = await send(path, options, token);
  if (response.status === 401 && auth && token !== null) {
    const fresh = await refresh();
    if (fresh !== null) response = await send(path, options, fresh);
  }
  return read<T>(response);
}

async function send(path: string, options: RequestOptions, token: string | null): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  let body: BodyInit | undefined;
  if (options.body !== undefined) {
    const raw = options.type !== undefined || options.body instanceof Blob;
    body = raw ? (options.body as BodyInit) : JSON.stringify(options.body);
    headers["Content-Type"] = options.type ?? (raw ? "application/octet-stream" : "application/json");
  }
  if (token !== null) headers["Authorization"] = `Bearer ${token}`;
  const init: RequestInit = { method: options.method ?? "GET", headers, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) init.body = body;
  if (options.signal) init.signal = options.signal;
  try {
    return await fetch(path, init);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new OfflineError();
  }
}

async function read<T>(response: Response): Promise<Answer<T>> {
  let body: unknown;
  try {
    const text = await response.text();
    body = text === "" ? undefined : JSON.parse(text);
  } catch {
    // A proxy's HTML page, or a body cut short: the status alone must do.
    body = undefined;
    if (response.ok) throw new OfflineError();
  }
  if (!response.ok) throw new HttpError(problemOf(response.status, body), retryAfter(response));
  return { status: response.status, body: body as T, headers: response.headers };
}

function problemOf(status: number, body: unknown): Problem {
  const given = (typeof body === "object" && body !== null ? body : {}) as Partial<Problem>;
  const text = (value: unknown, otherwise: string) => (typeof value === "string" && value !== "" ? value : otherwise);
  const title = text(given.title, shell.unexpected);
  return { code: text(given.code, `http-${status}`), status, title, detail: text(given.detail, title) };
}

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("Retry-After") ?? "");
  return seconds > 0 ? seconds * 1000 : undefined;
}

// --- the teacher's session ---

/** The token in force; `expires` on the monotonic clock. */
let current: { token: string; expires: number } | null = null;
let user: User | null = null;
let refreshing: Promise<string | null> | null = null;

/** A token is renewed this long before its end, so that a call cannot meet the border. */
const MARGIN_MS = 30_000;
/** Key of a token that the page was opened with; this tab only. */
const GIVEN = "homeroom.token";
/** Key under which a tab says that it refreshes, so that two tabs never spend one refresh token. */
const BUSY = "homeroom.refreshing";
/** A token is renewed early from this long before its end, so that half of its life is left when the API goes away. */
const EARLY_MS = 450_000;
/** A tab that died while refreshing holds the others up this long. */
const BUSY_MS = 5_000;

/** Who is signed in, as far as this page knows. */
export const signedInUser = (): User | null => user;

export async function register(body: RegisterRequest): Promise<User> {
  return adopt(await request<SessionResponse>("/store/auth/register", { method: "POST", body, auth: false }));
}

export async function signIn(body: LoginRequest): Promise<User> {
  return adopt(await request<SessionResponse>("/store/auth/login", { method: "POST", body, auth: false }));
}

/** Ends the session here and at the server. */
export async function signOut(): Promise<void> {
  try {
    await request("/store/auth/logout", { method: "POST", auth: false });
  } finally {
    forget();
  }
}

/** Restores the session after a page load; `null` when nobody is signed in. Throws `OfflineError`. */
export async function restoreSession(): Promise<User | null> {
  if (user === null) await refresh();
  return user;
}

/** A valid access token, refreshed when it is about to end; `null` when nobody is signed in. */
export async function accessToken(): Promise<string | null> {
  if (current !== null && performance.now() < current.expires - MARGIN_MS) return current.token;
  const given = givenToken();
  if (given !== null) return given;
  try {
    return await refresh();
  } catch (error) {
    // The API is away, and the token has some seconds left.
    if (current !== null && performance.now() < current.expires) return current.token;
    throw error;
  }
}

/** Renews the access token in the second half of its life. Never throws: a token that cannot be renewed is still good. */
export async function renewEarly(): Promise<void> {
  if (current === null || performance.now() < current.expires - EARLY_MS) return;
  try {
    await refresh();
  } catch {
    // Asked again in a minute.
  }
}

/**
 * Leaves the access token to the next page of this tab, which cannot get one of its own while the API is away. It goes with the
 * tab, and with the next token.
 */
export function leaveToken(): void {
  if (current !== null) writeStore("session", GIVEN, current.token);
}

/** Takes a token out of the address (`#token=…`) and keeps it for this tab. Call it before anything else runs. */
export function takeTokenFromAddress(): void {
  const match = /^#token=(.+)$/.exec(location.hash);
  if (match?.[1] === undefined) return;
  writeStore("session", GIVEN, decodeURIComponent(match[1]));
  history.replaceState(history.state, "", location.pathname + location.search);
}

/** Drops a token that a game's server refused, and gets another one if there is a session. */
export async function replaceToken(): Promise<string | null> {
  removeStore("session", GIVEN);
  current = null;
  return refresh();
}

const givenToken = () => readStore("session", GIVEN);

function forget(): void {
  current = null;
  user = null;
  removeStore("session", GIVEN);
}

function adopt(session: SessionResponse): User {
  removeStore("session", GIVEN);
  current = { token: session.access_token, expires: performance.now() + session.expires_in_s * 1000 };
  user = session.user;
  return session.user;
}

/** Gets a new access token by the cookie. One call at a time, in this tab and among tabs. */
function refresh(): Promise<string | null> {
  refreshing ??= inTurn(refreshNow).finally(() => {
    refreshing = null;
  });
  return refreshing;
}

async function refreshNow(): Promise<string | null> {
  try {
    adopt(await request<SessionResponse>("/store/auth/refresh", { method: "POST", auth: false }));
    return current?.token ?? null;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    // Overload or a limit says nothing about the session.
    if (error.problem.status >= 500 || error.problem.status === 429) throw error;
    current = null;
    user = null;
    return null;
  }
}

/**
 * Runs `work` while no other tab runs it. A stored time stamp does it, because `navigator.locks` is missing over plain
 * HTTP on a LAN address.
 */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const taken = () => {
    const age = Date.now() - Number(readStore("local", BUSY) ?? "0");
    return age >= 0 && age < BUSY_MS;
  };
  while (taken()) await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 50));
  writeStore("local", BUSY, String(Date.now()));
  try {
    return await work();
  } finally {
    removeStore("local", BUSY);
  }
}
