// The answer on its way: one slot, keyed by game and question, kept in session storage so that a reload loses nothing.
//
// It is sent again until the server says `saved: true` or refuses it for a reason that another try cannot change. An
// answer never outlives its question, so a late tap cannot count for the next one.

import type { ErrorCode, PlayerCommand, PlayerState, QuestionView } from "./proto/protocol";
import { isPassing } from "./reducer";
import { readStore, removeStore, writeStore } from "./storage";

/** `sending`: no ack yet. `accepted`: counted, storage is behind. `saved`: done. `refused`: final, `code` says why. */
export type Stage = "sending" | "accepted" | "saved" | "refused";

export interface Slot {
  q: number;
  choices: number[];
  stage: Stage;
  code?: ErrorCode;
}

/** Puts an answer into the slot. The first tap wins: an answer to the same question stays as it is. */
export function place(slot: Slot | null, q: number, choices: number[]): Slot {
  if (slot !== null && slot.q === q) return slot;
  return { q, choices, stage: "sending" };
}

export function acked(slot: Slot | null, q: number, saved: boolean): Slot | null {
  if (slot === null || slot.q !== q || slot.stage === "saved") return slot;
  return { q, choices: slot.choices, stage: saved ? "saved" : "accepted" };
}

export function refused(slot: Slot | null, q: number | null | undefined, code: ErrorCode): Slot | null {
  if (slot === null || slot.q !== q || isPassing(code)) return slot;
  // After an ack the answer stands, whatever a repetition of it is told.
  if (slot.stage === "accepted" || slot.stage === "saved") return slot;
  return { ...slot, stage: "refused", code };
}

/**
 * The slot after a state arrived: the server's accepted answer wins, and another question's answer is dropped. An answer in a state
 * that is `unsaved` may still be lost with its server.
 */
export function reconciled(slot: Slot | null, state: PlayerState, unsaved: boolean): Slot | null {
  const { question, answered } = state;
  if (!question || (state.phase !== "question" && state.phase !== "results")) return null;
  if (answered) {
    // Still to be sent again while storage was behind; the ack tells when it has caught up.
    const waits = unsaved || (slot?.q === question.q && slot.stage === "accepted");
    return { q: question.q, choices: answered, stage: waits ? "accepted" : "saved" };
  }
  return slot?.q === question.q ? slot : null;
}

/** Whether the slot must be sent (again). */
export const unsettled = (slot: Slot | null): slot is Slot =>
  slot !== null && (slot.stage === "sending" || slot.stage === "accepted");

/** The frame that carries the slot. */
export function command(slot: Slot, question: QuestionView): PlayerCommand {
  const [choice] = slot.choices;
  return question.kind === "multiple" || choice === undefined
    ? { t: "answer", q: slot.q, choices: slot.choices }
    : { t: "answer", q: slot.q, choice };
}

const keyOf = (code: string) => `homeroom.answer.${code}`;

export function keepSlot(code: string, slot: Slot | null): void {
  if (slot === null) removeStore("session", keyOf(code));
  else writeStore("session", keyOf(code), JSON.stringify(slot));
}

/** The slot a reload left behind; anything unreadable counts as none. */
export function keptSlot(code: string): Slot | null {
  try {
    const slot = JSON.parse(readStore("session", keyOf(code)) ?? "null") as Slot | null;
    return slot && Number.isInteger(slot.q) && Array.isArray(slot.choices) ? slot : null;
  } catch {
    return null;
  }
}
