// What a teacher's page holds so that a class can start while the API is away.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { createGame } from "../src/shared/game";
import { accessToken, HttpError, OfflineError, renewEarly, restoreSession, signIn, signOut } from "../src/shared/http";
import type { User } from "../src/shared/proto/protocol";
import { readStore, removeStore } from "../src/shared/storage";
import { dropQuiz, heldQuiz, holdNewest, holdQuiz } from "../src/teacher/holding";
import { fixture } from "./support";

interface Call {
  path: string;
  token: string | null;
  body: { quiz?: { id?: string; signed?: string }; key?: string };
}

let calls: Call[] = [];
/** The game server's answer to a create; the API's is below. */
let created: (call: Call) => Response;
let away = false;
let signed = 0;

const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });
const session = (token: string, id = "t1") => ({ access_token: token, expires_in_s: 900, user: { ...fixture<User>("http.user"), id } });
let teacher = "t1";

globalThis.fetch = async (input, init) => {
  const path = String(input);
  const token = new Headers(init?.headers).get("Authorization")?.replace("Bearer ", "") ?? null;
  const call: Call = { path, token, body: typeof init?.body === "string" ? JSON.parse(init.body) : {} };
  calls.push(call);
  if (path.startsWith("/game/")) return created(call);
  if (away) throw new TypeError("fetch failed");
  if (path.includes("/auth/logout")) return new Response(null, { status: 204 });
  if (path.includes("/auth/")) return json(200, session(`token-${calls.length}`, teacher));
  return json(200, { signed: `document-${++signed}`, expires_in_s: 43_200 });
};

const apiAway = () => json(503, { code: "api-unavailable", status: 503, title: "T", detail: "D." });
/** As a game server does while it cannot reach the API. */
const byDocument = ({ body }: Call) => (body.quiz?.signed === undefined ? apiAway() : json(201, fixture("http.game")));
const asked = (path: string) => calls.filter((call) => call.path.startsWith(path));

let now = 0;
mock.method(performance, "now", () => now);

beforeEach(async () => {
  away = false;
  teacher = "t1";
  await signOut();
  removeStore("session", "homeroom.token");
  await signIn({ email: "a", password: "b" });
  for (const id of ["q", "r", "s"]) dropQuiz(id);
  calls = [];
});

test("a game starts by the document that the page holds, under the same key, and the host's page gets the token", async () => {
  await holdQuiz("q");
  const held = heldQuiz("q");
  created = byDocument;
  away = true;
  calls = [];
  assert.deepEqual(await createGame("q", { scoring: "accuracy" }, () => heldQuiz("q")), fixture("http.game"));
  const [first, second, ...more] = asked("/game/games");
  assert.equal(more.length, 0);
  assert.deepEqual([first?.body.quiz, second?.body.quiz], [{ id: "q" }, { signed: held }]);
  assert.equal(first?.body.key, second?.body.key);
  assert.equal(readStore("session", "homeroom.token"), second?.token);
});

test("while the API answers nothing is sent but the quiz's id, and no token is left anywhere", async () => {
  await holdQuiz("q");
  created = () => json(201, fixture("http.game"));
  await createGame("q", { scoring: "speed" }, () => heldQuiz("q"));
  assert.deepEqual(asked("/game/games").map(({ body }) => body.quiz), [{ id: "q" }]);
  assert.equal(readStore("session", "homeroom.token"), null);
});

test("without a document, and after any other refusal, the teacher is told what the server said", async () => {
  const code = (wanted: string) => (error: unknown) => error instanceof HttpError && error.problem.code === wanted;
  created = apiAway;
  await assert.rejects(createGame("q", { scoring: "speed" }, () => heldQuiz("q")), code("api-unavailable"));
  await holdQuiz("q");
  created = () => json(403, { code: "plan-limit", status: 403, title: "T", detail: "D." });
  await assert.rejects(createGame("q", { scoring: "speed" }, () => heldQuiz("q")), code("plan-limit"));
  assert.equal(asked("/game/games").length, 2);
  assert.equal(readStore("session", "homeroom.token"), null);
});

test("a document is held for its own time and its own teacher", async () => {
  await holdQuiz("q");
  assert.ok(heldQuiz("q"));
  now += 43_199_999;
  assert.ok(heldQuiz("q"));
  now += 1;
  assert.equal(heldQuiz("q"), undefined);
  await signIn({ email: "a", password: "b" });
  await holdQuiz("q");
  teacher = "t2";
  await signOut();
  await signIn({ email: "c", password: "d" });
  assert.equal(heldQuiz("q"), undefined);
});

test("of a library the newest are held, each once, again when it changed, and none is lost to an API that is away", async () => {
  const rows = ["q", "r", "s", "1", "2", "3", "4", "5"].map((id) => ({ id, updated_ms: 1 }));
  await holdNewest(rows);
  await holdNewest(rows);
  assert.deepEqual(asked("/store/quizzes/").map(({ path }) => path.split("/")[3]), ["q", "r", "s", "1", "2", "3"]);
  const before = heldQuiz("r");
  calls = [];
  await holdNewest([{ id: "q", updated_ms: 1 }, { id: "r", updated_ms: 2 }]);
  assert.deepEqual(asked("/store/quizzes/").map(({ path }) => path.split("/")[3]), ["r"]);
  assert.notEqual(heldQuiz("r"), before);
  away = true;
  const kept = heldQuiz("r");
  await holdNewest([{ id: "r", updated_ms: 3 }]);
  assert.equal(heldQuiz("r"), kept);
});

test("only so many documents are held, however many quizzes are opened", async () => {
  const ids = Array.from({ length: 30 }, (_, n) => `many-${n}`);
  for (const id of ids) await holdQuiz(id);
  assert.deepEqual(ids.filter((id) => heldQuiz(id) !== undefined), ids.slice(-12));
});

test("a token is renewed in the second half of its life, and one that cannot be renewed is used to its end", async () => {
  const first = await accessToken();
  now += 449_000;
  await renewEarly();
  assert.equal(await accessToken(), first);
  now += 2_000;
  await renewEarly();
  const second = await accessToken();
  assert.notEqual(second, first);
  away = true;
  now += 890_000;
  await renewEarly();
  assert.equal(await accessToken(), second, "within the margin, and the API is away");
  now += 11_000;
  await assert.rejects(accessToken(), OfflineError);
  away = false;
  assert.ok(await restoreSession());
});
