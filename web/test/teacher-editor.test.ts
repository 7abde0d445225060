import assert from "node:assert/strict";
import { test } from "node:test";

import type { QuizDocument } from "../src/shared/proto/protocol";
import { emptyDraft, sameContent, timeMs, timeText, toDocument, toDraft } from "../src/teacher/draft";
import { ADD_BUTTON, focusAfter } from "../src/teacher/focus";
import { UNDO_STEPS_MAX, apply, initial, reduce } from "../src/teacher/editor";
import type { Action, EditorState } from "../src/teacher/editor";

const WORDS = { yes: "True", no: "False" };

const QUIZ: QuizDocument = {
  title: "Capitals",
  questions: [
    {
      kind: "single",
      text: "Capital of France?",
      choices: [
        { text: "Paris", correct: true },
        { text: "Lyon", correct: false },
        { text: "Lille", correct: false },
      ],
      time_ms: 20_000,
    },
    {
      kind: "true_false",
      text: "Berlin is in Germany.",
      choices: [
        { text: "True", correct: true },
        { text: "False", correct: false },
      ],
      time_ms: 7_500,
    },
  ],
};

function start(): EditorState {
  return initial(toDraft(QUIZ));
}

function run(state: EditorState, ...actions: Action[]): EditorState {
  return actions.reduce(reduce, state);
}

function key(state: EditorState, question: number): number {
  const found = state.draft.questions[question];
  assert.ok(found);
  return found.key;
}

function choiceKey(state: EditorState, question: number, choice: number): number {
  const found = state.draft.questions[question]?.choices[choice];
  assert.ok(found);
  return found.key;
}

test("a document survives the way into the editor and back", () => {
  assert.deepEqual(toDocument(toDraft(QUIZ)), QUIZ);
  const keys = toDraft(QUIZ).questions.flatMap((q) => [q.key, ...q.choices.map((c) => c.key)]);
  assert.equal(new Set(keys).size, keys.length);
});

test("a time is read as typed and never from half a number", () => {
  assert.equal(timeMs("20"), 20_000);
  assert.equal(timeMs(" 7,5 "), 7_500);
  assert.equal(timeMs("0.001"), 1);
  for (const typed of ["", "20 s", "1e3", "-5", "2.", "0x10", "٢٠"]) assert.equal(timeMs(typed), undefined, typed);
  assert.equal(timeText(7_500), "7.5");
  assert.equal(timeMs(timeText(12_345)), 12_345);
});

test("a deleted question comes back in its place with everything in it", () => {
  const before = start();
  const gone = run(before, { do: "remove", question: key(before, 0) });
  assert.equal(gone.draft.questions.length, 1);
  const back = run(gone, { do: "undo" });
  assert.deepEqual(back.draft, before.draft);
  assert.deepEqual(run(back, { do: "redo" }).draft, gone.draft);
});

test("a run of typing is one step, another field begins the next", () => {
  const before = start();
  const question = key(before, 0);
  const typed = run(
    before,
    { do: "text", question, text: "C" },
    { do: "text", question, text: "Ca" },
    { do: "text", question, text: "Cap" },
    { do: "title", text: "T" },
  );
  assert.equal(typed.past.length, 2);
  const once = run(typed, { do: "undo" });
  assert.equal(once.draft.title, "Capitals");
  assert.equal(once.draft.questions[0]?.text, "Cap");
  assert.deepEqual(run(once, { do: "undo" }).draft, before.draft);
});

test("typing after an undo is a step of its own and drops what could be redone", () => {
  const typed = run(start(), { do: "title", text: "A" }, { do: "undo" }, { do: "title", text: "B" });
  assert.equal(typed.future.length, 0);
  assert.equal(run(typed, { do: "undo" }).draft.title, "Capitals");
});

test("undo keeps a bounded number of steps", () => {
  let state = start();
  const question = key(state, 0);
  for (let i = 0; i < UNDO_STEPS_MAX * 2; i += 1) {
    state = run(state, { do: "correct", question, choice: choiceKey(state, 0, 1), correct: i % 2 === 0 });
  }
  assert.equal(state.past.length, UNDO_STEPS_MAX);
});

test("an edit that changes nothing is no step", () => {
  const state = start();
  const same = run(
    state,
    { do: "move", question: key(state, 0), by: -1 },
    { do: "move", question: key(state, 1), by: 1 },
    { do: "remove", question: 9_999 },
    { do: "title", text: "Capitals" },
    { do: "kind", question: key(state, 0), kind: "single", words: WORDS },
    { do: "addChoice", question: key(state, 1) },
    { do: "removeChoice", question: key(state, 1), choice: choiceKey(state, 1, 0) },
    { do: "undo" },
    { do: "redo" },
  );
  assert.equal(same, state);
});

