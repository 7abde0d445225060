// Browser storage that may be missing or refuse (private windows, full disks, policies): then a page keeps its values in
// memory and loses only the reload.

type Kind = "local" | "session";

const memory: Record<Kind, Map<string, string>> = { local: new Map(), session: new Map() };

function storeOf(kind: Kind): Storage | null {
  try {
    return kind === "local" ? window.localStorage : window.sessionStorage;
  } catch {
    return null;
  }
}

export function readStore(kind: Kind, key: string): string | null {
  try {
    const value = storeOf(kind)?.getItem(key);
    if (value !== null && value !== undefined) return value;
  } catch {
    // Falls through to memory.
  }
  return memory[kind].get(key) ?? null;
}

export function writeStore(kind: Kind, key: string, value: string): void {
  memory[kind].set(key, value);
  try {
    storeOf(kind)?.setItem(key, value);
  } catch {
    // Memory has it.
  }
}

export function removeStore(kind: Kind, key: string): void {
  memory[kind].delete(key);
  try {
    storeOf(kind)?.removeItem(key);
  } catch {
    // Memory has lost it.
  }
}
