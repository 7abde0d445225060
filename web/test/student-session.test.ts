import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  CLOSE_BAD_FIRST_FRAME,
  CLOSE_KICKED,
  CLOSE_OVER,
  CLOSE_REPLACED,
  CLOSE_TOKEN,
} from "../src/shared/proto/protocol";
import { createSession, type PlayerSession } from "../src/student/session";
import { dropToken, keptToken } from "../src/student/token";
import { FakeBrowser, fixture } from "./support";

const CODE = "K7Q2MX";
let browser: FakeBrowser;

const open = (): PlayerSession => createSession(CODE, "ws://x", browser, () => browser.now);
const frame = (name: string): object => fixture(`player_frame.${name}`);

/** A session after joining. */
function joined(): PlayerSession {
  const session = open();
  session.join("Ada");
  browser.last.accept();
  browser.last.deliver(frame("welcome"));
  return session;
}

beforeEach(() => {
  browser = new FakeBrowser();
  dropToken(CODE);
});

test("joining keeps the place, and the same page address resumes it", () => {
  const session = joined();
  assert.deepEqual(browser.last.sent[0], { t: "join", name: "Ada" });
  assert.equal(session.shown.get().view.state?.phase, "lobby");
  assert.ok(keptToken(CODE));

  const again = open();
  assert.ok(again.known());
  again.open();
  browser.last.accept();
  assert.deepEqual(browser.last.sent[0], { t: "resume", token: "header.claims.signature", seq: 0 });
  browser.last.deliver(frame("welcome-question"));
  assert.equal(again.shown.get().view.state?.question?.q, 2);
});

test("a taken name may be changed on the same socket, and on a new one", () => {
  const session = open();
  session.join("Ada");
  browser.last.accept();
  browser.last.deliver(frame("error"));
  assert.equal(session.shown.get().refusal, "name_taken");
  assert.equal(session.shown.get().joining, false);
  session.join("Ada L.");
  assert.deepEqual(browser.last.sent[1], { t: "join", name: "Ada L." });
  browser.last.deliver(frame("error"));
  browser.last.hangUp(CLOSE_BAD_FIRST_FRAME);
  assert.equal(session.shown.get().end, null);
  session.join("Ada B.");
  assert.equal(browser.sockets.length, 2);
});

test("what is not saved yet is known until something says that it is", () => {
  const session = joined();
  const unsaved = () => session.shown.get().unsaved;
  assert.equal(unsaved(), false);
  browser.last.deliver({ ...frame("question"), saved: false });
  assert.equal(unsaved(), true);
  browser.last.deliver({ t: "pong", seq: session.shown.get().view.state?.seq });
  assert.equal(unsaved(), true, "a pong depends on nothing");
  session.answer([2]);
  browser.last.deliver(frame("ack-unsaved"));
  assert.equal(unsaved(), true);
  browser.last.deliver(frame("ack"));
  assert.equal(unsaved(), false, "an ack that says saved speaks for all before it");
  browser.last.deliver({ ...frame("welcome-question"), saved: false });
  assert.equal(unsaved(), true);
  browser.last.deliver(frame("result"));
  assert.equal(unsaved(), false);
});

test("an answer that only an unsaved state knows is sent again until an ack says saved", () => {
  const session = joined();
  const { t: _, ...sync } = fixture<Record<string, unknown>>("player_frame.sync-answered");
  browser.last.deliver({ ...frame("welcome"), ...sync, t: "welcome", saved: false });
  const q = session.shown.get().slot?.q;
  assert.equal(session.shown.get().slot?.stage, "accepted");
  assert.deepEqual(browser.last.types().at(-1), "answer", "the server may yet be killed with it");
  browser.last.deliver({ ...frame("ack"), q });
  assert.equal(session.shown.get().slot?.stage, "saved");
});

test("an answer is saved once, whatever is tapped after it", () => {
  const session = joined();
  browser.last.deliver(frame("question"));
  session.answer([2]);
  session.answer([3]);
  const answers = browser.last.sent.filter(({ t }) => t === "answer");
  assert.deepEqual(answers, [fixture("player_command.answer")]);
  assert.equal(session.shown.get().slot?.stage, "sending");
  browser.last.deliver(frame("ack-unsaved"));
  assert.equal(session.shown.get().slot?.stage, "accepted");
  browser.last.deliver(frame("ack"));
  assert.equal(session.shown.get().slot?.stage, "saved");
  browser.pass(1_000);
  session.answer([3]);
  assert.equal(browser.last.sent.filter(({ t }) => t === "answer").length, 1);
});

