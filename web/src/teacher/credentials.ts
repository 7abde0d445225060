// What can be wrong with a sign-in or sign-up, before the server is asked and after. The form shows it; nothing is sent from here.

import { teacher as w } from "@lang/teacher";
import { HttpError, messageOf } from "../shared/http";
import { NAME_CHARS_MAX, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN, charCount, trimSpace } from "./bounds";

export const FIELDS = ["name", "email", "password"] as const;
export type AuthField = (typeof FIELDS)[number];
export type AuthValues = Record<AuthField, string>;
/** One sentence per field; `form` for what belongs to none. */
export type AuthErrors = Partial<Record<AuthField | "form", string>>;

/** Signing in asks only for something: an old account may keep an old rule. */
export function checkAuth(values: AuthValues, signUp: boolean): AuthErrors {
  const errors: AuthErrors = {};
  const name = trimSpace(values.name);
  if (signUp && name === "") errors.name = w.auth.nameEmpty;
  else if (signUp && charCount(name) > NAME_CHARS_MAX) errors.name = w.auth.nameLong(NAME_CHARS_MAX);
  if (!/^[^\s@]+@[^\s@]+$/.test(trimSpace(values.email))) errors.email = w.auth.emailBad;
  const chars = charCount(values.password);
  if (chars === 0) errors.password = w.auth.passwordEmpty;
  else if (signUp && chars < PASSWORD_CHARS_MIN) errors.password = w.auth.passwordShort(PASSWORD_CHARS_MIN);
  else if (signUp && chars > PASSWORD_CHARS_MAX) errors.password = w.auth.passwordLong(PASSWORD_CHARS_MAX);
  return errors;
}

/** A refusal, at the field it is about where its code says so. */
export function refusedAuth(error: unknown): AuthErrors {
  if (!(error instanceof HttpError)) return { form: messageOf(error) };
  switch (error.problem.code) {
    case "email-taken":
      return { email: w.auth.emailTaken };
    case "bad-credentials":
      return { form: w.auth.wrong };
    case "bad-email":
      return { email: error.message };
    case "bad-password":
      return { password: error.message };
    case "bad-name":
      return { name: error.message };
    default:
      return { form: error.message };
  }
}
