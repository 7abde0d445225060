// One question of the editor: its kind, text, choices with their marks, and time. It holds no state; every change is an action.

import * as common from "@lang/common";
import { teacher as w } from "@lang/teacher";
import type { QuestionKind } from "../shared/proto/protocol";
import {
  CHOICES_MAX,
  CHOICES_MIN,
  CHOICE_CHARS_MAX,
  TEXT_CHARS_MAX,
  TIME_MS_MAX,
  TIME_MS_MIN,
} from "../shared/proto/protocol";
import { charCount } from "./bounds";
import type { DraftChoice, DraftQuestion } from "./draft";
import type { Edit } from "./editor";
import { headOf, moveButton } from "./focus";
import { FieldError, IconButton } from "./ui";
import { choiceField, choicesField, textField, timeField } from "./validate";
import { letter as letterOf } from "./words";

export const KINDS: readonly QuestionKind[] = ["single", "multiple", "true_false"];

/** The words of a new true/false question. */
export function trueFalseWords() {
  return { yes: common.true_, no: common.false_ };
}

export interface QuestionProps {
  question: DraftQuestion;
  number: number;
  of: number;
  /** The error to show at a field, when it is time to show one. */
  errorOf: (field: string) => string | undefined;
  edit: (edit: Edit) => void;
  touch: (field: string) => void;
}

export function QuestionEditor(props: QuestionProps) {
  const { question, number, errorOf, edit, touch } = props;
  const id = textField(question.key);
  const error = errorOf(id);
  return (
    <li class="t-question" id={`q${question.key}`}>
      <div class="t-question-head">
        <h2 tabIndex={-1} id={headOf(question.key)}>
          {w.editor.question(number)}
        </h2>
        <QuestionButtons {...props} />
      </div>
      <div class="field">
        <label for={id}>{w.editor.text}</label>
        <textarea
          id={id}
          class="input"
          dir="auto"
          rows={2}
          value={question.text}
          aria-invalid={error ? "true" : undefined}
          aria-describedby={`${id}-count${error ? ` ${id}-error` : ""}`}
          onInput={(event) => edit({ do: "text", question: question.key, text: event.currentTarget.value })}
          onBlur={() => touch(id)}
        />
        <Count id={`${id}-count`} chars={charCount(question.text)} limit={TEXT_CHARS_MAX} />
        <FieldError id={id} text={error} />
      </div>
      <div class="t-question-settings">
        <KindField question={question} edit={edit} />
        <TimeField {...props} />
      </div>
      <Choices {...props} />
    </li>
  );
}

/** Tells the length once it nears the bound; before that it would only be noise. */
function Count({ id, chars, limit }: { id: string; chars: number; limit: number }) {
  const near = chars > limit * 0.8;
  return (
    <p id={id} class="hint" hidden={!near}>
      {near ? w.editor.chars(chars, limit) : ""}
    </p>
  );
}

function QuestionButtons({ question, number, of, edit }: QuestionProps) {
  const at = { question: question.key };
  return (
    <div class="t-icons">
      <IconButton
        id={moveButton(question.key, -1)}
        icon="up"
        name={w.editor.upNamed(number)}
        tip={w.editor.up}
        off={number === 1}
        onClick={() => edit({ do: "move", ...at, by: -1 })}
      />
      <IconButton
        id={moveButton(question.key, 1)}
        icon="down"
        name={w.editor.downNamed(number)}
        tip={w.editor.down}
        off={number === of}
        onClick={() => edit({ do: "move", ...at, by: 1 })}
      />
      <IconButton
        icon="copy"
        name={w.editor.copyNamed(number)}
        tip={w.editor.copy}
        onClick={() => edit({ do: "copy", ...at })}
      />
      <IconButton
        icon="remove"
        name={w.editor.removeNamed(number)}
        tip={w.editor.remove}
        onClick={() => edit({ do: "remove", ...at })}
      />
    </div>
  );
}

