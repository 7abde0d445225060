// Files that the API makes for a teacher: fetched with the token, which no link could carry, and given to the browser to keep.

import { shell } from "@lang/shell";
import { accessToken, HttpError, OfflineError } from "./http";
import type { Problem } from "./proto/protocol";

/** Keeps the file that the API answers with, under the name that it says. Throws `HttpError` or `OfflineError`. */
export async function download(path: string): Promise<void> {
  const token = await accessToken();
  const headers: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
  let response: Response;
  let file: Blob;
  try {
    response = await fetch(path, { headers, credentials: "same-origin", cache: "no-store" });
    if (!response.ok) throw new HttpError(await problemOf(response));
    file = await response.blob();
  } catch (error) {
    throw error instanceof HttpError ? error : new OfflineError();
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = fileName(response.headers.get("Content-Disposition")) ?? "homeroom";
  document.body.append(link);
  link.click();
  link.remove();
  // Some browsers begin to read only after the click has been handled.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    return (await response.json()) as Problem;
  } catch {
    return { code: `http-${response.status}`, status: response.status, title: shell.unexpected, detail: shell.unexpected };
  }
}

/** The name in full of a `Content-Disposition` of ours. */
export function fileName(disposition: string | null): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "")?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
