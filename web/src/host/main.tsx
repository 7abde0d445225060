// The host's live page.

import { render } from "preact";
import "../shared/tokens.css";
import "../shared/base.css";
import "../shared/ui/ui.css";
import "../shared/ui/choices.css";
import "./live.css";
import { codeInAddress } from "../shared/code";
import { watchUrl, wakeUp } from "../shared/client";
import { accessToken, replaceToken, takeTokenFromAddress } from "../shared/http";
import type { HostCommand } from "../shared/proto/protocol";
import { readStore, writeStore } from "../shared/storage";
import { App } from "./app";
import { createHostSession, type Credential } from "./session";

takeTokenFromAddress();

const code = codeInAddress();
const TICKET = `homeroom.ticket.${code}`;

const hello = (token: string | null): HostCommand | null =>
  token === null ? null : { t: "host", token, ticket: readStore("session", TICKET) };

const teacher: Credential = {
  first: async () => hello(await accessToken()),
  replace: async () => hello(await replaceToken()),
  wantsTicket: true,
  keep: (ticket) => writeStore("session", TICKET, ticket),
};

const session = code === "" ? null : createHostSession(watchUrl(code), teacher);
if (session) {
  wakeUp(session.probe);
  session.start();
}

const root = document.getElementById("app");
if (root !== null) render(<App session={session} code={code} />, root);