function KindField({ question, edit }: Pick<QuestionProps, "question" | "edit">) {
  const id = `q${question.key}-kind`;
  return (
    <div class="field">
      <label for={id}>{w.editor.kind}</label>
      <select
        id={id}
        class="input"
        value={question.kind}
        onChange={(event) => {
          const kind = KINDS[event.currentTarget.selectedIndex];
          if (kind) edit({ do: "kind", question: question.key, kind, words: trueFalseWords() });
        }}
      >
        {KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {w.editor.kinds[kind]}
          </option>
        ))}
      </select>
    </div>
  );
}

function TimeField({ question, errorOf, edit, touch }: QuestionProps) {
  const id = timeField(question.key);
  const error = errorOf(id);
  return (
    <div class="field">
      <label for={id}>{w.editor.time}</label>
      <input
        id={id}
        class="input"
        inputMode="decimal"
        autocomplete="off"
        value={question.time}
        aria-invalid={error ? "true" : undefined}
        aria-describedby={`${id}-hint${error ? ` ${id}-error` : ""}`}
        onInput={(event) => edit({ do: "time", question: question.key, text: event.currentTarget.value })}
        onBlur={() => touch(id)}
      />
      <p id={`${id}-hint`} class="hint">
        {w.editor.timeHint(TIME_MS_MIN / 1000, TIME_MS_MAX / 1000)}
      </p>
      <FieldError id={id} text={error} />
    </div>
  );
}

function Choices(props: QuestionProps) {
  const { question, errorOf, edit } = props;
  const id = choicesField(question.key);
  const error = errorOf(id);
  const fixed = question.kind === "true_false";
  const full = question.choices.length >= CHOICES_MAX;
  return (
    <fieldset class="t-choices" id={id} tabIndex={-1} aria-describedby={`${id}-hint${error ? ` ${id}-error` : ""}`}>
      <legend>{w.editor.choices}</legend>
      <p id={`${id}-hint`} class="hint">
        {w.editor.marks[question.kind]}
      </p>
      <FieldError id={id} text={error} />
      <ol class="t-choice-list">
        {question.choices.map((choice, index) => (
          <ChoiceRow key={choice.key} {...props} choice={choice} index={index} />
        ))}
      </ol>
      {!fixed && (
        <button
          type="button"
          class="btn quiet"
          aria-disabled={full}
          onClick={() => edit({ do: "addChoice", question: question.key })}
        >
          {full ? w.editor.choicesFull(CHOICES_MAX) : w.editor.addChoice}
        </button>
      )}
    </fieldset>
  );
}

function ChoiceRow(props: QuestionProps & { choice: DraftChoice; index: number }) {
  const { question, choice, index, errorOf, edit, touch } = props;
  const id = choiceField(question.key, choice.key);
  const at = { question: question.key, choice: choice.key };
  const error = errorOf(id);
  const letter = letterOf(index);
  const few = question.choices.length <= CHOICES_MIN;
  return (
    <li class={choice.correct ? "t-choice t-choice-right" : "t-choice"}>
      <div class="t-choice-line">
        <label class="t-mark">
          <input
            type={question.kind === "true_false" ? "radio" : "checkbox"}
            name={`q${question.key}-correct`}
            checked={choice.correct}
            aria-label={w.editor.correctNamed(letter)}
            onChange={(event) => edit({ do: "correct", ...at, correct: event.currentTarget.checked })}
          />
          <span aria-hidden="true">{letter}</span>
        </label>
        <input
          id={id}
          class="input"
          dir="auto"
          autocomplete="off"
          aria-label={w.editor.choiceNamed(letter)}
          value={choice.text}
          aria-invalid={error ? "true" : undefined}
          aria-describedby={`${id}-count${error ? ` ${id}-error` : ""}`}
          onInput={(event) => edit({ do: "choiceText", ...at, text: event.currentTarget.value })}
          onBlur={() => touch(id)}
        />
        {question.kind !== "true_false" && (
          <IconButton
            icon="remove"
            name={w.editor.removeChoiceNamed(letter)}
            tip={w.editor.removeChoice}
            off={few}
            onClick={() => edit({ do: "removeChoice", ...at })}
          />
        )}
      </div>
      <Count id={`${id}-count`} chars={charCount(choice.text)} limit={CHOICE_CHARS_MAX} />
      <FieldError id={id} text={error} />
    </li>
  );
}
