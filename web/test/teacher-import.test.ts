import assert from "node:assert/strict";
import { test } from "node:test";

import type { ImportResponse } from "../src/shared/proto/protocol";
import { FILE_BYTES_MAX, importModel, refuseFile } from "../src/teacher/import";

const QUIZ = { id: "q", title: "Moodle", questions: 2, updated_ms: 1 };
const ITEMS = [
  { name: "Grant's tomb", place: "line 12", reason: "Matching is not supported." },
  { name: "<b>", place: "cell C9", reason: "No correct answer." },
];

function response(change: Partial<ImportResponse>): ImportResponse {
  return { quiz: QUIZ, format: "gift", imported: 2, skipped: [], notes: [], ...change };
}

test("every skipped and every changed item is shown, in file order, as it was delivered", () => {
  const model = importModel(response({ skipped: ITEMS, notes: [...ITEMS].reverse() }));
  assert.deepEqual(model.skipped.map(({ kind, ...item }) => [kind, item]), ITEMS.map((item) => ["skipped", item]));
  assert.deepEqual(model.changed.map(({ kind, name }) => [kind, name]), [
    ["changed", "<b>"],
    ["changed", "Grant's tomb"],
  ]);
});

test("all, some or none was imported", () => {
  assert.equal(importModel(response({})).outcome, "all");
  assert.equal(importModel(response({ notes: ITEMS })).outcome, "all");
  assert.equal(importModel(response({ skipped: ITEMS })).outcome, "some");
  assert.equal(importModel(response({ quiz: null, imported: 0, skipped: ITEMS })).outcome, "none");
  assert.equal(importModel({ format: "kahoot", imported: 0, skipped: [], notes: [] }).outcome, "none");
});

test("an empty or huge file is not sent", () => {
  assert.equal(refuseFile({ size: 0 }), "empty");
  assert.equal(refuseFile({ size: FILE_BYTES_MAX }), undefined);
  assert.equal(refuseFile({ size: FILE_BYTES_MAX + 1 }), "large");
});
