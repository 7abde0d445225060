// Watching a store from a component. The student page does without hooks, to save their bytes.

import { useEffect, useState } from "preact/hooks";
import type { Store } from "../store";

/** The store's value; the component is drawn again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get);
  useEffect(() => {
    setValue(store.get());
    return store.watch(() => setValue(store.get()));
  }, [store]);
  return value;
}
