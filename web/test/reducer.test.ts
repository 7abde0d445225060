import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostFrame, PlayerFrame } from "../src/shared/proto/protocol";
import { emptyHost, emptyPlayer, type HostView, type PlayerView, reduceHost, reducePlayer } from "../src/shared/reducer";
import { fixture, fixtures } from "./support";

const player = (name: string) => fixture<PlayerFrame>(`player_frame.${name}`);
const host = (name: string) => fixture<HostFrame>(`host_frame.${name}`);

/** The view after these fixtures, one millisecond apart. */
const played = (...names: string[]): PlayerView =>
  names.reduce((view, name, i) => reducePlayer(view, player(name), i), emptyPlayer);
const hosted = (...names: string[]): HostView => names.reduce((view, name, i) => reduceHost(view, host(name), i), emptyHost);

test("a player goes through a whole question on the fixtures", () => {
  const lobby = played("welcome");
  assert.equal(lobby.id, 1);
  assert.equal(lobby.token, "header.claims.signature");
  assert.equal(lobby.state?.phase, "lobby");

  const asked = played("welcome", "question");
  assert.equal(asked.state?.phase, "question");
  assert.equal(asked.state?.question?.text, "Which planet is closest to the sun?");
  assert.equal(asked.state?.seq, 1);
  assert.equal(asked.openedAt, 1, "time left counts from the frame's arrival");
  assert.deepEqual(Object.keys(asked.state?.question ?? {}).sort(), ["choices", "ms", "q", "text"], "the envelope stays outside");

  const told = played("welcome", "question", "result");
  assert.equal(told.state?.phase, "results");
  assert.equal(told.state?.outcome?.ok, true);
  assert.equal(told.state?.total, 912);
  assert.equal(told.state?.question?.q, 1, "the question stays for its results");
});

test("the next question forgets the outcome of the one before", () => {
  const view = played("welcome", "question", "result", "question-multiple");
  assert.equal(view.state?.phase, "question");
  assert.equal(view.state?.question?.q, 2);
  assert.equal(view.state?.outcome, null);
  assert.equal(view.state?.answered, null);
});

test("a skipped number is a lost message", () => {
  const view = played("welcome", "question-multiple");
  assert.equal(view.gap, true);
  assert.equal(view.state?.phase, "lobby", "what came after the gap is not shown");
});

test("a frame from the past changes nothing", () => {
  const before = played("welcome", "question", "result");
  assert.equal(reducePlayer(before, player("question"), 9), before);
  assert.equal(reducePlayer(before, player("result-wrong"), 9), before);
});

test("a pong that names an unseen number is a lost message, any other is not", () => {
  const before = played("welcome");
  assert.equal(reducePlayer(before, { t: "pong", seq: 1 }, 9).gap, true);
  assert.equal(reducePlayer(before, { t: "pong", seq: 0 }, 9), before);
});

test("sync replaces everything and repairs a gap", () => {
  const view = played("welcome", "question-multiple", "sync-answered");
  assert.equal(view.gap, false);
  assert.equal(view.state?.seq, 3);
  assert.deepEqual(view.state?.answered, [0, 3]);
  assert.equal(view.openedAt, 2);
});

test("a new epoch replaces even by a lower seq; an older one is refused", () => {
  const moved = played("sync-answered", "sync-results");
  assert.equal(moved.state?.epoch, 2);
  assert.equal(moved.state?.seq, 2);
  assert.equal(moved.state?.phase, "results");

  const stale = reducePlayer(moved, player("sync-answered"), 9);
  assert.equal(stale.gap, true);
  assert.equal(stale.state, moved.state);
});

test("the podium stays when the game ends", () => {
  const view = played("sync-podium", "bye");
  assert.equal(view.state?.phase, "ended");
  assert.equal(view.state?.over?.rank, 2);
  assert.equal(played("welcome", "bye-kicked").state?.phase, "lobby");
  assert.equal(played("welcome", "bye-kicked").bye, "kicked");
});

test("another answer standing than the one at hand asks for the truth", () => {
  assert.equal(played("welcome", "question", "error-already").gap, true);
  assert.equal(played("sync-answered", "error-already").gap, false);
});

test("a name changes by the host or the player", () => {
  assert.equal(played("welcome", "renamed").state?.name, "Ada L.");
});

test("frames of a newer server are ignored", () => {
  const before = played("welcome", "question");
  const unknown = { t: "fireworks", seq: 99 } as unknown as PlayerFrame;
  assert.equal(reducePlayer(before, unknown, 9), before);
  const board = hosted("sync");
  assert.equal(reduceHost(board, { t: "fireworks" } as unknown as HostFrame, 9), board);
});

test("every fixture is taken in every state without harm", () => {
  const frames = fixtures("player_frame.").map((name) => fixture<PlayerFrame>(name));
  assert.ok(frames.length > 20);
  for (const first of frames) {
    for (const second of frames) {
      const view = reducePlayer(reducePlayer(emptyPlayer, first, 0), second, 1);
      assert.ok(view.state === null || view.state.seq >= 0);
    }
  }
  const boards = fixtures("host_frame.").map((name) => fixture<HostFrame>(name));
  for (const first of boards) for (const second of boards) reduceHost(reduceHost(emptyHost, first, 0), second, 1);
});

test("the roster follows its deltas in their order", () => {
  const names = (view: HostView) => view.state?.roster.map((entry) => `${entry.id} ${entry.name}${entry.away ? " away" : ""}`);
  assert.deepEqual(names(hosted("sync")), ["1 Ada", "2 <i>Noor</i> away"]);
  // Joined and left in one frame: 4 is gone; joined and away in one frame: 3 is away.
  assert.deepEqual(names(hosted("sync", "roster")), ["1 Ada L.", "2 <i>Noor</i>", "3 Zoë away"]);
});

test("a host sees question, progress, reveal and places", () => {
  const asked = hosted("sync", "question");
  assert.equal(asked.state?.answered, 0);
  assert.equal(asked.state?.expected, 1, "who is away is not expected");
  const going = hosted("sync", "question", "progress");
  assert.deepEqual([going.state?.answered, going.state?.expected], [4, 11]);
  const shown = hosted("sync", "question", "progress", "reveal");
  assert.equal(shown.state?.phase, "results");
  assert.deepEqual(shown.state?.reveal?.histogram, [7, 2, 0, 1]);
  assert.equal(shown.state?.answered, 10);
  assert.equal(reduceHost(shown, host("progress"), 9), shown, "late progress does not reopen the question");
});

test("a host notices a lost message, the lock, and storage that is behind", () => {
  assert.equal(hosted("sync", "reveal").gap, true);
  assert.equal(hosted("sync", "lock").state?.locked, true);
  assert.equal(hosted("sync", "saving").state?.behind, true);
  assert.equal(hosted("sync-podium", "bye").state?.phase, "ended");
});
