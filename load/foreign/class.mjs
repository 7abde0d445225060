// A class of five and its host, played from docs/protocol.md alone, in another language than servers and harness and
// without any package. Prints what it counted as one line of JSON.
//
//     node load/foreign/class.mjs http://127.0.0.1:8080
//
// Owns its own reading of the protocol; comparing its counts is left to load/tests/foreign.rs.

import { randomBytes } from "node:crypto";
import { Socket } from "./socket.mjs";

const NAMES = ["Ada", "Bela", "Chloé", "Dörte", "Emre"];
const QUESTIONS = 3;
const CHOICES = 4;
const PASSWORD = "five students and a host";
/** A step of the game that takes longer has failed, in milliseconds. */
const STEP_MS_MAX = 15_000;
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
/** Codes drawn before giving up; of 729 million codes few are in use. */
const CODES_MAX = 10;

const correctChoice = (q) => q % CHOICES;
/** What student `i` answers to question `q`: some right, some wrong, and the last one leaves the second question out. */
const plannedChoice = (i, q) => (i === NAMES.length - 1 && q === 2 ? undefined : i % 2 === 0 ? correctChoice(q) : (q + i) % CHOICES);

const quiz = {
    title: "Foreign class",
    questions: Array.from({ length: QUESTIONS }, (_, k) => ({
        kind: "single",
        text: `Question ${k + 1} of a stranger?`,
        choices: Array.from({ length: CHOICES }, (_, c) => ({ text: `Choice ${c}`, correct: c === correctChoice(k + 1) })),
        time_ms: 20_000,
    })),
};

async function call(base, method, path, token, body, accepted = [200, 201]) {
    const headers = { "content-type": "application/json" };
    if (token) headers.authorization = `Bearer ${token}`;
    const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
    if (!accepted.includes(response.status)) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return { status: response.status, body: response.status === 409 ? undefined : await response.json() };
}

/** A client of the game: counts every frame by its type, and checks the sequence. */
class Client {
    constructor(socket) {
        this.socket = socket;
        this.frames = {};
        this.payloadBytes = 0;
        this.gaps = 0;
        this.duplicates = 0;
        this.seq = undefined;
        this.last = {};
        this.waiting = [];
        socket.onText = (text, bytes) => this.take(JSON.parse(text), bytes);
        socket.onClose = (code) => {
            this.closed = code;
            this.look();
        };
    }

    take(frame, bytes) {
        this.frames[frame.t] = (this.frames[frame.t] ?? 0) + 1;
        this.payloadBytes += bytes;
        this.last[frame.t] = frame;
        if (frame.state) {
            this.seq = frame.state.seq;
        } else if (frame.seq !== undefined && frame.t !== "pong") {
            if (frame.seq <= this.seq) this.duplicates += 1;
            else if (frame.seq > this.seq + 1) this.gaps += 1;
            this.seq = frame.seq;
        }
        this.onFrame?.(frame);
        this.look();
    }

    look() {
        this.waiting = this.waiting.filter(({ done, resolve }) => !done() || (resolve(), false));
    }

    /** Waits for a state, never for a time. */
    until(what, done) {
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => reject(new Error(`${what} did not happen within ${STEP_MS_MAX} ms`)), STEP_MS_MAX);
            this.waiting.push({ done, resolve: () => (clearTimeout(timer), resolve()) });
            this.look();
        });
    }

    say(frame) {
        this.socket.send(JSON.stringify(frame));
    }
}

async function open(base, code) {
    return new Client(await Socket.open(`${base}/game/watch?g=${code}`));
}

