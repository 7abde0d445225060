// Small parts that teachers' pages share. Each is plain semantic HTML; the classes are in base.css and ui.css.

import { shell } from "@lang/shell";
import type { ButtonHTMLAttributes, ComponentChildren, InputHTMLAttributes } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** The product's sign: a house with a door, and the mark of who is home. */
export function Mark({ size = 32 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="var(--board-deep)" />
      <path d="M7 15 16 7l9 8v10h-6v-6h-6v6H7z" fill="var(--chalk)" />
      <circle cx="24" cy="8" r="3" fill="var(--mark)" />
    </svg>
  );
}

export function Wordmark({ href }: { href?: string }) {
  const inside = (
    <>
      <Mark /> {shell.brand}
    </>
  );
  return href === undefined ? (
    <span class="wordmark">{inside}</span>
  ) : (
    <a class="wordmark" href={href}>
      {inside}
    </a>
  );
}

/** Sets the document's title while it is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? shell.brand : `${title} · ${shell.brand}`;
  }, [title]);
}

/**
 * A teacher's page: skip link, board-coloured bar with the wordmark, and `main`. `nav` are links, `end` stands at the
 * end of the bar. `main` is focused when `title` changes, so that a screen reader starts with the new view.
 */
export function Shell(props: {
  title: string;
  home?: string;
  nav?: ComponentChildren;
  end?: ComponentChildren;
  narrow?: boolean;
  children: ComponentChildren;
}) {
  useTitle(props.title);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(props.title);
  useEffect(() => {
    if (shown.current !== props.title) main.current?.focus();
    shown.current = props.title;
  }, [props.title]);
  return (
    <>
      <a class="btn skip" href="#main" onClick={() => main.current?.focus()}>
        {shell.skip}
      </a>
      <header class="top">
        <div class="in">
          <Wordmark href={props.home ?? "/teach"} />
          {props.nav !== undefined && <nav>{props.nav}</nav>}
          {props.end !== undefined && <div class="end">{props.end}</div>}
        </div>
      </header>
      <main id="main" class={props.narrow ? "page narrow" : "page"} tabIndex={-1} ref={main}>
        {props.children}
      </main>
    </>
  );
}

type ButtonKind = "primary" | "plain" | "quiet" | "danger";

/** A button. `busy` keeps it focusable but without effect, so that a double click does nothing. */
export function Button(
  props: Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "onClick"> & {
    kind?: ButtonKind;
    big?: boolean;
    busy?: boolean;
    onClick?: () => void;
  },
) {
  const { kind = "primary", big, busy, onClick, type = "button", children, ...rest } = props;
  return (
    <button
      {...rest}
      type={busy ? "button" : type}
      class={`btn${kind === "primary" ? "" : ` ${kind}`}${big ? " big" : ""}`}
      aria-disabled={busy ? "true" : rest["aria-disabled"]}
      onClick={() => {
        if (!busy) onClick?.();
      }}
    >
      {children}
    </button>
  );
}

/** What a `Field` passes on to its input. */
interface FieldInput {
  name?: string;
  type?: "text" | "email" | "password" | "search" | "number" | "url";
  value?: string;
  autocomplete?: string;
  autocapitalize?: "off" | "none" | "on" | "sentences" | "words" | "characters";
  autofocus?: boolean;
  dir?: "auto" | "ltr" | "rtl";
  disabled?: boolean;
  enterkeyhint?: "enter" | "done" | "go" | "next" | "search" | "send";
  inputMode?: "text" | "numeric" | "decimal" | "email" | "search";
  maxLength?: number;
  minLength?: number;
  min?: number;
  max?: number;
  step?: number;
  placeholder?: string;
  readOnly?: boolean;
  required?: boolean;
  spellcheck?: boolean;
}

/** A labelled text input with its hint and error tied to it. */
export function Field(
  props: FieldInput & {
    id: string;
    label: string;
    hint?: string;
    error?: string | null | undefined;
    onText: (text: string) => void;
  },
) {
  const { id, label, hint, error, onText, ...rest } = props;
  const described = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      <input
        {...(rest as InputHTMLAttributes<HTMLInputElement>)}
        id={id}
        class="input"
        aria-invalid={error ? "true" : undefined}
        aria-describedby={described || undefined}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {error && (
        <span class="error" id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  );
}

/** Something said about the page. `bad` interrupts a screen reader, the others wait. */
export function Note({ kind = "warn", children }: { kind?: "warn" | "bad" | "good"; children: ComponentChildren }) {
  return (
    <div class={kind === "warn" ? "note" : `note ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <p class="loading" role="status">
      {shell.loading}
    </p>
  );
}
