// The bodies that the Rust tests wrote: what the server sends is what these pages read.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { reportModel } from "../src/reports/model";
import type { ImportResponse, QuizResponse, ReportResponse } from "../src/shared/proto/protocol";
import { toDocument, toDraft } from "../src/teacher/draft";
import { importModel } from "../src/teacher/import";
import { validate } from "../src/teacher/validate";

function fixture<T>(name: string): T {
  const folder = process.env["HOMEROOM_FIXTURES"];
  assert.ok(folder, "HOMEROOM_FIXTURES names the folder of the fixtures");
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as T;
}

test("a stored quiz is edited without losing anything and has no issue", () => {
  const { quiz } = fixture<QuizResponse>("http.quiz");
  assert.ok(quiz.questions.length > 0);
  assert.deepEqual(toDocument(toDraft(quiz)), quiz);
  assert.deepEqual(validate(toDraft(quiz)), []);
});

test("a report shows the totals, ranks and counts of the server", () => {
  const report = fixture<ReportResponse>("http.report");
  const model = reportModel(report);
  assert.deepEqual(
    model.students.map(({ id, name, rank, total }) => ({ id, name, rank, total })),
    report.result.players.map(({ id, name, rank, total }) => ({ id, name, rank, total })),
  );
  assert.deepEqual(
    model.questions.map(({ q, answered, right, bars }) => ({ q, answered, right, histogram: bars.map((bar) => bar.count) })),
    report.questions.map(({ q, answered, right, histogram }) => ({ q, answered, right, histogram })),
  );
  const cells = model.students.flatMap((row) => row.cells.filter((cell) => cell.mark !== "none"));
  const answers = report.result.players.flatMap((player) => player.answers);
  assert.ok(answers.length > 0);
  assert.deepEqual(
    cells.map((cell) => [cell.q, cell.mark === "right", cell.points]),
    answers.map((answer) => [answer.q, answer.correct, answer.points]),
  );
});

test("an import shows each item with its name, place and reason", () => {
  const response = fixture<ImportResponse>("http.import");
  const model = importModel(response);
  assert.ok(response.skipped.length > 0 && response.notes.length > 0);
  assert.deepEqual(model.skipped.map(({ kind: _, ...item }) => item), response.skipped);
  assert.deepEqual(model.changed.map(({ kind: _, ...item }) => item), response.notes);
});
