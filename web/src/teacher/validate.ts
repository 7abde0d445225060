// What is wrong with a quiz, field by field. The rules are those of `QuizDocument::validate` in the protocol crate; where Rust
// stops at the first broken bound, an editor shows them all. The words belong to the dictionary.

import {
  CHOICES_MAX,
  CHOICES_MIN,
  CHOICE_CHARS_MAX,
  QUESTIONS_MAX,
  TEXT_CHARS_MAX,
  TIME_MS_MAX,
  TIME_MS_MIN,
  TITLE_CHARS_MAX,
} from "../shared/proto/protocol";
import { charCount, trimSpace } from "./bounds";
import type { Draft, DraftQuestion } from "./draft";
import { timeMs } from "./draft";

/** Which bound is broken. */
export type IssueCode =
  | "title_empty"
  | "title_long"
  | "questions_many"
  | "text_empty"
  | "text_long"
  | "choices_few"
  | "choices_many"
  | "choice_empty"
  | "choice_long"
  | "no_correct"
  | "true_false"
  | "time";

/** One broken bound and the element that shows it. */
export interface Issue {
  code: IssueCode;
  /** Id of the form field; `fieldId` and its siblings make it. */
  field: string;
  /** Question number from 1; 0 for the quiz itself. */
  question: number;
  /** Choice number from 1; 0 when it is not about one choice. */
  choice: number;
  /** The figure found: characters, choices or questions. */
  found: number;
  /** The figure allowed at most (or at least, for `choices_few`). */
  limit: number;
}

export const TITLE_FIELD = "quiz-title";
export const QUESTIONS_FIELD = "quiz-questions";

export function textField(question: number): string {
  return `q${question}-text`;
}
export function timeField(question: number): string {
  return `q${question}-time`;
}
export function choicesField(question: number): string {
  return `q${question}-choices`;
}
export function choiceField(question: number, choice: number): string {
  return `q${question}-c${choice}`;
}

function issue(code: IssueCode, field: string, at: Partial<Issue> = {}): Issue {
  return { code, field, question: 0, choice: 0, found: 0, limit: 0, ...at };
}

/** Every broken bound, in the order of the page. Field ids carry the draft's keys, so they stay when questions move. */
export function validate(draft: Draft): Issue[] {
  const found = validateTitle(draft.title);
  if (draft.questions.length > QUESTIONS_MAX) {
    found.push(
      issue("questions_many", QUESTIONS_FIELD, { found: draft.questions.length, limit: QUESTIONS_MAX }),
    );
  }
  draft.questions.forEach((question, index) => found.push(...validateQuestion(question, index + 1)));
  return found;
}

function validateTitle(title: string): Issue[] {
  const chars = charCount(title);
  if (trimSpace(title) === "") return [issue("title_empty", TITLE_FIELD, { limit: TITLE_CHARS_MAX })];
  if (chars > TITLE_CHARS_MAX) {
    return [issue("title_long", TITLE_FIELD, { found: chars, limit: TITLE_CHARS_MAX })];
  }
  return [];
}

function validateQuestion(question: DraftQuestion, number: number): Issue[] {
  const at = { question: number };
  const found: Issue[] = [];
  const chars = charCount(question.text);
  if (trimSpace(question.text) === "") {
    found.push(issue("text_empty", textField(question.key), { ...at, limit: TEXT_CHARS_MAX }));
  } else if (chars > TEXT_CHARS_MAX) {
    found.push(issue("text_long", textField(question.key), { ...at, found: chars, limit: TEXT_CHARS_MAX }));
  }
  found.push(...validateChoices(question, number));
  const ms = timeMs(question.time);
  if (ms === undefined || ms < TIME_MS_MIN || ms > TIME_MS_MAX) {
    found.push(issue("time", timeField(question.key), { ...at, limit: TIME_MS_MAX }));
  }
  return found;
}

function validateChoices(question: DraftQuestion, number: number): Issue[] {
  const found: Issue[] = [];
  const group = choicesField(question.key);
  const count = question.choices.length;
  if (count < CHOICES_MIN) {
    found.push(issue("choices_few", group, { question: number, found: count, limit: CHOICES_MIN }));
  } else if (count > CHOICES_MAX) {
    found.push(issue("choices_many", group, { question: number, found: count, limit: CHOICES_MAX }));
  }
  question.choices.forEach((choice, index) => {
    const at = { question: number, choice: index + 1, limit: CHOICE_CHARS_MAX };
    const field = choiceField(question.key, choice.key);
    const chars = charCount(choice.text);
    if (trimSpace(choice.text) === "") found.push(issue("choice_empty", field, at));
    else if (chars > CHOICE_CHARS_MAX) found.push(issue("choice_long", field, { ...at, found: chars }));
  });
  const correct = question.choices.filter((choice) => choice.correct).length;
  if (correct === 0) found.push(issue("no_correct", group, { question: number }));
  else if (question.kind === "true_false" && (count !== 2 || correct !== 1)) {
    found.push(issue("true_false", group, { question: number }));
  }
  return found;
}
