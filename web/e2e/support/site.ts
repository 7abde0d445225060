// Separate processes as an operator runs them: an API, a game server, and a gateway that has the pages by itself, as a cache in
// front of the API does. The API may be taken away.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type Server as HttpServer, type ServerResponse, createServer, request } from 'node:http';
import { type Socket, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';

const HOST = 'quiz.school.test';
const START_TIMEOUT_MS = 30_000;
const ROOT = resolve(import.meta.dirname, '../../..');
const DIST = join(ROOT, 'web/dist');
const PAGES: Record<string, string> = { '/': 'student.html', '/host': 'host.html', '/teach': 'teacher.html', '/report': 'report.html', '/screen': 'screen.html' };
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

export class Site {
  private readonly folder = mkdtempSync(join(tmpdir(), 'homeroom-site-'));
  private readonly children = new Map<string, ChildProcess>();
  private log = '';
  private gateway: HttpServer | undefined;
  private api = { public: 0, internal: 0 };
  private game = 0;
  port = 0;

  static async start(): Promise<Site> {
    const site = new Site();
    try {
      for (const secret of ['service', 'resume']) writeFileSync(join(site.folder, secret), `${secret}: a secret of 32 bytes or more`);
      site.gateway = createServer((ask, answer) => site.serve(ask, answer)).on('upgrade', (ask, socket, head) => site.tunnel(ask, socket as Socket, head as Buffer));
      site.gateway.listen(0, '127.0.0.1');
      await once(site.gateway, 'listening');
      const address = site.gateway.address();
      if (address === null || typeof address === 'string') throw new Error('no port');
      site.port = address.port;
      await site.startApi();
    } catch (error) {
      await site.stop();
      throw error;
    }
    return site;
  }

  get url(): string {
    return `http://${HOST}:${this.port}`;
  }

  get loopback(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Starts the API, in the place of the one before if there was one. */
  async startApi(): Promise<void> {
    const { internal } = this.api;
    const listening = await this.run('api', [
      'serve', '--listen=127.0.0.1:0', `--internal-listen=127.0.0.1:${internal}`, '--database=sqlite:api.db', '--keys-file=keys.json',
      '--jwks-out=jwks.json', '--service-token-file=service', `--public-url=${this.url}`,
    ]);
    this.api = { public: portOf(listening['bound']), internal: portOf(listening['internal']) };
  }

  /** Starts a game server that has never heard of the API. */
  async startGame(): Promise<void> {
    const listening = await this.run('game-server', [
      '--listen=127.0.0.1:0', `--api-internal=http://127.0.0.1:${this.api.internal}`, '--jwks-file=jwks.json', '--service-token-file=service',
      '--resume-secret-file=resume', `--allow-origin=${this.url}`,
    ]);
    this.game = portOf(listening['bound']);
  }

  /** SIGKILL. */
  async killApi(): Promise<void> {
    await this.kill('api');
    this.api.public = 0;
  }

  async stop(): Promise<void> {
    for (const name of this.children.keys()) await this.kill(name);
    this.gateway?.closeAllConnections();
    this.gateway?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async kill(name: string): Promise<void> {
    const child = this.children.get(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Starts a process and waits for what it says when it listens. */
  private async run(name: string, flags: string[]): Promise<Record<string, string>> {
    const binary = join(process.env.HOMEROOM_BIN ? resolve(process.env.HOMEROOM_BIN, '..') : join(ROOT, 'target/debug'), name);
    if (!existsSync(binary)) throw new Error(`${binary} is missing: build it`);
    const child = spawn(binary, [...flags, '--log-format=json'], { cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'] });
    this.children.set(name, child);
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
      this.log += chunk;
    });
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      for (const line of said.split('\n').slice(0, -1)) {
        const { fields } = JSON.parse(line) as { fields: Record<string, string> };
        if (fields['message'] === 'listening') return fields;
      }
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${name} does not come up:\n${this.log}`);
      await new Promise((next) => setTimeout(next, 50));
    }
  }

  private portFor(path: string): number {
    return path.startsWith('/game/') ? this.game : this.api.public;
  }

  private serve(ask: IncomingMessage, answer: ServerResponse): void {
    const path = new URL(ask.url ?? '/', this.url).pathname;
    if (!/^\/(game|store)\//.test(path)) return this.page(path, answer);
    const { method, headers } = ask;
    const onward = request({ host: '127.0.0.1', port: this.portFor(path), path: ask.url, method, headers }, (from) => {
      answer.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(answer);
    });
    onward.on('error', () => {
      if (!answer.headersSent) answer.writeHead(502);
      answer.end();
    });
    ask.pipe(onward);
  }

  private page(path: string, answer: ServerResponse): void {
    const file = join(DIST, PAGES[path] ?? path);
    if (!file.startsWith(DIST) || !existsSync(file)) {
      answer.writeHead(404).end();
      return;
    }
    const policies = JSON.parse(readFileSync(join(DIST, 'headers.json'), 'utf8')) as Record<string, string>;
    const policy = policies[PAGES[path] ?? ''];
    answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', ...(policy && { 'content-security-policy': policy }) });
    answer.end(readFileSync(file));
  }

  private tunnel(ask: IncomingMessage, client: Socket, head: Buffer): void {
    const server = connect(this.game, '127.0.0.1', () => {
      const lines = [`${ask.method} ${ask.url} HTTP/1.1`];
      for (let i = 0; i < ask.rawHeaders.length; i += 2) lines.push(`${ask.rawHeaders[i]}: ${ask.rawHeaders[i + 1]}`);
      server.write(`${lines.join('\r\n')}\r\n\r\n`);
      server.write(head);
      server.pipe(client).pipe(server);
    });
    server.on('error', () => client.destroy());
    client.on('error', () => server.destroy());
  }
}

function portOf(address: string | undefined): number {
  return Number((address ?? '').replace(/^.*:/, ''));
}
