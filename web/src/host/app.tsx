// The host's live page: board, controls, and what to do when there is no game to host.

import * as t from "@lang/host";
import { useState } from "preact/hooks";
import type { RosterEntry } from "../shared/proto/protocol";
import { Note, Shell, useTitle } from "../shared/ui/parts";
import { useStore } from "../shared/ui/use-store";
import { Controls } from "./controls";
import { PlayerButton } from "./players";
import type { End, HostSession } from "./session";
import { Stage, Top, Trouble } from "./stage";

export function App({ session, code }: { session: HostSession | null; code: string }) {
  return session ? <Hosting session={session} code={code} /> : <Stopped end="no_such_game" code={code} />;
}

function Hosting({ session, code }: { session: HostSession; code: string }) {
  const shown = useStore(session.shown);
  const [player, setPlayer] = useState<number | null>(null);
  const { state } = shown.view;
  useTitle(state?.title ?? t.title);
  if (shown.end && !(shown.end === "over" && state)) return <Stopped end={shown.end} code={code} />;
  if (!state) {
    return (
      <Shell title={t.title}>
        <p role="status">{shown.status === "lost" ? t.offlineText : t.connecting}</p>
      </Shell>
    );
  }
  // Taken from the roster at each drawing, so that the dialog closes when the player is gone.
  const open = state.roster.find((entry) => entry.id === player) ?? null;
  const onPlayer = (entry: RosterEntry | null) => setPlayer(entry?.id ?? null);
  const local = state.phase === "lobby" && /^(localhost|127\.|\[::1\])/.test(location.hostname);
  return (
    <div class="live-page">
      <Top state={state} />
      <Trouble shown={shown} />
      {local && (
        <div class="local">
          <Note>{t.localOnly}</Note>
        </div>
      )}
      <Stage view={shown.view} player={(entry) => <PlayerButton entry={entry} onOpen={onPlayer} />} />
      <Controls session={session} shown={shown} state={state} player={open} onPlayer={onPlayer} />
    </div>
  );
}

function Stopped({ end, code }: { end: End; code: string }) {
  const next = encodeURIComponent(`/host?g=${code}`);
  const texts: Record<End, [title: string, text: string, action: string, href: string]> = {
    over: [t.over, t.overSaved, t.library, "/teach"],
    token: [t.signInTitle, t.signInText, t.signIn, `/teach#/signin?next=${next}`],
    not_yours: [t.notYours, t.notYoursText, t.library, "/teach"],
    no_such_game: [t.noGame, t.noGameText, t.library, "/teach"],
    lost: [t.lost, t.lostText, t.library, "/teach"],
    broken: [t.broken, t.brokenText, t.reload, `/host?g=${code}`],
  };
  const [title, text, action, href] = texts[end];
  return (
    <Shell title={title} narrow>
      <div class="stack">
        <h1>{title}</h1>
        <p>{text}</p>
        <p>
          <a class="btn" href={href}>
            {action}
          </a>
        </p>
      </div>
    </Shell>
  );
}
