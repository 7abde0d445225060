// What the import page says about a file: the outcome, and every item that was left out or changed, in file order. Nothing is
// summed up away.

import type { ImportFormat, ImportResponse, QuizSummary, SkippedItem } from "../shared/proto/protocol";

/** Largest file that is sent at all, in bytes; the API's own limit (`api/src/import.rs`), which has the last word. */
export const FILE_BYTES_MAX = 10 * 1024 * 1024;

export type ImportOutcome = "all" | "some" | "none";

export interface ImportRow extends SkippedItem {
  kind: "skipped" | "changed";
}

export interface ImportModel {
  outcome: ImportOutcome;
  format: ImportFormat;
  quiz: QuizSummary | undefined;
  imported: number;
  skipped: ImportRow[];
  changed: ImportRow[];
}

export function importModel(response: ImportResponse): ImportModel {
  const quiz = response.quiz ?? undefined;
  const skipped = response.skipped.map((item): ImportRow => ({ ...item, kind: "skipped" }));
  const changed = response.notes.map((item): ImportRow => ({ ...item, kind: "changed" }));
  const nothing = response.imported === 0 || quiz === undefined;
  const outcome = nothing ? "none" : skipped.length > 0 ? "some" : "all";
  return { outcome, format: response.format, quiz, imported: response.imported, skipped, changed };
}

/** Why a file is not even sent. */
export type FileRefusal = "empty" | "large";

export function refuseFile(file: { size: number }): FileRefusal | undefined {
  if (file.size === 0) return "empty";
  return file.size > FILE_BYTES_MAX ? "large" : undefined;
}
