// The small pure parts of the teacher's page: addresses, sign-in checks, copies, pages of a list.

import assert from "node:assert/strict";
import { test } from "node:test";

import { HttpError } from "../src/shared/http";
import { checkAuth, refusedAuth } from "../src/teacher/credentials";
import { copyOf } from "../src/teacher/copy";
import { joined } from "../src/teacher/paged";
import { href, nextAddress, parseRoute } from "../src/teacher/route";

const GOOD = { name: "Ada", email: "ada@school.org", password: "correct horse" };

test("a route survives the way into the address and back", () => {
  const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
  for (const route of [
    { view: "library" },
    { view: "quiz", id },
    { view: "quiz", id: undefined },
    { view: "import" },
    { view: "games" },
    { view: "shared", id },
    { view: "signin" },
    { view: "signup" },
    { view: "forgot" },
    { view: "reset", token: "0f4c" },
  ] as const) {
    assert.deepEqual(parseRoute(href(route)), route);
  }
});

test("an unknown or broken address is the library, or a quiz that the server will not find", () => {
  for (const hash of ["", "#", "#/", "#/nothing", "#/constructor"]) assert.deepEqual(parseRoute(hash), { view: "library" });
  assert.deepEqual(parseRoute("#/quiz/%E0%A4%A"), { view: "quiz", id: "%E0%A4%A" });
  assert.deepEqual(parseRoute("#/signin?next=%2Freport%3Fgame%3D1"), { view: "signin" });
});

test("after signing in only our own pages are opened", () => {
  const at = (next: string) => nextAddress(`#/signin?${new URLSearchParams({ next })}`);
  assert.equal(at("/report?game=3f25-04e0"), "/report?game=3f25-04e0");
  assert.equal(at("/host?g=ABC234"), "/host?g=ABC234");
  for (const next of ["https://evil.example/", "//evil.example/report?game=1", "/\\evil.example", "javascript:alert(1)", "/report?game=1#x", "/store/auth/logout"]) {
    assert.equal(at(next), undefined, next);
  }
  assert.equal(nextAddress("#/signin"), undefined);
});

test("a sign-up names every field that is wrong, a sign-in asks only for something", () => {
  assert.deepEqual(checkAuth(GOOD, true), {});
  assert.deepEqual(Object.keys(checkAuth({ name: " ", email: "ada", password: "" }, true)), ["name", "email", "password"]);
  assert.deepEqual(checkAuth({ ...GOOD, name: "", password: "old" }, false), {});
  assert.deepEqual(Object.keys(checkAuth({ ...GOOD, password: "1234567" }, true)), ["password"]);
  assert.deepEqual(checkAuth({ ...GOOD, password: "🔑".repeat(8) }, true), {});
  assert.deepEqual(Object.keys(checkAuth({ ...GOOD, password: "x".repeat(257) }, true)), ["password"]);
  assert.deepEqual(Object.keys(checkAuth({ ...GOOD, name: "x".repeat(81) }, true)), ["name"]);
});

test("a refusal stands at the field its code is about", () => {
  const refused = (code: string, status: number) =>
    Object.keys(refusedAuth(new HttpError({ code, status, title: "T", detail: "D." })));
  assert.deepEqual(refused("email-taken", 409), ["email"]);
  assert.deepEqual(refused("bad-email", 422), ["email"]);
  assert.deepEqual(refused("bad-password", 422), ["password"]);
  assert.deepEqual(refused("bad-name", 422), ["name"]);
  assert.deepEqual(refused("bad-credentials", 401), ["form"]);
  assert.deepEqual(refused("busy", 503), ["form"]);
  assert.deepEqual(Object.keys(refusedAuth(new TypeError("x"))), ["form"]);
});

test("a copy's title keeps within its bound and breaks no character", () => {
  const mark = (title: string) => `${title} (copy)`;
  assert.equal(copyOf({ title: "Maths", questions: [] }, mark).title, "Maths (copy)");
  const long = copyOf({ title: "😀".repeat(120), questions: [] }, mark).title;
  assert.equal([...long].length, 120);
  assert.ok(long.endsWith("😀 (copy)"));
});

test("a row that comes on two pages is shown once", () => {
  const rows = [{ id: "a" }, { id: "b" }];
  assert.deepEqual(joined(rows, [{ id: "b" }, { id: "c" }]).map((row) => row.id), ["a", "b", "c"]);
});
