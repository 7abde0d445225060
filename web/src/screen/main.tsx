// The projector view: the host's board without controls. It opens with a ticket from the host's page, which is taken
// out of the address and kept for the tab, so that a reload works and the address can be shown.

import * as t from "@lang/host";
import { render } from "preact";
import "../shared/tokens.css";
import "../shared/base.css";
import "../shared/ui/ui.css";
import "../shared/ui/choices.css";
import "../host/live.css";
import { createHostSession, type Credential, type End, type HostSession } from "../host/session";
import { Stage, Top, Trouble } from "../host/stage";
import { codeInAddress } from "../shared/code";
import { watchUrl, wakeUp } from "../shared/client";
import { readStore, writeStore } from "../shared/storage";
import { Shell, useTitle } from "../shared/ui/parts";
import { useStore } from "../shared/ui/use-store";

const code = codeInAddress();
const TICKET = `homeroom.ticket.${code}`;

if (location.hash.length > 1) {
  writeStore("session", TICKET, location.hash.slice(1));
  history.replaceState(null, "", location.pathname + location.search);
}

const ticket: Credential = {
  async first() {
    const kept = readStore("session", TICKET);
    return kept === null ? null : { t: "screen", ticket: kept };
  },
  replace: async () => null,
  wantsTicket: false,
};

function Screen({ session }: { session: HostSession }) {
  const shown = useStore(session.shown);
  const { state } = shown.view;
  useTitle(state?.title ?? t.screenTitle);
  if (shown.end && !(shown.end === "over" && state)) return <Stopped end={shown.end} />;
  if (!state) {
    return (
      <Shell title={t.screenTitle}>
        <p role="status">{shown.status === "lost" ? t.offlineText : t.connecting}</p>
      </Shell>
    );
  }
  return (
    <div class="live-page projector">
      <Top state={state} />
      <Trouble shown={shown} />
      <Stage view={shown.view} />
    </div>
  );
}

function Stopped({ end }: { end: End }) {
  const texts: Record<End, [title: string, text: string]> = {
    over: [t.over, ""],
    token: [t.ticketBad, t.ticketBadText],
    not_yours: [t.ticketBad, t.ticketBadText],
    no_such_game: [t.noGame, t.ticketBadText],
    lost: [t.lost, ""],
    broken: [t.broken, t.brokenText],
  };
  const [title, text] = texts[end];
  return (
    <Shell title={title} narrow>
      <div class="stack">
        <h1>{title}</h1>
        <p>{text}</p>
      </div>
    </Shell>
  );
}

const root = document.getElementById("app");
if (root !== null) {
  if (code === "") {
    render(<Stopped end="no_such_game" />, root);
  } else {
    const session = createHostSession(watchUrl(code), ticket);
    wakeUp(session.probe);
    session.start();
    render(<Screen session={session} />, root);
  }
}
