// What the editor view works with: the draft and its history, what is wrong with it, saving, and where the focus goes next. Pure
// rules are in `editor` and `validate`; this joins them to the page.

import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { Draft } from "./draft";
import type { Edit, EditorState } from "./editor";
import { initial, reduce } from "./editor";
import { focusAfter, headOf } from "./focus";
import { hold } from "./guard";
import type { Saving } from "./saving";
import { useSaving } from "./saving";
import type { Issue } from "./validate";
import { validate } from "./validate";
import { issueText } from "./words";

export interface Loaded {
  id: string | undefined;
  version: number;
  draft: Draft;
}

export interface EditorTools {
  state: EditorState;
  saving: Saving;
  issues: Issue[];
  /** The error to show at a field, when it is time to show one. */
  errorOf: (field: string) => string | undefined;
  touch: (field: string) => void;
  /** A save was tried, so that everything that is wrong may be listed. */
  tried: boolean;
  edit: (edit: Edit) => void;
  undo: () => void;
  redo: () => void;
  /** Saves unless something is wrong; then it goes to the first field. Tells whether the draft is stored. */
  save: () => Promise<boolean>;
  /** Number of the question that was deleted by the last edit. */
  removed: number | undefined;
  forgetRemoved: () => void;
}

export function useEditor(loaded: Loaded): EditorTools {
  const [state, dispatch] = useReducer(reduce, loaded.draft, initial);
  const { draft } = state;
  const issues = useMemo(() => validate(draft), [draft]);
  const touched = useTouched();
  const saving = useSaving(loaded, draft, (theirs) => dispatch({ do: "load", draft: theirs }));
  const [removed, setRemoved] = useState<number>();
  const focusNext = useFocusAfter(draft);
  useGuard(saving.dirty);

  const edit = (change: Edit) => {
    setRemoved(undefined);
    if (change.do === "remove") {
      const index = draft.questions.findIndex((question) => question.key === change.question);
      setRemoved(index + 1);
    }
    const next = focusAfter(draft, change);
    if (next !== undefined) focusNext(next);
    dispatch(change);
  };
  const save = async (): Promise<boolean> => {
    setRemoved(undefined);
    touched.all();
    const first = issues[0];
    if (first) focusField(first.field);
    return first === undefined && (await saving.save());
  };
  const errorOf = (field: string): string | undefined => {
    const found = issues.find((issue) => issue.field === field);
    // Too long is said while typing; missing is said once the field was left or a save was tried.
    return found && (touched.has(field) || found.code.endsWith("_long")) ? issueText(found) : undefined;
  };
  const step = (to: "undo" | "redo") => {
    // The note with the button goes away with the deletion it was about; the question takes the focus.
    const restored = removed === undefined ? undefined : state.past[state.past.length - 1]?.questions[removed - 1];
    if (to === "undo" && restored) focusNext(headOf(restored.key));
    setRemoved(undefined);
    dispatch({ do: to });
  };
  return {
    state,
    saving,
    issues,
    errorOf,
    touch: touched.add,
    tried: touched.tried,
    edit,
    undo: () => step("undo"),
    redo: () => step("redo"),
    save,
    removed,
    forgetRemoved: () => setRemoved(undefined),
  };
}

/** Holds the unsaved-changes guard as long as the editor is open. */
function useGuard(dirty: boolean): void {
  const latest = useRef(dirty);
  latest.current = dirty;
  useEffect(() => hold(() => latest.current), []);
}

/** Fields that were left once; after a save was tried, all of them. */
function useTouched() {
  const [fields, setFields] = useState<ReadonlySet<string>>(new Set());
  const [tried, setTried] = useState(false);
  const add = useCallback((field: string) => setFields((known) => new Set(known).add(field)), []);
  return { has: (field: string) => tried || fields.has(field), add, all: () => setTried(true), tried };
}

/** Moves the focus to an element that the next rendering brings. */
function useFocusAfter(draft: Draft): (id: string) => void {
  const wanted = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (wanted.current === undefined) return;
    focusField(wanted.current);
    wanted.current = undefined;
  }, [draft]);
  return useCallback((id: string) => {
    wanted.current = id;
  }, []);
}

/** Goes to a field, clear of the bar that stays on top. */
export function focusField(id: string): void {
  const element = document.getElementById(id);
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "center" });
}

/** Ctrl+S or Cmd+S saves the quiz, since people press it anyway. */
export function useSaveKey(save: () => void): void {
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
