// A forgotten password: asking for a link by mail, and choosing a new password by it. Both work without being signed in.

import { teacher as w } from "@lang/teacher";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button, Field, Note } from "../shared/ui/parts";
import { requestReset, resetPassword } from "./api";
import { PASSWORD_CHARS_MIN, trimSpace } from "./bounds";
import { checkAuth, refusedAuth } from "./credentials";
import type { AuthErrors } from "./credentials";
import { href } from "./route";

/** What was typed into the fields of a form. Some password managers fill in without an input event. */
function typed(form: HTMLFormElement | null): (name: string) => string {
  const data = new FormData(form ?? undefined);
  return (name) => String(data.get(name) ?? "");
}

/** Sends a form once, and keeps what was wrong with it. */
function useSending(send: (text: (name: string) => string) => Promise<AuthErrors | undefined>) {
  const [errors, setErrors] = useState<AuthErrors>({});
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setErrors({});
    try {
      const found = await send(typed(form.current));
      if (found) setErrors(found);
      else setDone(true);
    } catch (error) {
      setErrors(refusedAuth(error));
    }
    setBusy(false);
  };
  return { errors, busy, done, form, onSubmit: (event: Event) => void submit(event) };
}

/** The fields that are checked alone, the others being right. */
const RIGHT = { name: "-", email: "a@b.org", password: "-".repeat(PASSWORD_CHARS_MIN) };

interface CardProps {
  title: string;
  sending: ReturnType<typeof useSending>;
  /** Stands in the form's place when it was sent. */
  thanks: string;
  send: string;
  children: ComponentChildren;
}

function Card({ title, sending, thanks, send, children }: CardProps) {
  const { errors, busy, done, form, onSubmit } = sending;
  return (
    <section class="card stack">
      <h1>{title}</h1>
      {errors.form && <Note kind="bad">{errors.form}</Note>}
      {done ? (
        <Note kind="good">{thanks}</Note>
      ) : (
        <form ref={form} class="stack" onSubmit={onSubmit} noValidate>
          {children}
          <Button type="submit" big busy={busy}>
            {busy ? w.wait : send}
          </Button>
        </form>
      )}
      <p>
        <a href={href({ view: "signin" })}>{w.auth.signIn}</a>
      </p>
    </section>
  );
}

export function Forgot() {
  const sending = useSending(async (text) => {
    const email = trimSpace(text("email"));
    const found = checkAuth({ ...RIGHT, email }, true);
    if (found.email) return found;
    await requestReset(email);
    return undefined;
  });
  return (
    <Card title={w.titles.forgot} sending={sending} thanks={w.auth.letterSent} send={w.auth.sendLetter}>
      <p class="soft">{w.auth.forgotLead}</p>
      <Field
        id="forgot-email"
        name="email"
        type="email"
        label={w.auth.email}
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        required
        error={sending.errors.email}
        onText={() => {}}
      />
    </Card>
  );
}

export function NewPassword({ token }: { token: string }) {
  const sending = useSending(async (text) => {
    const password = text("password");
    const found = checkAuth({ ...RIGHT, password }, true);
    if (found.password) return found;
    await resetPassword(token, password);
    return undefined;
  });
  return (
    <Card title={w.titles.reset} sending={sending} thanks={w.auth.passwordSet} send={w.auth.setPassword}>
      <Field
        id="reset-password"
        name="password"
        type="password"
        label={w.auth.newPassword}
        hint={w.auth.passwordHint(PASSWORD_CHARS_MIN)}
        autocomplete="new-password"
        autocapitalize="none"
        spellcheck={false}
        required
        error={sending.errors.password}
        onText={() => {}}
      />
    </Card>
  );
}
