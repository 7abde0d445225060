// The real product: one homeroom process on a free port with a data folder of its own.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const HOST = 'quiz.school.test';
const START_TIMEOUT_MS = 30_000;

export class Server {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'homeroom-e2e-'));
  private child: ChildProcess | undefined;
  private log = '';

  private constructor(
    readonly port: number,
    private readonly tls: boolean,
    private readonly demo: boolean,
    private readonly smtp: string,
  ) {}

  /** `smtp` is the address of a mail server; without it no letters are sent. */
  static async start({ tls = false, demo = false, smtp = '' } = {}): Promise<Server> {
    const server = new Server(await freePort(), tls, demo, smtp);
    try {
      await server.boot();
    } catch (error) {
      // Whoever asked gets no server to stop.
      await server.stop();
      throw error;
    }
    return server;
  }

  /** The address that browsers use: a host name that is not localhost. */
  get url(): string {
    return `${this.tls ? 'https' : 'http'}://${HOST}:${this.port}`;
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
    if (this.demo) flags.push('--demo');
    if (this.smtp) flags.push('--smtp', this.smtp, '--mail-from', 'Homeroom <homeroom@school.example>');
    if (this.tls) flags.push(...certificate(this.dataDir));
    const child = spawn(binary, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    child.stdout.on('data', (chunk) => (this.log += chunk));
    child.stderr.on('data', (chunk) => (this.log += chunk));
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`homeroom ended at once:\n${this.log}`);
      if (await this.answers()) return;
      if (Date.now() > deadline) throw new Error(`homeroom does not answer:\n${this.log}`);
      await new Promise((next) => setTimeout(next, 50));
    }
  }

  private async answers(): Promise<boolean> {
    const socket = connect(this.port, '127.0.0.1');
    const open = await new Promise<boolean>((tell) => {
      socket.once('connect', () => tell(true)).once('error', () => tell(false));
    });
    socket.destroy();
    return open;
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

/** Flags for a certificate that this test signs itself. */
function certificate(folder: string): string[] {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`, '-days', '2'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...subject, ...files], {
    stdio: 'ignore',
  });
  return ['--tls-cert', cert, '--tls-key', key];
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
