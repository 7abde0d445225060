// What a quiz can be given to others as: a link for other teachers, and files.

import { shell } from "@lang/shell";
import { teacher as w } from "@lang/teacher";
import { useEffect, useState } from "preact/hooks";
import { download } from "../shared/download";
import type { QuizSummary } from "../shared/proto/protocol";
import { Dialog } from "../shared/ui/dialog";
import { Button, Field, Loading } from "../shared/ui/parts";
import { readShare, shareQuiz, unshareQuiz } from "./api";
import { href } from "./route";
import { isStatus } from "./session";
import { Failure } from "./ui";

const FORMATS = ["gift", "json"] as const;

export function ShareDialog({ quiz, onClose }: { quiz: QuizSummary; onClose: () => void }) {
  /** None while it is asked for, null when the quiz is not shared. */
  const [share, setShare] = useState<string | null>();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>();
  const act = async (work: () => Promise<void>) => {
    setBusy(true);
    setFailed(undefined);
    try {
      await work();
    } catch (error) {
      setFailed(error);
    }
    setBusy(false);
  };
  useEffect(() => void act(async () => setShare(await shareOf(quiz.id))), [quiz.id]);
  const begin = () => act(async () => setShare((await shareQuiz(quiz.id)).share));
  const end = () =>
    act(async () => {
      await unshareQuiz(quiz.id);
      setShare(null);
    });
  const keep = (format: string) =>
    act(() => download(`/store/quizzes/${encodeURIComponent(quiz.id)}/export?format=${format}`));
  return (
    <Dialog title={w.share.title(quiz.title)} onClose={onClose}>
      {share === undefined && failed === undefined && <Loading />}
      {share === null && (
        <>
          <p>{w.share.lead}</p>
          <Button busy={busy} onClick={() => void begin()}>
            {w.share.begin}
          </Button>
        </>
      )}
      {typeof share === "string" && (
        <>
          <Field id="share" label={w.share.link} hint={w.share.linkHint} value={linkOf(share)} readOnly onText={() => {}} />
          <Button kind="plain" busy={busy} onClick={() => void end()}>
            {w.share.end}
          </Button>
        </>
      )}
      <h3>{w.share.files}</h3>
      <div class="row">
        {FORMATS.map((format) => (
          <Button key={format} kind="plain" busy={busy} onClick={() => void keep(format)}>
            {w.share.file[format]}
          </Button>
        ))}
      </div>
      {failed !== undefined && <Failure error={failed} />}
      <Button kind="quiet" onClick={onClose}>
        {shell.close}
      </Button>
    </Dialog>
  );
}

async function shareOf(quiz: string): Promise<string | null> {
  try {
    return (await readShare(quiz)).share;
  } catch (error) {
    if (isStatus(error, 404)) return null;
    throw error;
  }
}

const linkOf = (share: string): string => `${location.origin}/teach${href({ view: "shared", id: share })}`;
