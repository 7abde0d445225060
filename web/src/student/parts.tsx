// Frame and small parts of the student page.

import { brand } from "@lang/student";
import type { ComponentChildren } from "preact";

export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <path d="M5 15 16 5l11 10v13h-8v-8h-6v8H5z" fill="currentColor" />
        <circle cx="26" cy="7" r="4" fill="var(--mark)" />
      </svg>
      {brand}
    </span>
  );
}

/** One view. `view` names it; when the name changes the focus moves (see main.tsx). */
export function Screen(props: {
  view: string;
  title: ComponentChildren;
  tone: string;
  icon?: string;
  children: ComponentChildren;
}) {
  return (
    <main class={`screen ${props.tone}`} data-view={props.view}>
      <h1 tabIndex={-1}>
        {props.icon && <span aria-hidden="true">{props.icon} </span>}
        {props.title}
      </h1>
      {props.children}
    </main>
  );
}

/** A one-line form: the code, the name. `busy` ignores a second submit and keeps the focus where it is. */
export function LineForm(props: {
  label: string;
  hint?: string;
  error: string | undefined;
  action: string;
  busy?: boolean;
  code?: boolean;
  value?: string;
  onText?: (text: string) => void;
  onSubmit: (text: string) => void;
}) {
  const { error, busy, code } = props;
  return (
    <form
      class="line"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const input = event.currentTarget.elements[0] as HTMLInputElement;
        if (!busy) props.onSubmit(input.value);
      }}
    >
      <label for="line">{props.label}</label>
      <input
        id="line"
        class={code ? "input code" : "input"}
        defaultValue={props.value}
        dir={code ? "ltr" : "auto"}
        autocomplete="off"
        autocapitalize={code ? "characters" : "words"}
        spellcheck={false}
        enterkeyhint="go"
        // Room for spaces and hyphens in a code, and for names whose characters are long.
        maxLength={code ? 16 : 200}
        aria-invalid={!!error}
        aria-describedby="note"
        onInput={(event) => !busy && props.onText?.(event.currentTarget.value)}
      />
      <p id="note" class={error ? "error" : "hint"} role="status">
        {error || props.hint}
      </p>
      <button class="btn big" aria-disabled={busy}>
        {props.action}
      </button>
    </form>
  );
}
