// The editor of one quiz: loads it, keeps the draft, saves over the version it was read at, and never loses work silently: not by
// leaving, not by a conflict, not by a deleted question.

import { teacher as w } from "@lang/teacher";
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { QuestionKind } from "../shared/proto/protocol";
import { QUESTIONS_MAX } from "../shared/proto/protocol";
import { Field, Loading } from "../shared/ui/parts";
import { readQuiz } from "./api";
import type { Draft } from "./draft";
import { emptyDraft, toDraft } from "./draft";
import type { Edit } from "./editor";
import { initial, reduce } from "./editor";
import { ConflictNote, Issues, SaveBar, UndoToast } from "./editor-parts";
import { hold } from "./guard";
import { KINDS, QuestionEditor, trueFalseWords } from "./question";
import { href } from "./route";
import { useSaving } from "./saving";
import { Failure, Icon } from "./ui";
import { TITLE_FIELD, validate } from "./validate";
import { issueText } from "./words";

interface Loaded {
  id: string | undefined;
  version: number;
  draft: Draft;
}

/** `id` is none for a quiz that was never saved. */
export function EditorView({ id }: { id: string | undefined }) {
  const [loaded, setLoaded] = useState<Loaded>();
  const [failed, setFailed] = useState<unknown>();
  const load = useCallback(async () => {
    setFailed(undefined);
    if (id === undefined) return setLoaded({ id, version: 0, draft: emptyDraft() });
    try {
      const quiz = await readQuiz(id);
      setLoaded({ id, version: quiz.version, draft: toDraft(quiz.quiz) });
    } catch (error) {
      setFailed(error);
    }
  }, [id]);
  useEffect(() => void load(), [load]);

  if (failed !== undefined) {
    return (
      <>
        <h1>{w.titles.quiz}</h1>
        <Failure error={failed} retry={() => void load()} />
      </>
    );
  }
  return loaded ? <Editor {...loaded} /> : <Loading />;
}

function Editor(loaded: Loaded) {
  const [state, dispatch] = useReducer(reduce, loaded.draft, initial);
  const { draft } = state;
  const issues = useMemo(() => validate(draft), [draft]);
  const touched = useTouched();
  const saving = useSaving(loaded, draft, (theirs) => dispatch({ do: "load", draft: theirs }));
  const [removed, setRemoved] = useState<number>();

  const dirty = useRef(saving.dirty);
  dirty.current = saving.dirty;
  useEffect(() => hold(() => dirty.current), []);

  const focusNext = useFocusAfter(draft);
  const edit = useCallback(
    (change: Edit) => {
      setRemoved(undefined);
      if (change.do === "remove") {
        const index = draft.questions.findIndex((question) => question.key === change.question);
        setRemoved(index + 1);
        const near = draft.questions[index + 1] ?? draft.questions[index - 1];
        focusNext(near ? `q${near.key}-head` : "add-single");
      }
      dispatch(change);
    },
    [draft, focusNext],
  );
  const undo = () => {
    setRemoved(undefined);
    dispatch({ do: "undo" });
  };

  const save = () => {
    touched.all();
    const first = issues[0];
    if (first) return focusField(first.field);
    void saving.save();
  };
  useSaveKey(save);

  const errorOf = (field: string): string | undefined => {
    const found = issues.find((issue) => issue.field === field);
    // Too long is said while typing; missing is said once the field was left or a save was tried.
    return found && (touched.has(field) || found.code.endsWith("_long")) ? issueText(found) : undefined;
  };

  return (
    <div class="t-editor">
      <h1>{saving.stored ? w.titles.quiz : w.editor.fresh}</h1>
      <SaveBar
        saving={saving}
        onSave={save}
        canUndo={state.past.length > 0}
        canRedo={state.future.length > 0}
        onUndo={undo}
        onRedo={() => dispatch({ do: "redo" })}
      />
      {saving.conflict && <ConflictNote saving={saving} />}
      {saving.failed !== undefined && <Failure error={saving.failed} retry={save} />}
      {touched.tried && <Issues issues={issues} onGo={focusField} />}
      <div onFocusOut={() => touched.add(TITLE_FIELD)}>
        <Field
          id={TITLE_FIELD}
          label={w.editor.title}
          dir="auto"
          autocomplete="off"
          value={draft.title}
          error={errorOf(TITLE_FIELD)}
          onText={(text) => edit({ do: "title", text })}
        />
      </div>
      <ol class="plain t-questions">
        {draft.questions.map((question, index) => (
          <QuestionEditor
            key={question.key}
            question={question}
            number={index + 1}
            of={draft.questions.length}
            errorOf={errorOf}
            edit={edit}
            touch={touched.add}
          />
        ))}
      </ol>
      <AddQuestion
        count={draft.questions.length}
        onAdd={(kind) => {
          focusNext(`q${draft.nextKey}-text`);
          edit({ do: "add", kind, words: trueFalseWords() });
        }}
      />
      <p class="t-editor-end">
        <a href={href({ view: "library" })}>{w.editor.toLibrary}</a>
      </p>
      {removed !== undefined && <UndoToast number={removed} onUndo={undo} onClose={() => setRemoved(undefined)} />}
    </div>
  );
}

function AddQuestion({ count, onAdd }: { count: number; onAdd: (kind: QuestionKind) => void }) {
  const full = count >= QUESTIONS_MAX;
  return (
    <section class="t-add" aria-labelledby="add-title">
      <h2 id="add-title">{w.editor.addQuestion}</h2>
      <div class="row">
        {KINDS.map((kind) => (
          <button
            key={kind}
            id={`add-${kind}`}
            type="button"
            class="btn plain"
            disabled={full}
            onClick={() => onAdd(kind)}
          >
            <Icon name="add" />
            {w.editor.kinds[kind]}
          </button>
        ))}
      </div>
      <p class="hint">{w.editor.count(count, QUESTIONS_MAX)}</p>
    </section>
  );
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

function focusField(id: string) {
  const element = document.getElementById(id);
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "center" });
}

/** Ctrl+S or Cmd+S saves the quiz, since people press it anyway. */
function useSaveKey(save: () => void) {
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
