// Saving a draft over the version it was read at. What was sent is remembered, so that typing on while the save is under way
// leaves the draft unsaved and not lost.

import { useRef, useState } from "preact/hooks";
import type { QuizResponse } from "../shared/proto/protocol";
import { createQuiz, readQuiz, saveQuiz } from "./api";
import type { Draft } from "./draft";
import { sameContent, toDocument, toDraft } from "./draft";
import { dropQuiz, holdQuiz } from "./holding";
import { href } from "./route";
import { isStatus } from "./session";

/** The state of saving, and what can be done about it. Each call tells whether the draft is stored now. */
export interface Saving {
  dirty: boolean;
  busy: boolean;
  conflict: boolean;
  failed: unknown;
  /** Its id; none before the first save. */
  id: string | undefined;
  save: () => Promise<boolean>;
  /** After a conflict: mine over theirs. */
  overwrite: () => Promise<boolean>;
  /** After a conflict: theirs, mine is given up. */
  takeTheirs: () => Promise<boolean>;
  /** After a conflict: theirs stays, mine becomes a quiz of its own. */
  saveCopy: () => Promise<boolean>;
}

interface Base {
  id: string | undefined;
  version: number;
  draft: Draft;
}

export function useSaving(loaded: Base, draft: Draft, onTheirs: (draft: Draft) => void): Saving {
  const [base, setBase] = useState<Base>(loaded);
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState(false);
  const [failed, setFailed] = useState<unknown>();
  const running = useRef(false);

  /** One call at a time: a second save of the same draft would conflict with the first. */
  const run = async (work: () => Promise<void>): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setFailed(undefined);
    let done = false;
    try {
      await work();
      setConflict(false);
      done = true;
    } catch (error) {
      if (isStatus(error, 412)) setConflict(true);
      else setFailed(error);
    }
    running.current = false;
    setBusy(false);
    return done;
  };

  const stored = (sent: Draft, answer: QuizResponse) => {
    setBase({ id: answer.id, version: answer.version, draft: sent });
    dropQuiz(answer.id);
    void holdQuiz(answer.id, answer.updated_ms);
    // A new quiz has an address from now on; the view stays, with everything typed meanwhile.
    history.replaceState(null, "", href({ view: "quiz", id: answer.id }));
  };
  const put = async (version: number) => {
    const document = toDocument(draft);
    const answer =
      base.id === undefined ? await createQuiz(document) : await saveQuiz(base.id, version, document);
    stored(draft, answer);
  };
  const theirs = async (): Promise<QuizResponse | undefined> =>
    base.id === undefined ? undefined : await readQuiz(base.id);

  return {
    dirty: !sameContent(draft, base.draft),
    busy,
    conflict,
    failed,
    id: base.id,
    save: () => run(() => put(base.version)),
    overwrite: () => run(async () => put((await theirs())?.version ?? base.version)),
    takeTheirs: () =>
      run(async () => {
        const answer = await theirs();
        if (!answer) return;
        const fresh = toDraft(answer.quiz);
        setBase({ id: answer.id, version: answer.version, draft: fresh });
        onTheirs(fresh);
      }),
    saveCopy: () => run(async () => stored(draft, await createQuiz(toDocument(draft)))),
  };
}
