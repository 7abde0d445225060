// A quiz that another teacher shares: what it asks, and a copy of it for one's own library.

import { teacher as w } from "@lang/teacher";
import { useCallback, useEffect, useState } from "preact/hooks";
import type { SharedQuizResponse } from "../shared/proto/protocol";
import { Button, Loading } from "../shared/ui/parts";
import { copyShared, readShared } from "./api";
import { href } from "./route";
import { Failure } from "./ui";

export function SharedView({ id }: { id: string }) {
  const [shared, setShared] = useState<SharedQuizResponse>();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>();
  const load = useCallback(async () => {
    setFailed(undefined);
    try {
      setShared(await readShared(id));
    } catch (error) {
      setFailed(error);
    }
  }, [id]);
  useEffect(() => void load(), [load]);
  const copy = async () => {
    setBusy(true);
    setFailed(undefined);
    try {
      location.hash = href({ view: "quiz", id: (await copyShared(id)).id });
    } catch (error) {
      setFailed(error);
      setBusy(false);
    }
  };
  if (!shared) return failed === undefined ? <Loading /> : <Failure error={failed} retry={() => void load()} />;
  const { quiz, by } = shared;
  return (
    <>
      <h1 class="text" dir="auto">
        {quiz.title}
      </h1>
      <p class="soft" dir="auto">
        {w.share.by(by)} · {w.library.questions(quiz.questions.length)}
      </p>
      {failed !== undefined && <Failure error={failed} />}
      <Button busy={busy} onClick={() => void copy()}>
        {w.share.copy}
      </Button>
      <ol>
        {quiz.questions.map((question, index) => (
          <li key={index} class="text" dir="auto">
            {question.text}
          </li>
        ))}
      </ol>
    </>
  );
}
