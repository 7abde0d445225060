// The parts around the questions: the save bar, the list of what is wrong, the conflict, and the offer to undo a deletion.

import { shell } from "@lang/shell";
import { teacher as w } from "@lang/teacher";
import { Button } from "../shared/ui/parts";
import type { Saving } from "./saving";
import { IconButton } from "./ui";
import type { Issue } from "./validate";
import { issuePlace, issueText } from "./words";

interface SaveBarProps {
  saving: Saving;
  onSave: () => void;
  canUndo: boolean;
  canRedo: boolean;
  onUndo: () => void;
  onRedo: () => void;
}

export function SaveBar({ saving, onSave, canUndo, canRedo, onUndo, onRedo }: SaveBarProps) {
  const said = saving.busy
    ? w.editor.saving
    : saving.dirty
      ? w.editor.unsaved
      : saving.id !== undefined
        ? w.editor.saved
        : "";
  return (
    <div class="t-savebar">
      <div class="t-icons">
        <IconButton icon="undo" name={w.editor.undo} tip={w.editor.undo} off={!canUndo} onClick={onUndo} />
        <IconButton icon="redo" name={w.editor.redo} tip={w.editor.redo} off={!canRedo} onClick={onRedo} />
      </div>
      <p class={saving.dirty ? "t-state t-state-open" : "t-state"} role="status">
        {said}
      </p>
      <Button busy={saving.busy} onClick={onSave}>
        {w.editor.save}
      </Button>
    </div>
  );
}

/** Everything that keeps the quiz from being saved, each with a way to its field. */
export function Issues({ issues, onGo }: { issues: Issue[]; onGo: (field: string) => void }) {
  if (issues.length === 0) return null;
  return (
    <section class="note bad" role="alert">
      <h2>{w.editor.issueCount(issues.length)}</h2>
      <ul class="t-issues">
        {issues.map((issue) => (
          <li key={`${issue.field} ${issue.code}`}>
            <button type="button" class="t-issue" onClick={() => onGo(issue.field)}>
              {issuePlace(issue)}: {issueText(issue)}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function ConflictNote({ saving }: { saving: Saving }) {
  return (
    <section class="note t-conflict" role="alert">
      <h2>{w.editor.conflictTitle}</h2>
      <p>{w.editor.conflictText}</p>
      <div class="row">
        <Button busy={saving.busy} onClick={() => void saving.saveCopy()}>
          {w.editor.conflictCopy}
        </Button>
        <Button kind="plain" busy={saving.busy} onClick={() => void saving.overwrite()}>
          {w.editor.conflictMine}
        </Button>
        <Button kind="plain" busy={saving.busy} onClick={() => void saving.takeTheirs()}>
          {w.editor.conflictTheirs}
        </Button>
      </div>
    </section>
  );
}

interface ToastProps {
  number: number;
  onUndo: () => void;
  onClose: () => void;
}

/** Stays until it is used, closed, or another edit is made: a message that leaves by itself is missed by slow readers. */
export function UndoToast({ number, onUndo, onClose }: ToastProps) {
  return (
    <div class="t-toast" role="status">
      <p>{w.editor.removed(number)}</p>
      <Button kind="plain" onClick={onUndo}>
        {w.editor.undo}
      </Button>
      <IconButton icon="close" name={shell.close} tip={shell.close} onClick={onClose} />
    </div>
  );
}
