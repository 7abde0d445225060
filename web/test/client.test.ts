import assert from "node:assert/strict";
import { test } from "node:test";
import { afterClose, backoffMs, createClient, type Status } from "../src/shared/client";
import * as protocol from "../src/shared/proto/protocol";
import { FakeBrowser, fixture } from "./support";

function setUp(options: { first?: object | null; whole?: boolean } = {}) {
  const browser = new FakeBrowser();
  const seen = { statuses: [] as Status[], frames: [] as string[], closed: [] as string[] };
  const page = { first: options.first === undefined ? { t: "join" } : options.first, whole: options.whole ?? true };
  const client = createClient(
    "ws://x/game/watch?g=K7Q2MX",
    {
      first: () => page.first,
      frame: (frame) => {
        seen.frames.push(frame.t);
        return page.whole;
      },
      status: (status) => seen.statuses.push(status),
      closed: (what, code) => seen.closed.push(`${what} ${code}`),
      quietMs: () => 5_000,
    },
    browser,
  );
  return { browser, client, seen, page };
}

/** A client that has been let in. */
function letIn() {
  const all = setUp();
  all.client.start();
  all.browser.last.accept();
  all.browser.last.deliver(fixture("player_frame.welcome"));
  all.client.healthy();
  return all;
}

test("every close code of the protocol has its answer", () => {
  const stop = ["CLOSE_OVER", "CLOSE_BAD_FIRST_FRAME", "CLOSE_KICKED", "CLOSE_NO_SUCH_GAME", "CLOSE_REPLACED"];
  const retry = ["CLOSE_MOVED", "CLOSE_SLOW", "CLOSE_TOO_MANY"];
  const codes = Object.entries(protocol).filter(([name]) => name.startsWith("CLOSE_")) as [string, number][];
  assert.equal(codes.length, stop.length + retry.length + 1, "a new close code needs a decision");
  for (const [name, code] of codes) {
    const expected = stop.includes(name) ? "stop" : retry.includes(name) ? "retry" : "rejoin";
    assert.equal(afterClose(code), expected, name);
  }
  assert.equal(afterClose(1006), "retry");
  assert.equal(afterClose(1001), "retry");
});

test("backoff stays within 0.2 and 5 seconds and uses all of it", () => {
  for (let failures = 0; failures < 40; failures++) {
    assert.equal(backoffMs(failures, 0), 200);
    assert.ok(backoffMs(failures, 0.999) <= 5_000);
  }
  assert.ok(backoffMs(0, 0.999) < 500, "the first try comes soon");
  assert.ok(backoffMs(10, 0.999) > 4_900);
});

test("the first frame goes out when the socket opens", () => {
  const { browser, client, seen } = setUp();
  client.start();
  client.start();
  assert.equal(browser.sockets.length, 1);
  assert.deepEqual(browser.last.types(), []);
  browser.last.accept();
  assert.deepEqual(browser.last.types(), ["join"]);
  browser.last.deliver(fixture("player_frame.welcome"));
  assert.deepEqual(seen.statuses, ["connecting", "open"]);
});

test("a socket opened early waits for the name, and may be closed meanwhile without harm", () => {
  const { browser, client, seen, page } = setUp({ first: null });
  client.start();
  browser.last.accept();
  assert.equal(client.send({ t: "join" }), false, "nothing goes before the first frame");
  browser.last.hangUp(protocol.CLOSE_BAD_FIRST_FRAME);
  assert.deepEqual(seen.closed, []);
  browser.pass(60_000);
  assert.equal(browser.sockets.length, 1, "nobody wants a socket yet");
  page.first = { t: "join" };
  client.start();
  browser.last.accept();
  assert.deepEqual(browser.last.types(), ["join"]);
});

