// A modal dialog. The native element is missing in Safari 14, so focus is held by hand.

import { shell } from "@lang/shell";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./parts";

const FOCUSABLE = "a[href],button:not([disabled]),input:not([disabled]),select:not([disabled]),textarea:not([disabled])";

/** Shows `children` over the page. Escape and a press outside call `onClose`; focus returns to where it was. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const first = box.current?.querySelector<HTMLElement>("[data-first]") ?? box.current?.querySelector<HTMLElement>(FOCUSABLE);
    first?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Escape") props.onClose();
    if (event.key === "Tab") holdFocus(event, box.current);
  };
  return (
    <div
      class="veil"
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) props.onClose();
      }}
      onKeyDown={onKeyDown}
    >
      <div class="dialog stack" role="dialog" aria-modal="true" aria-label={props.title} ref={box}>
        <h2>{props.title}</h2>
        {props.children}
      </div>
    </div>
  );
}

function holdFocus(event: KeyboardEvent, box: HTMLElement | null): void {
  const all = [...(box?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])];
  const first = all[0];
  const last = all[all.length - 1];
  const edge = event.shiftKey ? first : last;
  if (document.activeElement === edge) {
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  }
}

/** Asks before something that cannot be undone. The safe button has the focus. */
export function Confirm(props: {
  title: string;
  text?: ComponentChildren;
  action: string;
  danger?: boolean;
  busy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      {props.text !== undefined && <p class="text">{props.text}</p>}
      <div class="row">
        <Button kind="plain" data-first onClick={props.onClose}>
          {shell.cancel}
        </Button>
        <Button kind={props.danger ? "danger" : "primary"} busy={props.busy ?? false} onClick={props.onConfirm}>
          {props.action}
        </Button>
      </div>
    </Dialog>
  );
}
