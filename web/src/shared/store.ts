// A value that pages watch: the bridge from sessions to what is drawn.

export interface Store<T> {
  get(): T;
  /** Replaces some fields; listeners hear of it. */
  set(change: Partial<T>): void;
  watch(listener: () => void): () => void;
}

export function createStore<T>(value: T): Store<T> {
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(change) {
      value = { ...value, ...change };
      [...listeners].forEach((listener) => listener());
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
