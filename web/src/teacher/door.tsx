// Sign-in and sign-up. The fields carry the names password managers look for; a refusal stands at the field it is about.

import { teacher as w } from "@lang/teacher";
import { useRef, useState } from "preact/hooks";
import { Button, Field, Note } from "../shared/ui/parts";
import type { AuthErrors } from "./credentials";
import { FIELDS, checkAuth, refusedAuth } from "./credentials";
import { PASSWORD_CHARS_MIN, trimSpace } from "./bounds";
import { href } from "./route";
import { login, register } from "./session";

/** `lost`: a session ended under the teacher's hands, and the work behind this form is kept. */
export function Auth({ signUp, lost }: { signUp: boolean; lost: boolean }) {
  const [errors, setErrors] = useState<AuthErrors>({});
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  const show = (found: AuthErrors) => {
    setErrors(found);
    const first = FIELDS.find((field) => found[field]) ?? "password";
    form.current?.querySelector<HTMLElement>(`#auth-${first}`)?.focus();
  };

  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    // Read from the form and not from state: some password managers fill in without an input event.
    const data = new FormData(form.current ?? undefined);
    const text = (name: string) => String(data.get(name) ?? "");
    const values = { name: text("name"), email: text("email"), password: text("password") };
    const found = checkAuth(values, signUp);
    if (Object.keys(found).length > 0) return show(found);
    setBusy(true);
    setErrors({});
    const email = trimSpace(values.email);
    try {
      if (signUp) await register({ email, password: values.password, name: trimSpace(values.name) });
      else await login({ email, password: values.password });
    } catch (error) {
      setBusy(false);
      show(refusedAuth(error));
    }
  };

  return (
    <div class="t-auth">
      <section class="card stack">
        <h1>{signUp ? w.titles.signup : w.titles.signin}</h1>
        <p class="soft">{signUp ? w.auth.signUpLead : w.auth.signInLead}</p>
        {lost && <Note>{w.auth.lost}</Note>}
        {errors.form && <Note kind="bad">{errors.form}</Note>}
        <form ref={form} class="stack" onSubmit={(event) => void submit(event)} noValidate>
          <AuthFields signUp={signUp} errors={errors} onText={(field) => setErrors({ ...errors, [field]: undefined })} />
          <Button type="submit" big busy={busy}>
            {busy ? w.wait : signUp ? w.auth.signUp : w.auth.signIn}
          </Button>
        </form>
        {!signUp && (
          <p>
            <a href={href({ view: "forgot" })}>{w.auth.forgot}</a>
          </p>
        )}
        <p>
          {signUp ? w.auth.haveAccount : w.auth.noAccount}{" "}
          <a href={href({ view: signUp ? "signin" : "signup" }) + nextOf(location.hash)}>
            {signUp ? w.auth.signIn : w.auth.signUp}
          </a>
        </p>
      </section>
      <aside class="t-pitch">
        <h2>{w.auth.pitchTitle}</h2>
        <ul class="plain">
          {w.auth.pitch.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </aside>
    </div>
  );
}

/** The part of the hash that says where to go after signing in; it must survive the way to the other form. */
function nextOf(hash: string): string {
  const at = hash.indexOf("?");
  return at < 0 ? "" : hash.slice(at);
}

interface FieldsProps {
  signUp: boolean;
  errors: AuthErrors;
  onText: (field: "name" | "email" | "password") => void;
}

function AuthFields({ signUp, errors, onText }: FieldsProps) {
  const [shown, setShown] = useState(false);
  const passwordHint = signUp ? { hint: w.auth.passwordHint(PASSWORD_CHARS_MIN) } : {};
  return (
    <>
      {signUp && (
        <Field
          id="auth-name"
          name="name"
          label={w.auth.name}
          hint={w.auth.nameHint}
          autocomplete="name"
          dir="auto"
          required
          error={errors.name}
          onText={() => onText("name")}
        />
      )}
      <Field
        id="auth-email"
        name="email"
        type="email"
        label={w.auth.email}
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        required
        error={errors.email}
        onText={() => onText("email")}
      />
      <div class="t-password">
        <Field
          id="auth-password"
          name="password"
          type={shown ? "text" : "password"}
          label={w.auth.password}
          {...passwordHint}
          autocomplete={signUp ? "new-password" : "current-password"}
          autocapitalize="none"
          spellcheck={false}
          required
          error={errors.password}
          onText={() => onText("password")}
        />
        <button type="button" class="t-show" aria-controls="auth-password" onClick={() => setShown(!shown)}>
          {shown ? w.auth.hide : w.auth.show}
        </button>
      </div>
    </>
  );
}
