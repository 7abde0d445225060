// A WebSocket client on a plain TCP socket: the handshake, text frames, ping, close. What the texts mean is left to
// class.mjs. Written from RFC 6455, since Node 20 has none built in and packages would be somebody else's reading.

import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
/** Longest frame accepted; a host's state of five players has a few kilobytes. */
const FRAME_BYTES_MAX = 1 << 20;

export class Socket {
    /** Opens `url`, which begins with http://. */
    static open(url) {
        const { hostname, port, host, pathname, search } = new URL(url);
        const key = randomBytes(16).toString("base64");
        const accept = createHash("sha1").update(key + GUID).digest("base64");
        return new Promise((resolve, reject) => {
            const tcp = connect({ host: hostname, port: Number(port || 80), noDelay: true }, () => {
                tcp.write(
                    `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
                        `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
                );
            });
            let head = Buffer.alloc(0);
            const onHead = (bytes) => {
                head = Buffer.concat([head, bytes]);
                const end = head.indexOf("\r\n\r\n");
                if (end < 0) return;
                tcp.off("data", onHead);
                const text = head.subarray(0, end).toString("latin1");
                const header = /^sec-websocket-accept: *(\S+)/im.exec(text);
                if (!text.startsWith("HTTP/1.1 101 ") || header?.[1] !== accept) {
                    tcp.destroy();
                    reject(new Error(`the handshake was answered with ${text.split("\r\n")[0]}`));
                    return;
                }
                const socket = new Socket(tcp);
                resolve(socket);
                // After whoever opened it has set its handlers.
                queueMicrotask(() => queueMicrotask(() => socket.feed(head.subarray(end + 4))));
            };
            tcp.on("data", onHead);
            tcp.on("error", reject);
        });
    }

    constructor(tcp) {
        this.tcp = tcp;
        this.rest = Buffer.alloc(0);
        this.code = undefined;
        this.onText = () => {};
        this.onClose = () => {};
        tcp.on("data", (bytes) => this.feed(bytes));
        tcp.on("error", () => tcp.destroy());
        tcp.on("close", () => this.onClose(this.code ?? 1006));
    }

    feed(bytes) {
        this.rest = Buffer.concat([this.rest, bytes]);
        for (let frame = this.next(); frame; frame = this.next()) this.take(frame);
    }

    /** The next whole frame, if it is there. */
    next() {
        const { rest } = this;
        if (rest.length < 2) return undefined;
        let length = rest[1] & 0x7f;
        let begin = 2;
        if (length === 126) {
            if (rest.length < 4) return undefined;
            length = rest.readUInt16BE(2);
            begin = 4;
        } else if (length === 127) {
            if (rest.length < 10) return undefined;
            length = Number(rest.readBigUInt64BE(2));
            begin = 10;
        }
        if ((rest[0] & 0xf0) !== 0x80 || rest[1] & 0x80 || length > FRAME_BYTES_MAX) {
            this.tcp.destroy();
            throw new Error("a frame that is fragmented, masked, extended or too long");
        }
        if (rest.length < begin + length) return undefined;
        this.rest = rest.subarray(begin + length);
        return { opcode: rest[0] & 0x0f, payload: rest.subarray(begin, begin + length) };
    }

    take({ opcode, payload }) {
        if (opcode === TEXT) {
            this.onText(payload.toString("utf8"), payload.length);
        } else if (opcode === PING) {
            this.write(0x0a, payload);
        } else if (opcode === CLOSE) {
            this.code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
            this.write(CLOSE, payload.subarray(0, 2));
            this.tcp.end();
        }
    }

    send(text) {
        this.write(TEXT, Buffer.from(text, "utf8"));
    }

    end() {
        this.tcp.destroy();
    }

    write(opcode, payload) {
        const mask = randomBytes(4);
        const head = Buffer.alloc(payload.length < 126 ? 2 : 4);
        head[0] = 0x80 | opcode;
        if (payload.length < 126) {
            head[1] = 0x80 | payload.length;
        } else {
            head[1] = 0x80 | 126;
            head.writeUInt16BE(payload.length, 2);
        }
        const masked = Buffer.from(payload.map((byte, i) => byte ^ mask[i % 4]));
        this.tcp.write(Buffer.concat([head, mask, masked]));
    }
}
