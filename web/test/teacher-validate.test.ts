import assert from "node:assert/strict";
import { test } from "node:test";

import type { Question, QuizDocument } from "../src/shared/proto/protocol";
import { toDraft } from "../src/teacher/draft";
import { choiceField, choicesField, textField, validate } from "../src/teacher/validate";

const QUESTION: Question = {
  kind: "single",
  text: "2 + 2?",
  choices: [
    { text: "4", correct: true },
    { text: "5", correct: false },
  ],
  time_ms: 20_000,
};

function codes(quiz: QuizDocument): string[] {
  return validate(toDraft(quiz)).map((issue) => issue.code);
}

function of(change: Partial<Question>): string[] {
  return codes({ title: "T", questions: [{ ...QUESTION, ...change }] });
}

function choices(count: number, correct = 0): Question["choices"] {
  return Array.from({ length: count }, (_, index) => ({ text: `c${index}`, correct: index === correct }));
}

test("a good quiz has no issue, with or without questions", () => {
  assert.deepEqual(codes({ title: "T", questions: [QUESTION] }), []);
  assert.deepEqual(codes({ title: "T", questions: [] }), []);
});

test("title: 1 to 120 characters, counted as the server counts", () => {
  assert.deepEqual(codes({ title: "", questions: [] }), ["title_empty"]);
  assert.deepEqual(codes({ title: " \u0085\u3000", questions: [] }), ["title_empty"]);
  assert.deepEqual(codes({ title: "\ufeff", questions: [] }), []);
  assert.deepEqual(codes({ title: "😀".repeat(120), questions: [] }), []);
  assert.deepEqual(codes({ title: "x".repeat(121), questions: [] }), ["title_long"]);
  assert.deepEqual(codes({ title: `${"x".repeat(120)} `, questions: [] }), ["title_long"]);
});

test("questions: at most 200", () => {
  assert.deepEqual(codes({ title: "T", questions: Array(200).fill(QUESTION) }), []);
  assert.deepEqual(codes({ title: "T", questions: Array(201).fill(QUESTION) }), ["questions_many"]);
});

test("text: 1 to 1000 characters", () => {
  assert.deepEqual(of({ text: "  " }), ["text_empty"]);
  assert.deepEqual(of({ text: "é".repeat(1000) }), []);
  assert.deepEqual(of({ text: "é".repeat(1001) }), ["text_long"]);
});

test("choices: 2 to 10, each 1 to 250 characters", () => {
  assert.deepEqual(of({ choices: choices(1) }), ["choices_few"]);
  assert.deepEqual(of({ choices: choices(10) }), []);
  assert.deepEqual(of({ choices: choices(11) }), ["choices_many"]);
  const [right, wrong] = QUESTION.choices;
  assert.ok(right && wrong);
  assert.deepEqual(of({ choices: [right, { ...wrong, text: "" }] }), ["choice_empty"]);
  assert.deepEqual(of({ choices: [right, { ...wrong, text: "x".repeat(250) }] }), []);
  assert.deepEqual(of({ choices: [right, { ...wrong, text: "x".repeat(251) }] }), ["choice_long"]);
});

test("at least one choice is correct, and exactly one of true and false", () => {
  assert.deepEqual(of({ choices: choices(3, 9) }), ["no_correct"]);
  assert.deepEqual(of({ kind: "multiple", choices: choices(3, 9) }), ["no_correct"]);
  assert.deepEqual(of({ choices: choices(2).map((c) => ({ ...c, correct: true })) }), []);
  assert.deepEqual(of({ kind: "true_false", choices: choices(2) }), []);
  assert.deepEqual(of({ kind: "true_false", choices: choices(3) }), ["true_false"]);
  const both = choices(2).map((c) => ({ ...c, correct: true }));
  assert.deepEqual(of({ kind: "true_false", choices: both }), ["true_false"]);
});

test("time: 5 to 600 seconds", () => {
  assert.deepEqual(of({ time_ms: 5_000 }), []);
  assert.deepEqual(of({ time_ms: 4_999 }), ["time"]);
  assert.deepEqual(of({ time_ms: 600_000 }), []);
  assert.deepEqual(of({ time_ms: 600_001 }), ["time"]);
});

test("an issue points at its field, question and choice", () => {
  const draft = toDraft({
    title: "T",
    questions: [QUESTION, { ...QUESTION, text: "", choices: [{ text: "a", correct: false }, { text: "", correct: false }] }],
  });
  const question = draft.questions[1];
  const choice = question?.choices[1];
  assert.ok(question && choice);
  assert.deepEqual(
    validate(draft).map((issue) => [issue.field, issue.question, issue.choice]),
    [
      [textField(question.key), 2, 0],
      [choiceField(question.key, choice.key), 2, 2],
      [choicesField(question.key), 2, 0],
    ],
  );
});
