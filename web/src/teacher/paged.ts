// A list that grows by pages: the first one at once, the next ones on demand. Rows keep their identity, so that "more" does not
// move what is being read.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Page } from "../shared/proto/protocol";

export interface Paged<T> {
  /** None until the first page is there. */
  items: T[] | undefined;
  more: boolean;
  busy: boolean;
  failed: unknown;
  load: () => void;
  /** Shows a new row first, without fetching the list anew. */
  prepend: (row: T) => void;
  /** Takes out a row that was deleted. */
  drop: (id: string) => void;
}

export function usePaged<T extends { id: string }>(read: (after?: string) => Promise<Page<T>>): Paged<T> {
  const [items, setItems] = useState<T[]>();
  const [next, setNext] = useState<string>();
  const [busy, setBusy] = useState(true);
  const [failed, setFailed] = useState<unknown>();
  // Answers of an older call must not land in a list that was started anew.
  const call = useRef(0);

  const fetchPage = useCallback(
    async (after: string | undefined) => {
      const mine = ++call.current;
      setBusy(true);
      setFailed(undefined);
      try {
        const page = await read(after);
        if (mine !== call.current) return;
        setItems((rows) => (after === undefined ? page.items : joined(rows ?? [], page.items)));
        setNext(page.next ?? undefined);
      } catch (error) {
        if (mine === call.current) setFailed(error);
      }
      if (mine === call.current) setBusy(false);
    },
    [read],
  );

  useEffect(() => {
    void fetchPage(undefined);
    return () => {
      call.current += 1;
    };
  }, [fetchPage]);

  return {
    items,
    more: next !== undefined,
    busy,
    failed,
    load: () => void fetchPage(items === undefined ? undefined : next),
    prepend: (row) => setItems((rows) => joined([row], rows ?? [])),
    drop: (id) => setItems((rows) => rows?.filter((row) => row.id !== id)),
  };
}

/** A row that changed between two pages may come twice; the newer place wins. */
export function joined<T extends { id: string }>(rows: T[], page: T[]): T[] {
  const known = new Set(rows.map((row) => row.id));
  return [...rows, ...page.filter((row) => !known.has(row.id))];
}
