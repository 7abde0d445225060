// Before the first question: where to join, the code from the last row, and who is here.

import * as t from "@lang/host";
import type { ComponentChildren } from "preact";
import { grouped } from "../../shared/code";
import { joinPath } from "../../shared/game";
import type { HostState, RosterEntry } from "../../shared/proto/protocol";
import { Qr } from "../../shared/ui/qr";

export function LobbyStage({ state, player }: { state: HostState; player?: (entry: RosterEntry) => ComponentChildren }) {
  const url = location.origin + joinPath(state.code);
  const here = state.roster.filter((entry) => !entry.away).length;
  return (
    <div class="lobby-stage">
      <h1 class="sr" tabIndex={-1}>
        {state.title}
      </h1>
      <section class="invite board" aria-label={t.joinAt}>
        <div class="invite-words">
          <p class="invite-at">
            {t.joinAt} <b dir="ltr">{location.host}</b>
          </p>
          <p class="sr">{t.withCode}</p>
          {/* Spelt out for screen readers; seen as two groups. */}
          <p class="code" dir="ltr" aria-label={[...state.code].join(" ")} role="img">
            {grouped(state.code)}
          </p>
          {state.locked && <p class="locked">{t.locked}</p>}
        </div>
        <Qr text={url} label={t.qrLabel(url)} />
      </section>
      <section aria-label={t.playerList} class="roster">
        <h2 class="num" aria-live="polite">
          {t.players(here)}
        </h2>
        {state.roster.length === 0 ? (
          <p class="soft">{t.lobbyEmpty}</p>
        ) : (
          <ul class="plain names">
            {state.roster.map((entry) => (
              <li key={entry.id}>{player ? player(entry) : <Name entry={entry} />}</li>
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

/** A player's name with its away mark. */
export function Name({ entry }: { entry: RosterEntry }) {
  return (
    <span class={entry.away ? "player away" : "player"}>
      <span class="name" dir="auto">
        {entry.name}
      </span>
      {entry.away && <small> {t.away}</small>}
    </span>
  );
}
