import assert from "node:assert/strict";
import { test } from "node:test";
import { acked, command, keepSlot, keptSlot, place, reconciled, refused, type Slot, unsettled } from "../src/shared/outbox";
import type { ErrorCode, PlayerFrame, PlayerState } from "../src/shared/proto/protocol";
import { fixture } from "./support";

type Carrier = Extract<PlayerFrame, { t: "sync" | "welcome" }>;
const state = (name: string): PlayerState => fixture<Carrier>(`player_frame.${name}`).state;

const sending: Slot = { q: 2, choices: [1], stage: "sending" };

test("the first tap wins", () => {
  assert.deepEqual(place(null, 2, [1]), sending);
  assert.equal(place(sending, 2, [3]), sending);
  assert.equal(place({ ...sending, stage: "refused", code: "too_late" }, 2, [3]).stage, "refused");
  assert.deepEqual(place(sending, 3, [0]), { q: 3, choices: [0], stage: "sending" });
});

test("an ack settles only its own question, and saved is final", () => {
  assert.equal(acked(sending, 1, true), sending);
  assert.equal(acked(sending, 2, false)?.stage, "accepted");
  const saved = acked(acked(sending, 2, false), 2, true);
  assert.equal(saved?.stage, "saved");
  assert.equal(acked(saved, 2, false), saved, "a late first ack does not undo the second");
  assert.ok(unsettled(acked(sending, 2, false)), "sent again until it is saved");
  assert.ok(!unsettled(saved));
});

test("a typed refusal ends it, a passing one does not", () => {
  const final: ErrorCode[] = ["too_late", "not_open", "bad_choice", "already_answered", "wrong_phase"];
  for (const code of final) assert.deepEqual(refused(sending, 2, code), { ...sending, stage: "refused", code });
  for (const code of ["busy", "too_many"] as const) assert.equal(refused(sending, 2, code), sending);
  assert.equal(refused(sending, 1, "too_late"), sending, "another question's refusal");
  const accepted = acked(sending, 2, false);
  assert.equal(refused(accepted, 2, "too_late"), accepted, "an accepted answer stands");
});

test("after a reload the server's answer counts, an unsent one is kept for its question only", () => {
  const open = state("welcome-question");
  assert.equal(reconciled(sending, open, false), sending);
  assert.equal(reconciled({ ...sending, q: 1 }, open, false), null, "a late tap never counts for the next question");
  assert.equal(reconciled(null, open, false), null);
  assert.deepEqual(reconciled(sending, state("sync-answered"), false), { q: 2, choices: [0, 3], stage: "saved" });
  assert.equal(reconciled(sending, state("sync"), false), null, "back in the lobby");
});

test("an accepted answer keeps waiting for the journal over a reconnect", () => {
  const slot: Slot = { q: 2, choices: [0, 3], stage: "accepted" };
  assert.equal(reconciled(slot, state("sync-answered"), false)?.stage, "accepted");
});

test("an answer in a state that is not saved yet is kept, also where a reload had forgotten it", () => {
  const answered = state("sync-answered");
  for (const slot of [sending, null]) {
    const kept = reconciled(slot, answered, true);
    assert.deepEqual(kept, { q: 2, choices: [0, 3], stage: "accepted" });
    assert.ok(unsettled(kept));
  }
});

test("the frame has the shape its question wants, as the fixtures show it", () => {
  const single = fixture<Extract<PlayerFrame, { t: "question" }>>("player_frame.question");
  const multiple = fixture<Extract<PlayerFrame, { t: "question" }>>("player_frame.question-multiple");
  assert.deepEqual(command({ q: 1, choices: [2], stage: "sending" }, single), fixture("player_command.answer"));
  assert.deepEqual(command({ q: 2, choices: [0, 3], stage: "sending" }, multiple), fixture("player_command.answer-multiple"));
  assert.deepEqual(command({ q: 2, choices: [1], stage: "sending" }, multiple), { t: "answer", q: 2, choices: [1] });
});

test("the slot survives a reload, and damaged storage counts as none", () => {
  keepSlot("K7Q2MX", sending);
  assert.deepEqual(keptSlot("K7Q2MX"), sending);
  assert.equal(keptSlot("AAAAAA"), null, "each game has its own");
  keepSlot("K7Q2MX", { q: "x" } as unknown as Slot);
  assert.equal(keptSlot("K7Q2MX"), null);
  keepSlot("K7Q2MX", null);
  assert.equal(keptSlot("K7Q2MX"), null);
});
