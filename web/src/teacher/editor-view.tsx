// The editor of one quiz: loads it, keeps the draft, saves over the version it was read at, and never loses work silently: not by
// leaving, not by a conflict, not by a deleted question.

import { teacher as w } from "@lang/teacher";
import { useCallback, useEffect, useState } from "preact/hooks";
import type { QuestionKind } from "../shared/proto/protocol";
import { QUESTIONS_MAX } from "../shared/proto/protocol";
import { Button, Field, Loading } from "../shared/ui/parts";
import { readQuiz } from "./api";
import { emptyDraft, toDraft } from "./draft";
import { ConflictNote, Issues, SaveBar, UndoToast } from "./editor-parts";
import { holdQuiz } from "./holding";
import { HostDialog } from "./host-dialog";
import { KINDS, QuestionEditor, trueFalseWords } from "./question";
import { href } from "./route";
import { Failure, Icon } from "./ui";
import type { EditorTools, Loaded } from "./use-editor";
import { focusField, useEditor, useSaveKey } from "./use-editor";
import { TITLE_FIELD } from "./validate";

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
      void holdQuiz(id, quiz.updated_ms);
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
  const tools = useEditor(loaded);
  const { state, saving, issues, errorOf, touch, edit } = tools;
  const { draft } = state;
  const save = () => void tools.save();
  useSaveKey(save);

  return (
    <div class="t-editor">
      <h1>{saving.id !== undefined ? w.titles.quiz : w.editor.fresh}</h1>
      <SaveBar
        saving={saving}
        onSave={save}
        canUndo={state.past.length > 0}
        canRedo={state.future.length > 0}
        onUndo={tools.undo}
        onRedo={tools.redo}
      />
      {saving.conflict && <ConflictNote saving={saving} />}
      {saving.failed !== undefined && <Failure error={saving.failed} retry={save} />}
      {tools.tried && <Issues issues={issues} onGo={focusField} />}
      <div onFocusOut={() => touch(TITLE_FIELD)}>
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
            touch={touch}
          />
        ))}
      </ol>
      <AddQuestion
        count={draft.questions.length}
        onAdd={(kind) => edit({ do: "add", kind, words: trueFalseWords() })}
      />
      <End tools={tools} />
      {tools.removed !== undefined && (
        <UndoToast number={tools.removed} onUndo={tools.undo} onClose={tools.forgetRemoved} />
      )}
    </div>
  );
}

/** What comes after editing: back to the library, or a game with what was just saved. */
function End({ tools }: { tools: EditorTools }) {
  const { saving, save, state } = tools;
  const [hosting, setHosting] = useState(false);
  const host = async () => setHosting(saving.dirty ? await save() : true);
  const empty = state.draft.questions.length === 0;
  return (
    <div class="row apart">
      <a href={href({ view: "library" })}>{w.editor.toLibrary}</a>
      <Button kind="plain" busy={saving.busy || empty} onClick={() => void host()}>
        <Icon name="play" />
        {w.library.host}
      </Button>
      {hosting && saving.id !== undefined && (
        <HostDialog quiz={{ id: saving.id, title: state.draft.title }} onClose={() => setHosting(false)} />
      )}
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
