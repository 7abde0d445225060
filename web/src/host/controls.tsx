// The host's bar of controls under the board.

import * as t from "@lang/host";
import { useEffect, useRef, useState } from "preact/hooks";
import { reportPath } from "../shared/game";
import type { HostCommand, HostState, RosterEntry } from "../shared/proto/protocol";
import { Confirm } from "../shared/ui/dialog";
import { Button, Note } from "../shared/ui/parts";
import { PlayerDialog, PlayersDialog } from "./players";
import { primaryOf, SETTLE_MS, usePrimaryKey } from "./primary";
import type { HostSession, Shown } from "./session";

type Open = "players" | "skip" | "end" | "start" | "finish" | { player: RosterEntry } | null;

export function Controls(props: {
  session: HostSession;
  shown: Shown;
  state: HostState;
  player: RosterEntry | null;
  onPlayer: (entry: RosterEntry | null) => void;
}) {
  const { session, shown, state } = props;
  const [open, setOpen] = useState<Exclude<Open, { player: RosterEntry }>>(null);
  const settled = useSettled(`${state.phase}.${state.question?.q ?? 0}`);
  const primary = primaryOf(state);
  const send = (command: HostCommand) => session.command(command);
  const act = () => {
    if (!primary || !settled() || open || props.player) return;
    if (primary.ask) setOpen(primary.ask);
    else send(primary.command);
  };
  usePrimaryKey(act);
  return (
    <footer class="controls" aria-label={t.moreActions}>
      {shown.refusal && (
        <div class="refusal">
          <Note kind="bad">
            {t.refusal(shown.refusal)}
          </Note>
        </div>
      )}
      <div class="controls-in">
        <Secondary state={state} ticket={shown.ticket} send={send} setOpen={setOpen} />
        {primary && (
          // One element in every phase, so that the focus stays on it from question to question.
          <Button big onClick={act}>
            {primary.label} <kbd aria-hidden="true">{t.keyHint}</kbd>
          </Button>
        )}
      </div>
      {open === "players" && (
        <PlayersDialog
          roster={state.roster}
          onOpen={(entry) => {
            setOpen(null);
            props.onPlayer(entry);
          }}
          onClose={() => setOpen(null)}
        />
      )}
      {props.player && (
        <PlayerDialog key={props.player.id} entry={props.player} send={send} onClose={() => props.onPlayer(null)} />
      )}
      {open !== null && open !== "players" && (
        <Ask what={open} state={state} send={send} onClose={() => setOpen(null)} />
      )}
    </footer>
  );
}

function Secondary(props: {
  state: HostState;
  ticket: string | null;
  send: (command: HostCommand) => void;
  setOpen: (open: "players" | "skip" | "end") => void;
}) {
  const { state, send, setOpen } = props;
  const playing = state.phase === "question" || state.phase === "results";
  if (state.phase === "ended") return <Farewell state={state} />;
  return (
    <div class="row">
      {state.phase === "podium" && state.over && <ReportLink state={state} />}
      {state.phase !== "podium" && (
        <Button kind="plain" onClick={() => send({ t: "lock", on: !state.locked })}>
          {state.locked ? t.unlock : t.lock}
        </Button>
      )}
      {playing && (
        <Button kind="plain" onClick={() => setOpen("players")}>
          {t.players(state.roster.length)}
        </Button>
      )}
      {props.ticket && (
        <a class="btn plain" href={`/screen?g=${state.code}#${props.ticket}`} target="_blank" rel="opener">
          {t.projector}
        </a>
      )}
      {state.phase === "question" && (
        <Button kind="plain" onClick={() => setOpen("skip")}>
          {t.skip}
        </Button>
      )}
      {state.phase !== "podium" && (
        <Button kind="quiet" onClick={() => setOpen("end")}>
          {t.endNow}
        </Button>
      )}
    </div>
  );
}

function ReportLink({ state }: { state: HostState }) {
  return (
    <a class="btn plain" href={reportPath(state.game)}>
      {t.report}
    </a>
  );
}

function Farewell({ state }: { state: HostState }) {
  return (
    <div class="row">
      {state.over && (
        <>
          <p>{state.behind ? t.behind : t.overSaved}</p>
          <ReportLink state={state} />
        </>
      )}
      <a class="btn plain" href="/teach">
        {t.library}
      </a>
    </div>
  );
}

function Ask(props: {
  what: "skip" | "end" | "start" | "finish";
  state: HostState;
  send: (command: HostCommand) => void;
  onClose: () => void;
}) {
  const { what, state, send, onClose } = props;
  const q = state.question?.q ?? 0;
  const asks: Record<typeof what, [title: string, text: string, action: string, command: HostCommand]> = {
    skip: [t.skipAsk, t.skipText, t.skip, { t: "skip", q }],
    end: [t.endAsk, state.phase === "lobby" ? t.endLobbyText : t.endText, t.finish, { t: "end" }],
    start: [t.startEmpty, t.startEmptyText, t.start, { t: "start" }],
    finish: [t.finishAsk, state.behind ? t.behind : t.finishText, t.finish, { t: "finish" }],
  };
  const [title, text, action, command] = asks[what];
  return (
    <Confirm
      title={title}
      text={text}
      action={action}
      danger={what === "end" || what === "skip"}
      onConfirm={() => {
        send(command);
        onClose();
      }}
      onClose={onClose}
    />
  );
}

/** Whether what is on the board has stood there long enough to be acted on. */
function useSettled(shown: string): () => boolean {
  const since = useRef(0);
  useEffect(() => {
    since.current = performance.now();
  }, [shown]);
  return () => performance.now() - since.current >= SETTLE_MS;
}
