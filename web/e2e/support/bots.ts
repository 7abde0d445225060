// Players on bare sockets, written from docs/protocol.md alone.
import WebSocket from 'ws';

export interface Outcome {
  q: number;
  ok?: boolean;
  points: number;
  total: number;
  rank: number;
}

interface Frame {
  t: string;
  seq?: number;
  [field: string]: unknown;
}

/** A student that answers every question with the choice its number picks, at once, and keeps what it was told. */
export class Bot {
  readonly outcomes: Outcome[] = [];
  readonly acked = new Map<number, boolean>();
  final: { rank: number; total: number; of: number } | undefined;
  closed: number | undefined;
  private seq = 0;
  private waiting: Array<() => void> = [];

  private constructor(
    readonly name: string,
    private readonly number: number,
    private readonly socket: WebSocket,
  ) {
    socket.on('message', (data) => this.receive(JSON.parse(String(data)) as Frame));
    socket.on('close', (code) => {
      this.closed = code;
      this.wake();
    });
  }

  static async join(loopback: string, code: string, name: string, number: number): Promise<Bot> {
    const socket = new WebSocket(`ws://${loopback}/game/watch?g=${code}`);
    const bot = new Bot(name, number, socket);
    await new Promise<void>((open, fail) => socket.once('open', open).once('error', fail));
    socket.send(JSON.stringify({ t: 'join', name }));
    await bot.until(() => bot.joined);
    return bot;
  }

  joined = false;

  private receive(frame: Frame): void {
    if (frame.t === 'welcome' || frame.t === 'sync') {
      this.joined = true;
      this.seq = (frame.state as { seq: number }).seq;
    } else if (frame.seq !== undefined && frame.t !== 'pong') {
      if (frame.seq !== this.seq + 1) throw new Error(`${this.name}: seq ${frame.seq} after ${this.seq}`);
      this.seq = frame.seq;
    }
    switch (frame.t) {
      case 'question':
        this.answer(frame as unknown as { q: number; kind?: string; choices: string[] });
        break;
      case 'ack':
        this.acked.set(frame.q as number, frame.saved as boolean);
        break;
      case 'result':
        this.outcomes.push(frame as unknown as Outcome);
        break;
      case 'over':
        this.final = frame as unknown as { rank: number; total: number; of: number };
        break;
      case 'error':
        throw new Error(`${this.name}: ${JSON.stringify(frame)}`);
    }
    this.wake();
  }

  private answer(question: { q: number; kind?: string; choices: string[] }): void {
    const choice = (this.number + question.q) % question.choices.length;
    const picked = question.kind === 'multiple' ? { choices: [choice] } : { choice };
    this.socket.send(JSON.stringify({ t: 'answer', q: question.q, ...picked }));
  }

  private wake(): void {
    for (const next of this.waiting.splice(0)) next();
  }

  /** Waits until `met` holds; checked after every frame. */
  async until(met: () => boolean, withinMs = 15_000): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (!met()) {
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`${this.name} waited too long`);
      await new Promise<void>((next) => {
        const timer = setTimeout(next, left);
        this.waiting.push(() => {
          clearTimeout(timer);
          next();
        });
      });
    }
  }

  close(): void {
    this.socket.close();
  }
}
