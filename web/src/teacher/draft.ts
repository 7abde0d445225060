// The quiz as the editor holds it: the document plus a stable key for everything that can move, and the time as typed. Keys
// never travel; `toDocument` leaves them behind.

import type { QuestionKind, QuizDocument } from "../shared/proto/protocol";
import { TIME_MS_DEFAULT } from "../shared/proto/protocol";

export interface DraftChoice {
  key: number;
  text: string;
  correct: boolean;
}

export interface DraftQuestion {
  key: number;
  kind: QuestionKind;
  text: string;
  choices: DraftChoice[];
  /** Seconds, as typed. */
  time: string;
  /** Choices put aside while the question is true/false, so that switching back loses nothing. */
  shelved?: DraftChoice[];
}

export interface Draft {
  title: string;
  questions: DraftQuestion[];
  /** The next free key. */
  nextKey: number;
}

/** The words of a new true/false question, in the teacher's language. */
export interface TrueFalseWords {
  yes: string;
  no: string;
}

export function emptyDraft(): Draft {
  return { title: "", questions: [], nextKey: 1 };
}

/** Milliseconds of a time typed in seconds; none when it is no number. Half-typed digits must not become a time. */
export function timeMs(typed: string): number | undefined {
  const text = typed.trim().replace(",", ".");
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(text)) return undefined;
  return Math.round(Number(text) * 1000);
}

/** Seconds to show for a time in milliseconds, without losing any. */
export function timeText(ms: number): string {
  return String(ms / 1000);
}

export function toDraft(quiz: QuizDocument): Draft {
  let key = 1;
  const questions = quiz.questions.map((question) => ({
    key: key++,
    kind: question.kind,
    text: question.text,
    choices: question.choices.map((choice) => ({ key: key++, text: choice.text, correct: choice.correct })),
    time: timeText(question.time_ms),
  }));
  return { title: quiz.title, questions, nextKey: key };
}

/** The document to save. An unreadable time becomes 0, which the validation refuses before anything is sent. */
export function toDocument(draft: Draft): QuizDocument {
  return {
    title: draft.title,
    questions: draft.questions.map((question) => ({
      kind: question.kind,
      text: question.text,
      choices: question.choices.map(({ text, correct }) => ({ text, correct })),
      time_ms: timeMs(question.time) ?? 0,
    })),
  };
}

/** Whether two drafts would look the same to the teacher; a half-typed time counts as a change, a key does not. */
export function sameContent(a: Draft, b: Draft): boolean {
  return a === b || contentText(a) === contentText(b);
}

function contentText(draft: Draft): string {
  return JSON.stringify([
    draft.title,
    draft.questions.map((q) => [q.kind, q.text, q.time, q.choices.map((c) => [c.text, c.correct])]),
  ]);
}

/** A new question: four empty choices (two for true/false), nothing marked except "true". */
export function newQuestion(draft: Draft, kind: QuestionKind, words: TrueFalseWords): [DraftQuestion, number] {
  let key = draft.nextKey;
  const question: DraftQuestion = {
    key: key++,
    kind,
    text: "",
    choices: [],
    time: timeText(TIME_MS_DEFAULT),
  };
  const texts = kind === "true_false" ? [words.yes, words.no] : ["", "", "", ""];
  question.choices = texts.map((text, index) => ({
    key: key++,
    text,
    correct: kind === "true_false" && index === 0,
  }));
  return [question, key];
}
