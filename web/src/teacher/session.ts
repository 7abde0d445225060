// Who is signed in on this page, as something views can render from. The calls and the tokens are `shared/http`'s; this module knows
// when the answer changes.

import { useEffect, useState } from "preact/hooks";
import * as http from "../shared/http";
import type { LoginRequest, RegisterRequest, User } from "../shared/proto/protocol";

export interface SessionState {
  /** The page was just opened and has not asked yet. */
  restoring: boolean;
  user: User | undefined;
  /** Whose session ended while the page was open, other than by signing out. Their view keeps its work. */
  lost: User | undefined;
  /** Why the session could not be asked for: no answer, or an overloaded server. */
  failed: unknown;
}

let state: SessionState = { restoring: true, user: undefined, lost: undefined, failed: undefined };
const listeners = new Set<(state: SessionState) => void>();

function become(next: Partial<SessionState>): void {
  state = { restoring: false, user: undefined, lost: undefined, failed: undefined, ...next };
  listeners.forEach((tell) => tell(state));
}

export function useSession(): SessionState {
  const [seen, setSeen] = useState(state);
  useEffect(() => {
    listeners.add(setSeen);
    setSeen(state);
    return () => void listeners.delete(setSeen);
  }, []);
  return seen;
}

/** Asks by the cookie who is signed in. */
export async function restore(): Promise<void> {
  try {
    become({ user: (await http.restoreSession()) ?? undefined });
  } catch (error) {
    become({ failed: error });
  }
}

export async function login(body: LoginRequest): Promise<void> {
  become({ user: await http.signIn(body) });
}

export async function register(body: RegisterRequest): Promise<void> {
  become({ user: await http.register(body) });
}

export async function logout(): Promise<void> {
  await http.signOut();
  become({});
}

/** `request` that notices when the session has ended. */
export async function authorized<T>(path: string, options?: http.RequestOptions): Promise<T> {
  try {
    return await http.request<T>(path, options);
  } catch (error) {
    if (isStatus(error, 401) && state.user) become({ lost: state.user });
    throw error;
  }
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof http.HttpError && error.problem.status === status;
}
