// Where the focus belongs after an edit that adds, moves or takes away what had it. An element that is moved or removed loses the
// focus, and a keyboard user would start again at the top of the page.

import type { Draft } from "./draft";
import type { Edit } from "./editor";
import { choiceField, textField } from "./validate";

export const ADD_BUTTON = "add-single";

export function headOf(question: number): string {
  return `q${question}-head`;
}
export function moveButton(question: number, by: -1 | 1): string {
  return `q${question}-${by < 0 ? "up" : "down"}`;
}

/** Id of the element to focus once `edit` has been made to `draft`; none when the focus stays where it is. */
export function focusAfter(draft: Draft, edit: Edit): string | undefined {
  switch (edit.do) {
    case "add":
      return textField(draft.nextKey);
    case "copy":
      return headOf(draft.nextKey);
    case "move":
      return moveButton(edit.question, edit.by);
    case "remove": {
      const near = neighbour(draft.questions, edit.question);
      return near ? headOf(near.key) : ADD_BUTTON;
    }
    case "addChoice":
      return choiceField(edit.question, draft.nextKey);
    case "removeChoice": {
      const question = draft.questions.find((one) => one.key === edit.question);
      const near = neighbour(question?.choices ?? [], edit.choice);
      return near && choiceField(edit.question, near.key);
    }
    case "title":
    case "text":
    case "time":
    case "kind":
    case "choiceText":
    case "correct":
      return undefined;
  }
}

function neighbour<T extends { key: number }>(list: T[], key: number): T | undefined {
  const index = list.findIndex((item) => item.key === key);
  return list[index + 1] ?? list[index - 1];
}