test("a lost socket comes back, for as long as it takes", () => {
  const { browser, seen } = letIn();
  browser.last.hangUp(1006);
  for (let attempt = 2; attempt < 30; attempt++) {
    browser.pass(5_000);
    assert.ok(browser.sockets.length >= attempt);
    browser.last.hangUp(1006);
  }
  browser.pass(5_000);
  browser.last.accept();
  assert.deepEqual(browser.last.types(), ["join"], "the first frame is sent on every socket");
  browser.last.deliver(fixture("player_frame.sync"));
  assert.equal(seen.statuses[seen.statuses.length - 1], "open");
});

test("a moved game is followed after the delay it asked for", () => {
  const { browser } = letIn();
  browser.last.deliver(fixture("player_frame.bye-moved"));
  browser.last.hangUp(protocol.CLOSE_MOVED);
  browser.pass(349);
  assert.equal(browser.sockets.length, 1);
  browser.pass(1);
  assert.equal(browser.sockets.length, 2);
});

test("too many messages are answered with patience", () => {
  const { browser } = letIn();
  browser.last.hangUp(protocol.CLOSE_TOO_MANY);
  browser.pass(1_000);
  assert.equal(browser.sockets.length, 1);
  browser.pass(1_000);
  assert.equal(browser.sockets.length, 2);
});

test("after stop and rejoin nothing is retried", () => {
  for (const [code, expected] of [
    [protocol.CLOSE_KICKED, "stop 4403"],
    [protocol.CLOSE_REPLACED, "stop 4409"],
    [protocol.CLOSE_TOKEN, "rejoin 4401"],
    [protocol.CLOSE_OVER, "stop 1000"],
  ] as const) {
    const { browser, seen, client } = letIn();
    browser.last.hangUp(code);
    client.probe();
    browser.pass(60_000);
    assert.equal(browser.sockets.length, 1);
    assert.deepEqual(seen.closed, [expected]);
  }
});

test("silence is asked about, and a dead line is opened anew after two seconds", () => {
  const { browser, seen } = letIn();
  browser.pass(5_000);
  assert.deepEqual(browser.last.types(), ["join", "ping"]);
  browser.last.deliver(fixture("player_frame.pong"));
  browser.pass(5_000);
  assert.deepEqual(browser.last.types(), ["join", "ping", "ping"]);
  browser.pass(1_999);
  assert.equal(browser.sockets.length, 1);
  browser.pass(1);
  assert.equal(browser.sockets.length, 2);
  assert.ok(browser.sockets[0]?.closed);
  assert.equal(seen.statuses[seen.statuses.length - 1], "lost");
});

test("a page that wakes up pings at once, or connects at once when it was waiting", () => {
  const { browser, client } = letIn();
  client.probe();
  assert.deepEqual(browser.last.types(), ["join", "ping"]);
  browser.last.hangUp(1006);
  client.probe();
  assert.equal(browser.sockets.length, 2);
});

test("repeating an unanswered frame does not put the deadline off", () => {
  const { browser, client } = letIn();
  client.send({ t: "answer" }, true);
  browser.pass(1_500);
  client.send({ t: "answer" }, true);
  browser.pass(500);
  assert.equal(browser.sockets.length, 2);
});

test("a lost message opens the socket anew", () => {
  const { browser, page } = letIn();
  page.whole = false;
  browser.last.deliver(fixture("player_frame.question-multiple"));
  assert.ok(browser.sockets[0]?.closed);
  browser.pass(500);
  assert.equal(browser.sockets.length, 2);
});

test("a handshake that hangs is given up", () => {
  const { browser, client } = setUp();
  client.start();
  browser.pass(10_000 + 500);
  assert.equal(browser.sockets.length, 2);
});

test("what is no frame is ignored", () => {
  const { browser, seen } = letIn();
  const before = seen.frames.length;
  for (const noise of ["", "{", "null", "[]", '"x"', '{"x":1}']) browser.last.deliver(noise);
  assert.equal(seen.frames.length, before);
  assert.equal(browser.sockets.length, 1);
});
