// The calls of the teacher's pages, one function each. Who is signed in and how a call is repeated after a refresh is the
// session's business; what a refusal means to the teacher is the view's.

import { request } from "../shared/http";
import type {
  GameSummary,
  GameTimeline,
  ImportResponse,
  Page,
  QuizDocument,
  QuizResponse,
  QuizSummary,
  ReportResponse,
  ShareResponse,
  SharedQuizResponse,
} from "../shared/proto/protocol";
import { authorized } from "./session";

/** Rows of a list asked for at a time: one screen of a laptop. */
export const PAGE_ROWS = 24;

function query(after: string | undefined): string {
  const params = new URLSearchParams({ limit: String(PAGE_ROWS) });
  if (after !== undefined) params.set("after", after);
  return params.toString();
}

/** Asks for a letter; the answer does not tell whether there is such an account. */
export function requestReset(email: string): Promise<void> {
  return request("/store/auth/reset-request", { method: "POST", body: { email }, auth: false });
}

export function resetPassword(token: string, password: string): Promise<void> {
  return request("/store/auth/reset", { method: "POST", body: { token, password }, auth: false });
}

/** Those whose titles hold every word of `search`; all when there is none. */
export function listQuizzes(after?: string, search = ""): Promise<Page<QuizSummary>> {
  const found = search === "" ? "" : `&${new URLSearchParams({ search })}`;
  return authorized(`/store/quizzes?${query(after)}${found}`);
}

export function readQuiz(id: string): Promise<QuizResponse> {
  return authorized(`/store/quizzes/${encodeURIComponent(id)}`);
}

export function createQuiz(quiz: QuizDocument): Promise<QuizResponse> {
  return authorized("/store/quizzes", { method: "POST", body: quiz });
}

/** Saves over `version`; refused with 412 when somebody saved in between. */
export function saveQuiz(id: string, version: number, quiz: QuizDocument): Promise<QuizResponse> {
  const headers = { "If-Match": `"${version}"` };
  return authorized(`/store/quizzes/${encodeURIComponent(id)}`, { method: "PUT", body: quiz, headers });
}

export function deleteQuiz(id: string): Promise<void> {
  return authorized(`/store/quizzes/${encodeURIComponent(id)}`, { method: "DELETE" });
}

const sharePath = (quiz: string) => `/store/quizzes/${encodeURIComponent(quiz)}/share`;

/** Under what a quiz is shared; refused with 404 when it is not. */
export function readShare(quiz: string): Promise<ShareResponse> {
  return authorized(sharePath(quiz));
}

export function shareQuiz(quiz: string): Promise<ShareResponse> {
  return authorized(sharePath(quiz), { method: "POST" });
}

export function unshareQuiz(quiz: string): Promise<void> {
  return authorized(sharePath(quiz), { method: "DELETE" });
}

export function readShared(share: string): Promise<SharedQuizResponse> {
  return authorized(`/store/shared/${encodeURIComponent(share)}`);
}

export function copyShared(share: string): Promise<QuizResponse> {
  return authorized(`/store/shared/${encodeURIComponent(share)}/copy`, { method: "POST" });
}

export function importFile(file: File): Promise<ImportResponse> {
  const filename = new URLSearchParams({ filename: file.name });
  return authorized(`/store/quizzes/import?${filename}`, {
    method: "POST",
    body: file,
    type: "application/octet-stream",
  });
}

export function listGames(after?: string): Promise<Page<GameSummary>> {
  return authorized(`/store/games?${query(after)}`);
}

export function deleteGame(id: string): Promise<void> {
  return authorized(`/store/games/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** What happened to a game; none for one that was played before that was kept. */
export async function readTimeline(id: string): Promise<GameTimeline | undefined> {
  const page = await authorized<Page<GameTimeline>>(`/store/timelines?${new URLSearchParams({ game: id })}`);
  return page.items[0];
}

export function readReport(id: string): Promise<ReportResponse> {
  return authorized(`/store/games/${encodeURIComponent(id)}/report`);
}