test("an unacked answer is sent again on the next socket, with no word from anybody", () => {
  const session = joined();
  browser.last.deliver(frame("question"));
  session.answer([2]);
  browser.last.hangUp(1006);
  browser.pass(1_000);
  browser.last.accept();
  assert.deepEqual(browser.last.types(), ["resume"], "not before the game has said where it stands");
  const { t: _, ...question } = fixture<Record<string, unknown>>("player_frame.question");
  const sync = fixture<{ state: object }>("player_frame.sync");
  browser.last.deliver({ t: "sync", state: { ...sync.state, seq: 1, phase: "question", question } });
  assert.deepEqual(browser.last.sent[1], fixture("player_command.answer"));
});

test("an answer without an ack is repeated, and silence opens a new socket", () => {
  const session = joined();
  browser.last.deliver(frame("question"));
  session.answer([2]);
  browser.last.deliver(frame("error-busy"));
  browser.pass(400);
  assert.equal(browser.last.sent.filter(({ t }) => t === "answer").length, 2, "after the delay that was asked for");
  browser.pass(2_000);
  assert.equal(browser.sockets.length, 2);
});

test("a refusal is shown and ends the sending; the next question starts clean", () => {
  const session = joined();
  browser.last.deliver(frame("question"));
  session.answer([2]);
  browser.last.deliver(frame("error-late"));
  assert.equal(session.shown.get().slot?.stage, "refused");
  assert.equal(session.shown.get().slot?.code, "too_late");
  browser.last.deliver(frame("result-unanswered"));
  browser.last.deliver(frame("question-multiple"));
  assert.equal(session.shown.get().slot, null);
  assert.equal(browser.last.sent.filter(({ t }) => t === "answer").length, 1);
});

test("a reload brings an unsent answer back, for its question only", () => {
  const session = joined();
  browser.last.deliver(frame("question"));
  session.answer([2]);
  const reloaded = open();
  assert.deepEqual(reloaded.shown.get().slot?.choices, [2]);
  reloaded.open();
  browser.last.accept();
  browser.last.deliver(frame("welcome-question"));
  assert.equal(reloaded.shown.get().slot, null, "the game is at question 2 by now");
  assert.deepEqual(browser.last.types(), ["resume"]);
});

test("removed, replaced and over are told apart", () => {
  const kicked = joined();
  browser.last.deliver(frame("bye-kicked"));
  browser.last.hangUp(CLOSE_KICKED);
  assert.equal(kicked.shown.get().end, "kicked");
  assert.equal(keptToken(CODE), null, "the place is gone");

  const replaced = joined();
  browser.last.deliver(frame("bye-replaced"));
  browser.last.hangUp(CLOSE_REPLACED);
  assert.equal(replaced.shown.get().end, "replaced");
  assert.ok(keptToken(CODE), "the place is kept");
  const sockets = browser.sockets.length;
  replaced.takeOver();
  assert.equal(browser.sockets.length, sockets + 1);

  const over = joined();
  browser.last.deliver(frame("sync-podium"));
  browser.last.deliver(frame("bye"));
  browser.last.hangUp(CLOSE_OVER);
  assert.equal(over.shown.get().end, "over");
  assert.equal(over.shown.get().view.state?.over?.rank, 2);
});

test("leaving is final at once", () => {
  const session = joined();
  session.leave();
  assert.deepEqual(browser.last.types(), ["join", "leave"]);
  assert.equal(session.shown.get().end, "left");
  assert.ok(browser.last.closed);
  assert.equal(keptToken(CODE), null);
});

test("a token of another day's game leads to the name form without a fuss", () => {
  joined();
  const session = open();
  session.open();
  browser.last.accept();
  browser.last.deliver({ t: "error", code: "bad_token" });
  browser.last.hangUp(CLOSE_TOKEN);
  assert.equal(session.known(), false);
  assert.equal(session.shown.get().refusal, null);
  assert.equal(session.shown.get().end, null);
});
