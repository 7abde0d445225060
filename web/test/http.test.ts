import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { createGame } from "../src/shared/game";
import { accessToken, HttpError, OfflineError, request, requestFull, restoreSession, signedInUser, signIn, signOut } from "../src/shared/http";
import type { SessionResponse, User } from "../src/shared/proto/protocol";
import { fixture } from "./support";

interface Call {
  method: string;
  path: string;
  token: string | null;
  body: string;
}

type Reply = { status: number; body?: unknown; headers?: Record<string, string> } | "offline";

let calls: Call[] = [];
let answer: (call: Call) => Reply;

globalThis.fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  const call = {
    method: init?.method ?? "GET",
    path: String(input),
    token: headers.get("Authorization")?.replace("Bearer ", "") ?? null,
    body: typeof init?.body === "string" ? init.body : "",
  };
  calls.push(call);
  const reply = answer(call);
  if (reply === "offline") throw new TypeError("fetch failed");
  const text = reply.body === undefined ? null : typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
  return new Response(text, { status: reply.status, headers: reply.headers ?? {} });
};

const session = (token: string, seconds = 900): SessionResponse => ({
  access_token: token,
  expires_in_s: seconds,
  user: fixture<User>("http.user"),
});
const paths = () => calls.map(({ method, path }) => `${method} ${path}`);

beforeEach(async () => {
  answer = ({ path }) => ({ status: path.includes("refresh") ? 401 : 204 });
  await signOut();
  calls = [];
});

test("without a session the cookie is tried once, and the call goes out without a token", async () => {
  answer = ({ path }) => (path === "/store/auth/refresh" ? { status: 401, body: fixture("http.problem") } : { status: 200, body: { ok: 1 } });
  assert.deepEqual(await request("/store/plans"), { ok: 1 });
  assert.deepEqual(paths(), ["POST /store/auth/refresh", "GET /store/plans"]);
  assert.equal(calls[1]?.token, null);
  assert.equal(signedInUser(), null);
});

test("a session is restored from the cookie, once for many callers", async () => {
  answer = ({ path }) => ({ status: 200, body: path === "/store/auth/refresh" ? session("one") : {} });
  const [user] = await Promise.all([restoreSession(), accessToken(), request("/store/quizzes"), request("/store/games")]);
  assert.equal(user?.email, "ada@school.example");
  assert.equal(paths().filter((path) => path.includes("refresh")).length, 1);
  assert.deepEqual(calls.slice(1).map(({ token }) => token), ["one", "one"]);
});

test("a token that is about to end is renewed before it is used", async () => {
  answer = ({ path }) => ({ status: 200, body: path.includes("login") ? session("short", 20) : path.includes("refresh") ? session("long") : {} });
  await signIn({ email: "a", password: "b" });
  await request("/store/quizzes");
  assert.equal(calls[calls.length - 1]?.token, "long");
});

test("a refused token is refreshed and the call made once more", async () => {
  answer = ({ path, token }) => {
    if (path.includes("login")) return { status: 200, body: session("old") };
    if (path.includes("refresh")) return { status: 200, body: session("new") };
    return token === "new" ? { status: 200, body: { ok: 1 } } : { status: 401, body: fixture("http.problem") };
  };
  await signIn({ email: "a", password: "b" });
  assert.deepEqual(await request("/store/quizzes"), { ok: 1 });
  assert.deepEqual(paths(), ["POST /store/auth/login", "GET /store/quizzes", "POST /store/auth/refresh", "GET /store/quizzes"]);
});

test("overload says nothing about the session", async () => {
  answer = ({ path }) => (path.includes("refresh") ? { status: 503, body: {}, headers: { "Retry-After": "2" } } : { status: 200, body: {} });
  await assert.rejects(restoreSession(), (error: HttpError) => error.problem.status === 503 && error.retryAfterMs === 2000);
});

test("problems, foreign pages and silence become errors with a sentence", async () => {
  answer = ({ path }) => (path.includes("refresh") ? { status: 401 } : { status: 404, body: fixture("http.problem") });
  await assert.rejects(request("/store/quizzes/x"), (error: HttpError) => error.problem.code === "no-such-quiz" && /library/.test(error.message));
  answer = ({ path }) => (path.includes("refresh") ? { status: 401 } : { status: 502, body: "<html>Bad gateway</html>" });
  await assert.rejects(request("/store/quizzes"), (error: HttpError) => error.problem.code === "http-502" && error.message !== "");
  answer = () => "offline";
  await assert.rejects(request("/store/quizzes"), OfflineError);
});

test("headers of an answer are at hand, an empty body is undefined", async () => {
  answer = ({ path }) => (path.includes("refresh") ? { status: 401 } : { status: 204, headers: { ETag: '"3"' } });
  const { status, body, headers } = await requestFull("/store/quizzes/x", { method: "DELETE" });
  assert.deepEqual([status, body, headers.get("ETag")], [204, undefined, '"3"']);
});

test("a game's code is drawn again while it is in use, with one key throughout", async () => {
  let taken = 2;
  answer = ({ path }) => {
    if (path.includes("refresh")) return { status: 200, body: session("one") };
    return taken-- > 0 ? { status: 409, body: { code: "code-in-use" } } : { status: 201, body: fixture("http.game") };
  };
  const game = await createGame("q");
  assert.equal(game.players_max, 500);
  const creates = calls.filter(({ path }) => path.startsWith("/game/games?g="));
  assert.equal(creates.length, 3);
  assert.equal(new Set(creates.map(({ path }) => path)).size, 3, "another code each time");
  assert.equal(new Set(creates.map(({ body }) => body)).size, 1);
  assert.deepEqual(Object.keys(JSON.parse(creates[0]?.body ?? "")), ["quiz", "key", "settings"]);
});

test("a create without an answer is repeated under the same code", async () => {
  let lost = 1;
  answer = ({ path }) => {
    if (path.includes("refresh")) return { status: 200, body: session("one") };
    return lost-- > 0 ? "offline" : { status: 200, body: fixture("http.game") };
  };
  await createGame("q", { scoring: "accuracy" });
  const creates = calls.filter(({ path }) => path.startsWith("/game/games?g="));
  assert.equal(creates.length, 2);
  assert.deepEqual(creates[0], creates[1]);
});

test("a plan that does not allow the game is told as it is", async () => {
  answer = ({ path }) => (path.includes("refresh") ? { status: 200, body: session("one") } : { status: 403, body: { code: "plan-limit", detail: "No." } });
  await assert.rejects(createGame("q"), (error: HttpError) => error.problem.code === "plan-limit" && error.message === "No.");
  assert.equal(calls.filter(({ path }) => path.startsWith("/game/games")).length, 1);
});
