// The editor's state machine: every edit is an action, `reduce` is pure, and undo goes back through whole drafts. A run of
// keystrokes in one field is one step. Saving and its conflicts live in the view.

import type { QuestionKind } from "../shared/proto/protocol";
import { CHOICES_MAX, CHOICES_MIN, QUESTIONS_MAX } from "../shared/proto/protocol";
import type { Draft, DraftChoice, DraftQuestion, TrueFalseWords } from "./draft";
import { newQuestion } from "./draft";

/** Steps that can be undone. A draft shares its unchanged parts with the next one, so a step costs little. */
export const UNDO_STEPS_MAX = 100;

export type Edit =
  | { do: "title"; text: string }
  | { do: "add"; kind: QuestionKind; words: TrueFalseWords }
  | { do: "copy"; question: number }
  | { do: "remove"; question: number }
  | { do: "move"; question: number; by: -1 | 1 }
  | { do: "kind"; question: number; kind: QuestionKind; words: TrueFalseWords }
  | { do: "text"; question: number; text: string }
  | { do: "time"; question: number; text: string }
  | { do: "addChoice"; question: number }
  | { do: "removeChoice"; question: number; choice: number }
  | { do: "choiceText"; question: number; choice: number; text: string }
  | { do: "correct"; question: number; choice: number; correct: boolean };

export type Action = Edit | { do: "undo" } | { do: "redo" } | { do: "load"; draft: Draft };

export interface EditorState {
  draft: Draft;
  past: Draft[];
  future: Draft[];
  /** The field whose typing the last step gathers; empty after any other edit. */
  typing: string;
}

export function initial(draft: Draft): EditorState {
  return { draft, past: [], future: [], typing: "" };
}

export function reduce(state: EditorState, action: Action): EditorState {
  switch (action.do) {
    case "load":
      return initial(action.draft);
    case "undo": {
      const draft = state.past[state.past.length - 1];
      if (!draft) return state;
      return { draft, past: state.past.slice(0, -1), future: [...state.future, state.draft], typing: "" };
    }
    case "redo": {
      const draft = state.future[state.future.length - 1];
      if (!draft) return state;
      return { draft, past: [...state.past, state.draft], future: state.future.slice(0, -1), typing: "" };
    }
    default:
      return step(state, action);
  }
}

function step(state: EditorState, edit: Edit): EditorState {
  const draft = apply(state.draft, edit);
  if (draft === state.draft) return state;
  const typing = typingField(edit);
  if (typing !== "" && typing === state.typing) return { ...state, draft, future: [] };
  const past = [...state.past, state.draft].slice(-UNDO_STEPS_MAX);
  return { draft, past, future: [], typing };
}

function typingField(edit: Edit): string {
  switch (edit.do) {
    case "title":
      return "title";
    case "text":
    case "time":
      return `${edit.do} ${edit.question}`;
    case "choiceText":
      return `choice ${edit.question} ${edit.choice}`;
    default:
      return "";
  }
}

/** The draft after an edit; the same object when the edit changes nothing (an end reached, a bound met, a key gone). */
export function apply(draft: Draft, edit: Edit): Draft {
  switch (edit.do) {
    case "title":
      return edit.text === draft.title ? draft : { ...draft, title: edit.text };
    case "add": {
      if (draft.questions.length >= QUESTIONS_MAX) return draft;
      const [question, nextKey] = newQuestion(draft, edit.kind, edit.words);
      return { ...draft, questions: [...draft.questions, question], nextKey };
    }
    case "copy":
      return copyQuestion(draft, edit.question);
    case "remove": {
      const questions = draft.questions.filter((question) => question.key !== edit.question);
      return questions.length === draft.questions.length ? draft : { ...draft, questions };
    }
    case "move": {
      const questions = moved(draft.questions, edit.question, edit.by);
      return questions === draft.questions ? draft : { ...draft, questions };
    }
    default:
      return editQuestion(draft, edit);
  }
}

type QuestionEdit = Exclude<Edit, { do: "title" | "add" | "copy" | "remove" | "move" }>;

function editQuestion(draft: Draft, edit: QuestionEdit): Draft {
  const index = draft.questions.findIndex((question) => question.key === edit.question);
  const before = draft.questions[index];
  if (!before) return draft;
  let nextKey = draft.nextKey;
  const after = changed(before, edit, () => nextKey++);
  if (after === before) return draft;
  const questions = draft.questions.slice();
  questions[index] = after;
  return { ...draft, questions, nextKey };
}

function changed(question: DraftQuestion, edit: QuestionEdit, key: () => number): DraftQuestion {
  const { choices } = question;
  switch (edit.do) {
    case "text":
      return edit.text === question.text ? question : { ...question, text: edit.text };
    case "time":
      return edit.text === question.time ? question : { ...question, time: edit.text };
    case "kind":
      return withKind(question, edit.kind, edit.words, key);
    case "addChoice":
      if (choices.length >= CHOICES_MAX || question.kind === "true_false") return question;
      return { ...question, choices: [...choices, { key: key(), text: "", correct: false }] };
    case "removeChoice":
      if (choices.length <= CHOICES_MIN || question.kind === "true_false") return question;
      return { ...question, choices: choices.filter((choice) => choice.key !== edit.choice) };
    case "choiceText":
      return { ...question, choices: withChoice(choices, edit.choice, { text: edit.text }) };
    case "correct":
      return { ...question, choices: marked(question, edit.choice, edit.correct) };
  }
}

function withChoice(choices: DraftChoice[], key: number, change: Partial<DraftChoice>): DraftChoice[] {
  return choices.map((choice) => (choice.key === key ? { ...choice, ...change } : choice));
}

/** Of true and false exactly one is correct, so marking one unmarks the other. */
function marked(question: DraftQuestion, key: number, correct: boolean): DraftChoice[] {
  if (question.kind !== "true_false") return withChoice(question.choices, key, { correct });
  return question.choices.map((choice) => ({ ...choice, correct: (choice.key === key) === correct }));
}

function withKind(
  question: DraftQuestion,
  kind: QuestionKind,
  words: TrueFalseWords,
  key: () => number,
): DraftQuestion {
  if (kind === question.kind) return question;
  const { shelved, ...rest } = question;
  if (kind === "true_false") {
    const choices = [words.yes, words.no].map((text, index) => ({ key: key(), text, correct: index === 0 }));
    return { ...rest, kind, choices, shelved: question.choices };
  }
  return { ...rest, kind, choices: shelved ?? question.choices };
}

function copyQuestion(draft: Draft, from: number): Draft {
  const index = draft.questions.findIndex((question) => question.key === from);
  const original = draft.questions[index];
  if (!original || draft.questions.length >= QUESTIONS_MAX) return draft;
  let key = draft.nextKey;
  const { shelved: _, ...rest } = original;
  const copy: DraftQuestion = {
    ...rest,
    key: key++,
    choices: original.choices.map((choice) => ({ ...choice, key: key++ })),
  };
  const questions = [...draft.questions.slice(0, index + 1), copy, ...draft.questions.slice(index + 1)];
  return { ...draft, questions, nextKey: key };
}

/** The list with one element a place up or down; the same list when it is at the end already. */
function moved<T extends { key: number }>(list: T[], key: number, by: -1 | 1): T[] {
  const from = list.findIndex((item) => item.key === key);
  const item = list[from];
  const other = list[from + by];
  if (!item || !other) return list;
  const next = list.slice();
  next[from] = other;
  next[from + by] = item;
  return next;
}
