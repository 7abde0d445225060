import assert from "node:assert/strict";
import { test } from "node:test";
import { canonical, codeInAddress, draw, drawCode, grouped, isCode } from "../src/shared/code";
import { CODE_ALPHABET } from "../src/shared/proto/protocol";
import { secondsLeft } from "../src/shared/ui/timebar";

test("what people type becomes the canonical form", () => {
  for (const typed of ["K7Q2MX", "k7q2mx", " k7q 2mx ", "K7Q-2MX", "k 7 q 2 m x"]) {
    assert.equal(canonical(typed), "K7Q2MX");
    assert.ok(isCode(canonical(typed)));
  }
  for (const typed of ["", "K7Q2M", "K7Q2MXX", "K7Q2M0", "K7Q2MU", "ｋ7q2mx", "K7Q2M\u0000"]) {
    assert.ok(!isCode(canonical(typed)), typed);
  }
  assert.equal(grouped("K7Q2MX"), "K7Q 2MX");
});

test("the address names a game or none", () => {
  assert.equal(codeInAddress("?g=k7q2mx"), "K7Q2MX");
  for (const search of ["", "?g=", "?g=zzz", "?x=K7Q2MX"]) assert.equal(codeInAddress(search), "");
});

test("drawn codes are codes, and every symbol comes up", () => {
  const seen = new Set<string>();
  for (let i = 0; i < 500; i++) {
    const code = drawCode();
    assert.ok(isCode(code), code);
    for (const symbol of code) seen.add(symbol);
  }
  assert.equal(seen.size, CODE_ALPHABET.length);
  assert.equal(draw(32, "ab").length, 32);
});

test("time left is whole seconds from relative milliseconds", () => {
  const question = { q: 1, text: "", choices: [], ms: 20_000 };
  assert.equal(secondsLeft(question, 1_000, 1_000), 20);
  assert.equal(secondsLeft(question, 1_000, 1_001), 20);
  assert.equal(secondsLeft(question, 1_000, 2_000), 19);
  assert.equal(secondsLeft({ ...question, left: 8_250 }, 0, 0), 9);
  assert.equal(secondsLeft(question, 0, 99_000), 0);
});
