import assert from "node:assert/strict";
import { test } from "node:test";
import { createHostSession, type Credential } from "../src/host/session";
import { primaryOf } from "../src/host/primary";
import { CLOSE_KICKED, CLOSE_NO_SUCH_GAME, CLOSE_OVER, CLOSE_TOKEN, type HostCommand, type HostFrame } from "../src/shared/proto/protocol";
import { FakeBrowser, fixture } from "./support";

const frame = (name: string): object => fixture(`host_frame.${name}`);
const settled = () => new Promise((resolve) => setImmediate(resolve));

function setUp(tokens: (string | null | Error)[]) {
  const browser = new FakeBrowser();
  const next = async (): Promise<HostCommand | null> => {
    const token = tokens.shift() ?? null;
    if (token instanceof Error) throw token;
    return token === null ? null : { t: "host", token };
  };
  const credential: Credential = { first: next, replace: next, wantsTicket: true };
  const session = createHostSession("ws://x", credential, browser, () => browser.now);
  return { browser, session };
}

test("a host gets the game, then a ticket for the projector view", async () => {
  const { browser, session } = setUp(["a"]);
  session.start();
  await settled();
  browser.last.accept();
  assert.deepEqual(browser.last.sent[0], { t: "host", token: "a" });
  browser.last.deliver(frame("sync"));
  assert.deepEqual(browser.last.types(), ["host", "ticket"]);
  browser.last.deliver(frame("ticket"));
  assert.equal(session.shown.get().ticket, "header.claims.signature");
});

test("a host that comes back shows its ticket, and is told that the game was lost", async () => {
  const { browser, session } = setUp(["a"]);
  session.start();
  await settled();
  browser.last.accept();
  browser.last.deliver(frame("sync"));
  browser.last.deliver(frame("ticket"));
  browser.last.hangUp(1006);
  browser.pass(10_000);
  browser.last.accept();
  assert.deepEqual(browser.last.sent[0], { t: "host", token: "a", ticket: "header.claims.signature" });
  browser.last.deliver({ t: "error", code: "game_lost" });
  browser.last.hangUp(CLOSE_NO_SUCH_GAME);
  assert.equal(session.shown.get().end, "lost");
});

test("an old token is replaced once; a second refusal asks to sign in", async () => {
  const { browser, session } = setUp(["old", "new"]);
  session.start();
  await settled();
  browser.last.accept();
  browser.last.hangUp(CLOSE_TOKEN);
  await settled();
  browser.last.accept();
  assert.deepEqual(browser.last.sent[0], { t: "host", token: "new" });
  browser.last.hangUp(CLOSE_TOKEN);
  await settled();
  assert.equal(session.shown.get().end, "token");
});

test("an API that cannot be reached is asked again", async () => {
  const { browser, session } = setUp([new Error("offline"), "a"]);
  session.start();
  await settled();
  assert.equal(session.shown.get().status, "lost");
  assert.equal(browser.sockets.length, 0);
  browser.pass(2_000);
  await settled();
  assert.equal(browser.sockets.length, 1);
});

test("nobody signed in, not the owner, no game and the end are told apart", async () => {
  const nobody = setUp([null]);
  nobody.session.start();
  await settled();
  assert.equal(nobody.session.shown.get().end, "token");
  for (const [code, end] of [
    [CLOSE_KICKED, "not_yours"],
    [CLOSE_NO_SUCH_GAME, "no_such_game"],
    [CLOSE_OVER, "over"],
  ] as const) {
    const { browser, session } = setUp(["a"]);
    session.start();
    await settled();
    browser.last.accept();
    browser.last.hangUp(code);
    assert.equal(session.shown.get().end, end);
  }
});

test("a refused command is shown until the next one", async () => {
  const { browser, session } = setUp(["a"]);
  session.start();
  await settled();
  browser.last.accept();
  browser.last.deliver(frame("sync"));
  browser.last.deliver(frame("error"));
  assert.equal(session.shown.get().refusal, "wrong_phase");
  session.command({ t: "start" });
  assert.equal(session.shown.get().refusal, null);
});

test("the primary action follows the phase", () => {
  type Sync = Extract<HostFrame, { t: "sync" }>;
  const state = (name: string) => fixture<Sync>(`host_frame.${name}`).state;
  assert.deepEqual(primaryOf(state("sync"))?.command, { t: "start" });
  assert.equal(primaryOf({ ...state("sync"), roster: [] })?.ask, "start");
  assert.deepEqual(primaryOf(state("sync-question"))?.command, { t: "close", q: 1 });
  assert.deepEqual(primaryOf(state("sync-results"))?.command, { t: "next", q: 1 });
  assert.deepEqual(primaryOf(state("sync-podium"))?.command, { t: "finish" });
  assert.equal(primaryOf({ ...state("sync-podium"), phase: "ended" }), null);
});
