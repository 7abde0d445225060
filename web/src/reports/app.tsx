// The report page around the report: who is signed in, which game, and what to say when there is nothing to show.

import { report as w } from "@lang/report";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { Loading, Note } from "../shared/ui/parts";
import { readReport } from "../teacher/api";
import { Frame } from "../teacher/frame";
import { restore, useSession } from "../teacher/session";
import { Failure } from "../teacher/ui";
import type { ReportModel } from "./model";
import { reportModel } from "./model";
import { Report } from "./report";

export function App() {
  const session = useSession();
  const game = useMemo(() => new URLSearchParams(location.search).get("game") ?? "", []);
  useEffect(() => void restore(), []);
  return (
    <Frame title={w.title} user={session.user} view="games">
      {session.restoring && <Loading />}
      {session.failed !== undefined && <Failure error={session.failed} retry={() => void restore()} />}
      {!session.restoring && session.failed === undefined && !session.user && <SignInFirst game={game} />}
      {session.user && (game === "" ? <Note>{w.missing}</Note> : <Loaded game={game} />)}
    </Frame>
  );
}

function SignInFirst({ game }: { game: string }) {
  const next = new URLSearchParams({ next: `/report?game=${game}` });
  return (
    <section class="empty">
      <p>{w.signIn}</p>
      <a class="btn" href={`/teach#/signin?${next}`}>
        {w.toSignIn}
      </a>
    </section>
  );
}

function Loaded({ game }: { game: string }) {
  const [model, setModel] = useState<ReportModel>();
  const [failed, setFailed] = useState<unknown>();
  const load = useCallback(async () => {
    setFailed(undefined);
    try {
      setModel(reportModel(await readReport(game)));
    } catch (error) {
      setFailed(error);
    }
  }, [game]);
  useEffect(() => void load(), [load]);
  if (failed !== undefined) return <Failure error={failed} retry={() => void load()} />;
  return model ? <Report model={model} /> : <Loading />;
}
