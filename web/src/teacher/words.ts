// Sentences put together from the dictionary and a value of ours.

import * as common from "@lang/common";
import { teacher } from "@lang/teacher";
import type { Issue } from "./validate";

export function issueText(issue: Issue): string {
  return teacher.editor.issues[issue.code](issue.found, issue.limit);
}

/** Where an issue is, as a teacher counts. */
export function issuePlace(issue: Issue): string {
  const { editor } = teacher;
  if (issue.question === 0) return editor.atQuiz;
  if (issue.choice === 0) return editor.atQuestion(issue.question);
  return editor.atChoice(issue.question, letter(issue.choice - 1));
}

/** The letter of a choice on the board. An imported quiz within its bounds has no more than there are letters. */
export function letter(index: number): string {
  return common.letters[index] ?? String(index + 1);
}