async function createGame(base, token, quizId) {
    for (let draw = 0; draw < CODES_MAX; draw += 1) {
        const code = Array.from(randomBytes(6), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
        const body = { quiz: { id: quizId }, key: `foreign-${code}`, settings: { scoring: "speed" } };
        const created = await call(base, "POST", `/game/games?g=${code}`, token, body, [200, 201, 409]);
        if (created.status !== 409) return { code, game: created.body.game };
    }
    throw new Error(`${CODES_MAX} codes in a row are in use`);
}

async function join(base, code, name) {
    const player = await open(base, code);
    player.name = name;
    player.acked = new Map();
    player.refused = 0;
    player.onFrame = (frame) => {
        if (frame.t === "ack" && frame.saved) player.acked.set(frame.q, player.sent.get(frame.q));
        if (frame.t === "error" && frame.q !== undefined) player.refused += 1;
    };
    player.sent = new Map();
    player.say({ t: "join", name });
    await player.until(`${name}'s welcome`, () => player.frames.welcome === 1);
    player.id = player.last.welcome.id;
    return player;
}

async function playQuestion(host, players, q) {
    await Promise.all(players.map((p) => p.until(`question ${q}`, () => p.last.question?.q === q)));
    players.forEach((player, i) => {
        const choice = plannedChoice(i, q);
        if (choice === undefined) return;
        player.sent.set(q, choice);
        player.say({ t: "answer", q, choice });
    });
    await Promise.all(players.map((p) => p.until(`acks of question ${q}`, () => p.acked.size === p.sent.size)));
    // Everybody present has answered in all questions but the second, and then it closes by itself.
    if (players.some((_, i) => plannedChoice(i, q) === undefined)) host.say({ t: "close", q });
    await Promise.all(players.map((p) => p.until(`result ${q}`, () => p.last.result?.q === q)));
    await host.until(`reveal ${q}`, () => host.last.reveal?.q === q);
    host.say({ t: "next", q });
}

async function play(base) {
    const email = `foreign-${randomBytes(8).toString("hex")}@example.org`;
    const session = (await call(base, "POST", "/store/auth/register", undefined, { email, password: PASSWORD, name: "Stranger" })).body;
    const token = session.access_token;
    const stored = (await call(base, "POST", "/store/quizzes", token, quiz)).body;
    const { code, game } = await createGame(base, token, stored.id);

    const host = await open(base, code);
    host.say({ t: "host", token });
    await host.until("the host's state", () => host.frames.sync === 1);
    const players = [];
    for (const name of NAMES) players.push(await join(base, code, name));
    host.say({ t: "start" });
    for (let q = 1; q <= QUESTIONS; q += 1) await playQuestion(host, players, q);
    await Promise.all([host, ...players].map((c) => c.until("the podium", () => c.frames.over === 1)));
    for (const player of players) player.say({ t: "ping" });
    await Promise.all(players.map((p) => p.until("the head", () => p.frames.pong === 1)));
    const behind = players.filter((p) => p.last.pong.seq !== p.seq).length;
    host.say({ t: "finish" });
    await Promise.all(players.map((p) => p.until("the end", () => p.closed !== undefined)));
    return { token, game, code, host, players, behind };
}

function sum(players, value) {
    return players.reduce((total, player) => total + value(player), 0);
}

function report({ token, game, code, host, players, behind }) {
    const frames = {};
    for (const player of players) {
        for (const [t, n] of Object.entries(player.frames)) frames[t] = (frames[t] ?? 0) + n;
    }
    return {
        token,
        game,
        code,
        answers: { sent: sum(players, (p) => p.sent.size), acked: sum(players, (p) => p.acked.size), refused: sum(players, (p) => p.refused) },
        sequence: { gaps: sum([host, ...players], (p) => p.gaps), duplicates: sum([host, ...players], (p) => p.duplicates), behind },
        frames,
        frames_total: sum(players, (p) => Object.values(p.frames).reduce((a, b) => a + b, 0)),
        host_frames: host.frames,
        payload_bytes: sum(players, (p) => p.payloadBytes),
        closed_as_ended: players.filter((p) => p.closed === 1000 && p.last.bye?.reason === "ended").length,
        players: players.map((p) => ({
            id: p.id,
            name: p.name,
            total: p.last.over.total,
            rank: p.last.over.rank,
            of: p.last.over.of,
            acked: Object.fromEntries(p.acked),
        })),
    };
}

const [base] = process.argv.slice(2);
if (!base?.startsWith("http://")) {
    console.error("class.mjs: give the server's address, for example http://127.0.0.1:8080");
    process.exitCode = 64;
} else {
    try {
        const played = await play(base.replace(/\/+$/, ""));
        console.log(JSON.stringify(report(played)));
        for (const client of [played.host, ...played.players]) client.socket.end();
    } catch (error) {
        console.error(`class.mjs: ${error.message}`);
        process.exit(1);
    }
}
