// How a game is to be played, asked once before it starts. Then the host page takes over.

import { teacher as w } from "@lang/teacher";
import { useEffect, useState } from "preact/hooks";
import { createGame, hostPath } from "../shared/game";
import type { Scoring } from "../shared/proto/protocol";
import { Dialog } from "../shared/ui/dialog";
import { Button } from "../shared/ui/parts";
import { heldQuiz, holdQuiz } from "./holding";
import { Failure, Icon } from "./ui";
import { shell } from "@lang/shell";

const SCORINGS: readonly Scoring[] = ["speed", "accuracy"];

export function HostDialog({ quiz, onClose }: { quiz: { id: string; title: string }; onClose: () => void }) {
  const [scoring, setScoring] = useState<Scoring>("speed");
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>();
  useEffect(() => void holdQuiz(quiz.id), [quiz.id]);
  const start = async () => {
    setBusy(true);
    setFailed(undefined);
    try {
      const game = await createGame(quiz.id, { scoring }, () => heldQuiz(quiz.id));
      location.assign(hostPath(game.code));
    } catch (error) {
      setFailed(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={w.host.title(quiz.title)} onClose={onClose}>
      <p class="soft">{w.host.lead}</p>
      <fieldset class="t-options">
        <legend>{w.host.scoring}</legend>
        {SCORINGS.map((one) => (
          <label key={one} class={one === scoring ? "t-option t-option-on" : "t-option"}>
            <input
              type="radio"
              name="scoring"
              checked={one === scoring}
              aria-describedby={`scoring-${one}`}
              onChange={() => setScoring(one)}
            />
            <span>
              <b>{w.host[one]}</b>
              <small id={`scoring-${one}`}>{w.host[`${one}Hint`]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {failed !== undefined && <Failure error={failed} />}
      <div class="row">
        <Button kind="plain" onClick={onClose}>
          {shell.cancel}
        </Button>
        <Button busy={busy} onClick={() => void start()}>
          <Icon name="play" />
          {busy ? w.wait : w.host.start}
        </Button>
      </div>
    </Dialog>
  );
}
