// A mail server that keeps the letters it is given.
import { once } from 'node:events';
import { type Server, type Socket, createServer } from 'node:net';

const LETTER_TIMEOUT_MS = 15_000;

export class Mailbox {
  private readonly letters: string[] = [];
  private readonly server: Server = createServer((socket) => this.talk(socket));
  private arrived: () => void = () => {};

  private constructor() {}

  static async open(): Promise<Mailbox> {
    const mailbox = new Mailbox();
    mailbox.server.listen(0, '127.0.0.1');
    await once(mailbox.server, 'listening');
    return mailbox;
  }

  /** Where letters are to be sent. */
  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return `smtp://127.0.0.1:${address.port}`;
  }

  /** The next letter, as soon as it is there. */
  async next(): Promise<string> {
    const deadline = Date.now() + LETTER_TIMEOUT_MS;
    for (;;) {
      const letter = this.letters.shift();
      if (letter !== undefined) return letter;
      const left = deadline - Date.now();
      if (left <= 0) throw new Error('no letter came');
      await new Promise<void>((look) => {
        const timer = setTimeout(look, left);
        this.arrived = () => {
          clearTimeout(timer);
          look();
        };
      });
    }
  }

  close(): void {
    this.server.close();
  }

  private talk(socket: Socket): void {
    let said = '';
    let inLetter = false;
    socket.on('error', () => socket.destroy());
    socket.write('220 mail.school.test\r\n');
    socket.on('data', (bytes) => {
      said += bytes.toString('latin1');
      for (;;) {
        const end = inLetter ? '\r\n.\r\n' : '\r\n';
        const at = said.indexOf(end);
        if (at < 0) return;
        const part = said.slice(0, at);
        said = said.slice(at + end.length);
        if (inLetter) {
          // Long lines are folded, as mail does.
          this.letters.push(part.replaceAll('=\r\n', ''));
          this.arrived();
          socket.write('250 taken\r\n');
          inLetter = false;
        } else {
          inLetter = part.startsWith('DATA');
          socket.write(inLetter ? '354 go on\r\n' : '250 fine\r\n');
        }
      }
    });
  }
}
