// Parts of the teacher's views that the shared ones do not cover.

import { shell } from "@lang/shell";
import { teacher as w } from "@lang/teacher";
import { messageOf } from "../shared/http";
import { Button, Note } from "../shared/ui/parts";
import type { Paged } from "./paged";

/** The error of the field `id`, tied to it by `aria-describedby`. */
export function FieldError({ id, text }: { id: string; text: string | undefined }) {
  if (!text) return null;
  return (
    <p id={`${id}-error`} class="error">
      {text}
    </p>
  );
}

/** What went wrong, and a way to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <Note kind="bad">
      <p>{messageOf(error)}</p>
      {retry && (
        <Button kind="plain" onClick={retry}>
          {shell.tryAgain}
        </Button>
      )}
    </Note>
  );
}

/** "More" under a list that grows by pages. It stays where it is while loading, so that the focus does. */
export function MoreButton<T>({ list }: { list: Paged<T> }) {
  if (!list.more || list.items === undefined) return null;
  return (
    <p class="t-more">
      <Button kind="plain" busy={list.busy} onClick={list.load}>
        {list.busy ? shell.loading : w.more}
      </Button>
    </p>
  );
}

/** Says what was done, to the eye and to a screen reader. It is there before it speaks, or it would not be heard. */
export function Said({ text }: { text: string }) {
  return (
    <p class="t-said text" role="status" dir="auto">
      {text}
    </p>
  );
}

interface IconButtonProps {
  id?: string;
  icon: keyof typeof ICONS;
  /** What a screen reader says: the action and its object. */
  name: string;
  /** What the mouse says. */
  tip: string;
  /** Keeps its place and the focus, without effect. */
  off?: boolean;
  onClick: () => void;
}

export function IconButton({ id, icon, name, tip, off, onClick }: IconButtonProps) {
  return (
    <button
      id={id}
      type="button"
      class="t-icon"
      aria-label={name}
      title={tip}
      aria-disabled={off ? "true" : undefined}
      onClick={() => {
        if (!off) onClick();
      }}
    >
      <Icon name={icon} />
    </button>
  );
}

export function Icon({ name }: { name: keyof typeof ICONS }) {
  return (
    <svg class="t-svg" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      <path d={ICONS[name]} />
    </svg>
  );
}

/** Strokes on a 24 by 24 grid. */
const ICONS = {
  up: "M12 19V5M5 12l7-7 7 7",
  down: "M12 5v14M5 12l7 7 7-7",
  remove: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5",
  copy: "M9 9h10v11H9zM5 15V4h10",
  add: "M12 5v14M5 12h14",
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  redo: "m15 14 5-5-5-5M20 9H10a6 6 0 0 0 0 12h3",
  play: "M7 4.5v15l12-7.5z",
  edit: "M4 20h4L19 9l-4-4L4 16z",
  share: "M12 15V4M8 8l4-4 4 4M6 12H4v8h16v-8h-2",
  close: "M6 6l12 12M18 6 6 18",
  file: "M12 16V4M7 9l5-5 5 5M4 16v4h16v-4",
};