test("moving swaps neighbours and keeps their keys", () => {
  const state = start();
  const [first, second] = [key(state, 0), key(state, 1)];
  const after = run(state, { do: "move", question: first, by: 1 });
  assert.deepEqual(after.draft.questions.map((q) => q.key), [second, first]);
});

test("of true and false exactly one is correct", () => {
  const state = start();
  const question = key(state, 1);
  const no = run(state, { do: "correct", question, choice: choiceKey(state, 1, 1), correct: true });
  assert.deepEqual(no.draft.questions[1]?.choices.map((c) => c.correct), [false, true]);
  const unmarked = run(no, { do: "correct", question, choice: choiceKey(no, 1, 1), correct: false });
  assert.deepEqual(unmarked.draft.questions[1]?.choices.map((c) => c.correct), [true, false]);
});

test("switching to true/false and back loses no choice", () => {
  const state = start();
  const question = key(state, 0);
  const flipped = run(state, { do: "kind", question, kind: "true_false", words: WORDS });
  assert.deepEqual(flipped.draft.questions[0]?.choices.map((c) => [c.text, c.correct]), [
    ["True", true],
    ["False", false],
  ]);
  const back = run(flipped, { do: "kind", question, kind: "multiple", words: WORDS });
  assert.deepEqual(toDocument(back.draft).questions[0]?.choices, QUIZ.questions[0]?.choices);
});

test("choices stay within their bounds", () => {
  let state = start();
  const question = key(state, 0);
  for (let i = 0; i < 20; i += 1) state = run(state, { do: "addChoice", question });
  assert.equal(state.draft.questions[0]?.choices.length, 10);
  for (let i = 0; i < 20; i += 1) {
    state = run(state, { do: "removeChoice", question, choice: choiceKey(state, 0, 0) });
  }
  assert.equal(state.draft.questions[0]?.choices.length, 2);
});

test("questions stay within their bound, and keys are never given twice", () => {
  let draft = emptyDraft();
  for (let i = 0; i < 250; i += 1) draft = apply(draft, { do: "add", kind: "single", words: WORDS });
  assert.equal(draft.questions.length, 200);
  const keys = draft.questions.flatMap((q) => [q.key, ...q.choices.map((c) => c.key)]);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(apply(draft, { do: "copy", question: 1 }), draft);
});

test("a copy stands behind its original and shares no key", () => {
  const state = start();
  const after = run(state, { do: "copy", question: key(state, 0) });
  assert.deepEqual(after.draft.questions.map((q) => q.text), [
    "Capital of France?",
    "Capital of France?",
    "Berlin is in Germany.",
  ]);
  const keys = after.draft.questions.flatMap((q) => [q.key, ...q.choices.map((c) => c.key)]);
  assert.equal(new Set(keys).size, keys.length);
});

test("the focus goes to what an edit brought, moved or left over", () => {
  const state = start();
  const [first, second] = [key(state, 0), key(state, 1)];
  const { draft } = state;
  assert.equal(focusAfter(draft, { do: "remove", question: first }), `q${second}-head`);
  assert.equal(focusAfter(draft, { do: "remove", question: second }), `q${first}-head`);
  assert.equal(focusAfter({ ...draft, questions: draft.questions.slice(0, 1) }, { do: "remove", question: first }), ADD_BUTTON);
  assert.equal(focusAfter(draft, { do: "move", question: second, by: -1 }), `q${second}-up`);
  const added = apply(draft, { do: "add", kind: "single", words: WORDS });
  assert.equal(focusAfter(draft, { do: "add", kind: "single", words: WORDS }), `q${added.questions[2]?.key}-text`);
  const copied = apply(draft, { do: "copy", question: first });
  assert.equal(focusAfter(draft, { do: "copy", question: first }), `q${copied.questions[1]?.key}-head`);
  const more = apply(draft, { do: "addChoice", question: first });
  assert.equal(focusAfter(draft, { do: "addChoice", question: first }), `q${first}-c${more.questions[0]?.choices[3]?.key}`);
  const last = choiceKey(state, 0, 2);
  assert.equal(focusAfter(draft, { do: "removeChoice", question: first, choice: last }), `q${first}-c${choiceKey(state, 0, 1)}`);
  assert.equal(focusAfter(draft, { do: "title", text: "T" }), undefined);
});

test("content is compared without keys", () => {
  const draft = toDraft(QUIZ);
  const renumbered = { ...draft, questions: draft.questions.map((q) => ({ ...q, key: q.key + 100 })) };
  assert.ok(sameContent(draft, renumbered));
  assert.ok(!sameContent(draft, { ...draft, title: "Capitals " }));
  const question = draft.questions[0];
  assert.ok(question);
  assert.ok(!sameContent(draft, apply(draft, { do: "time", question: question.key, text: "20." })));
});
