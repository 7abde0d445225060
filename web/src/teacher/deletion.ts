// Deleting a row of a list: asked first, done once, with the focus taken to the page since its place is gone.

import { useEffect, useState } from "preact/hooks";
import type { Paged } from "./paged";

export interface Deletion<T> {
  /** The row that the teacher is asked about. */
  asked: T | undefined;
  ask: (row: T) => void;
  cancel: () => void;
  confirm: () => Promise<void>;
  busy: boolean;
  failed: unknown;
}

export function useDeletion<T extends { id: string }>(
  list: Paged<T>,
  remove: (id: string) => Promise<void>,
  onDone: (row: T) => void,
): Deletion<T> {
  const [asked, setAsked] = useState<T>();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>();
  const [deletions, setDeletions] = useState(0);

  useEffect(() => {
    if (deletions > 0) document.getElementById("main")?.focus({ preventScroll: true });
  }, [deletions]);

  const confirm = async () => {
    if (!asked || busy) return;
    setBusy(true);
    setFailed(undefined);
    try {
      await remove(asked.id);
      list.drop(asked.id);
      setDeletions((count) => count + 1);
      onDone(asked);
    } catch (error) {
      setFailed(error);
    }
    setBusy(false);
    setAsked(undefined);
  };
  return { asked, ask: setAsked, cancel: () => setAsked(undefined), confirm, busy, failed };
}
