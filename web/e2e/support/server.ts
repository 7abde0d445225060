// The real product: one homeroom process on a free port with a data folder of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const HOST = 'quiz.school.test';
const START_TIMEOUT_MS = 30_000;

export class Server {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'homeroom-e2e-'));
  private child: ChildProcess | undefined;
  private log = '';

  private constructor(readonly port: number) {}

  static async start(): Promise<Server> {
    const server = new Server(await freePort());
    await server.boot();
    return server;
  }

  /** The address that browsers use: a host name that is not localhost, over plain HTTP. */
  get url(): string {
    return `http://${HOST}:${this.port}`;
  }

  /** The same server for clients that cannot be taught the host name. */
  get loopback(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Starts the process and waits until it answers. */
  async boot(): Promise<void> {
    const binary = process.env.HOMEROOM_BIN ?? resolve(import.meta.dirname, '../../../target/debug/homeroom');
    if (!existsSync(binary)) throw new Error(`${binary} is missing: build it, or set HOMEROOM_BIN`);
    const flags = ['--listen', `127.0.0.1:${this.port}`, '--data-dir', this.dataDir, '--public-url', this.url];
    const child = spawn(binary, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    child.stdout.on('data', (chunk) => (this.log += chunk));
    child.stderr.on('data', (chunk) => (this.log += chunk));
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`homeroom ended at once:\n${this.log}`);
      const answer = await fetch(`http://${this.loopback}/`).catch(() => undefined);
      if (answer?.ok) return;
      if (Date.now() > deadline) throw new Error(`homeroom does not answer:\n${this.log}`);
      await new Promise((next) => setTimeout(next, 50));
    }
  }

  /** SIGKILL: nothing of the process gets a chance to tidy up. */
  async kill(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Everything the process printed. */
  output(): string {
    return this.log;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
