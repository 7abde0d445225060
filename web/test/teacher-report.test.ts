import assert from "node:assert/strict";
import { test } from "node:test";

import type { GameTimeline, Happened, Page, ReportResponse } from "../src/shared/proto/protocol";
import { sentence } from "../src/reports/history";
import { letter, percent, reportModel } from "../src/reports/model";
import { fixture } from "./support";

const ID = "00000000-0000-4000-8000-000000000001";

function question(text: string, correct: number): ReportResponse["result"]["quiz"]["questions"][number] {
  const choices = ["x", "y", "z"].map((choice, index) => ({ text: choice, correct: index === correct }));
  return { kind: "single", text, choices, time_ms: 20_000 };
}

/** Two students tie; one question was skipped, and the third of the quiz was never played. */
const REPORT: ReportResponse = {
  result: {
    game: ID,
    code: "ABC234",
    teacher: ID,
    quiz_id: ID,
    settings: { scoring: "speed" },
    quiz: { title: "Letters", questions: [question("one", 0), question("two", 1), question("three", 2)] },
    created_ms: 1_000,
    ended_ms: 61_000,
    questions: [
      { q: 1, skipped: false },
      { q: 2, skipped: true },
    ],
    players: [
      {
        id: 3,
        name: "<b>Zoë</b>",
        rank: 1,
        total: 900,
        answers: [
          { q: 1, choices: [0], elapsed_ms: 4_000, correct: true, points: 900 },
          { q: 2, choices: [1], elapsed_ms: 1_000, correct: true, points: 0 },
        ],
      },
      { id: 1, name: "007", rank: 1, total: 900, answers: [{ q: 1, choices: [0], elapsed_ms: 4_000, correct: true, points: 900 }] },
      { id: 2, name: "Ana", rank: 3, total: 0, answers: [{ q: 1, choices: [2], elapsed_ms: 9_000, correct: false, points: 0 }] },
      { id: 4, name: "Late", rank: 3, total: 0, answers: [] },
    ],
  },
  questions: [
    { q: 1, histogram: [2, 0, 1], answered: 3, right: 2, median_ms: 4_000 },
    { q: 2, histogram: [0, 1, 0], answered: 1, right: 1, median_ms: 1_000 },
  ],
};

test("ranks, totals and the order of students are the server's", () => {
  const { students } = reportModel(REPORT);
  assert.deepEqual(
    students.map((row) => [row.rank, row.name, row.total]),
    [
      [1, "<b>Zoë</b>", 900],
      [1, "007", 900],
      [3, "Ana", 0],
      [3, "Late", 0],
    ],
  );
});

test("a student has one cell per played question, and none where nothing was answered", () => {
  const { students } = reportModel(REPORT);
  assert.deepEqual(
    students.map((row) => row.cells.map((cell) => cell.mark).join(" ")),
    ["right right", "right none", "wrong none", "none none"],
  );
  assert.deepEqual(students.map((row) => row.right), [1, 1, 0, 0]);
});

test("a question carries the choices as played, the counts and their shares", () => {
  const [first, second] = reportModel(REPORT).questions;
  assert.deepEqual(
    first?.bars.map((bar) => [bar.letter, bar.text, bar.correct, bar.count, bar.percent]),
    [
      ["A", "x", true, 2, 67],
      ["B", "y", false, 0, 0],
      ["C", "z", false, 1, 33],
    ],
  );
  assert.equal(first?.percentRight, 67);
  assert.equal(first?.medianMs, 4_000);
  assert.equal(first?.skipped, false);
  assert.equal(second?.skipped, true);
});

test("a skipped question counts in no share, nor as the hardest", () => {
  const model = reportModel(REPORT);
  assert.deepEqual([model.right, model.answered, model.percentRight], [2, 3, 67]);
  assert.equal(model.hardest, undefined);
});

test("the hardest question has the smallest share of right answers", () => {
  const report: ReportResponse = {
    result: { ...REPORT.result, questions: [1, 2, 3].map((q) => ({ q, skipped: false })) },
    questions: [
      { q: 1, histogram: [2, 0, 1], answered: 3, right: 2, median_ms: 1 },
      { q: 2, histogram: [9, 1, 0], answered: 10, right: 1, median_ms: 1 },
      { q: 3, histogram: [0, 0, 0], answered: 0, right: 0 },
    ],
  };
  const model = reportModel(report);
  assert.equal(model.hardest?.q, 2);
  assert.equal(model.questions[2]?.percentRight, undefined);
  assert.equal(model.questions[2]?.medianMs, undefined);
});

test("a game nobody played has an empty report", () => {
  const model = reportModel({ result: { ...REPORT.result, questions: [], players: [] }, questions: [] });
  assert.deepEqual([model.players, model.questions.length, model.percentRight], [0, 0, undefined]);
});

test("percent: only everything is 100 and only nothing is 0", () => {
  assert.equal(percent(199, 200), 99);
  assert.equal(percent(1, 500), 1);
  assert.equal(percent(0, 5), 0);
  assert.equal(percent(5, 5), 100);
  assert.equal(percent(0, 0), undefined);
  assert.equal(letter(0) + letter(9), "AJ");
});

test("everything that can happen to a game is told in words, and what is not known yet by its name", () => {
  const [timeline] = fixture<Page<GameTimeline>>("http.timelines").items;
  const told = timeline?.events.map(({ what }) => sentence(what)) ?? [];
  assert.equal(new Set(told).size, told.length);
  assert.equal(told.length, 12);
  assert.ok(told.includes("Went on at game-1"), told.join());
  assert.ok(told.includes("Went on at game-2 with what was left after a failure; the last answers before may be missing"), told.join());
  assert.ok(told.includes("Connections lost: 1, back: 31"), told.join());
  assert.equal(sentence({ t: "abducted" } as unknown as Happened), "abducted");
});
