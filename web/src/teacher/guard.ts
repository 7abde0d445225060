// The unsaved-changes guard: one view at a time may hold it. Closing the tab asks with the browser's own words, going to another
// view asks with ours.

let held: (() => boolean) | undefined;

/** Whether leaving now would lose work. */
export function guarded(): boolean {
  return held?.() ?? false;
}

/** Holds the guard until the returned function is called. */
export function hold(dirty: () => boolean): () => void {
  held = dirty;
  const ask = (event: BeforeUnloadEvent) => {
    if (!dirty()) return;
    event.preventDefault();
    // Chromium before 119 asks only when this is set.
    event.returnValue = "";
  };
  addEventListener("beforeunload", ask);
  return () => {
    if (held === dirty) held = undefined;
    removeEventListener("beforeunload", ask);
  };
}
