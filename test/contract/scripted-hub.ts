import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { vi } from "vitest";
import { decodeFrame } from "../../src/protocol/wire/frame.ts";
import { VERSION } from "../../src/protocol/wire/release.ts";
import { type EdgeMessage, parseText, PING, PONG, RunnerMessage } from "../../src/protocol/link.ts";

type MessageOf<Type extends RunnerMessage["type"]> = Extract<RunnerMessage, { type: Type }>;

const OPCODES = { text: 1, binary: 2, close: 8 } as const;
const BOUND = { timeout: 30_000, interval: 5 };

/** The edge's end of one socket (RFC 6455, as far as a runner needs it), driven by a test. */
export class HubConnection {
  readonly headers: IncomingMessage["headers"];
  readonly received: RunnerMessage[] = [];
  readonly frames: unknown[] = [];
  pings = 0;
  /** Off: the socket stays open and nothing is answered, as when the other end's machine froze. */
  alive = true;
  readonly #stream: Duplex;
  #buffered: Buffer = Buffer.alloc(0);

  constructor(stream: Duplex, headers: IncomingMessage["headers"]) {
    this.#stream = stream;
    this.headers = headers;
    stream.on("data", (chunk: Buffer) => this.#read(chunk));
    stream.on("error", () => undefined);
  }

  send(message: EdgeMessage): void {
    this.#write(OPCODES.text, Buffer.from(JSON.stringify(message)));
  }

  sendFrame(frame: Uint8Array): void {
    this.#write(OPCODES.binary, frame);
  }

  sendText(text: string): void {
    this.#write(OPCODES.text, Buffer.from(text));
  }

  close(code: number): void {
    this.#write(OPCODES.close, Buffer.from([code >> 8, code & 0xff]));
  }

  /** Breaks the connection as a pulled cable does, but so that the other end sees it at once. */
  cut(): void {
    this.#stream.destroy();
  }

  /** Takes the first received message of a type, waiting for it within bounds. */
  async next<Type extends RunnerMessage["type"]>(type: Type): Promise<MessageOf<Type>> {
    const index = await vi.waitFor(() => {
      const found = this.received.findIndex((message) => message.type === type);
      if (found < 0) throw new Error(`no ${type} among ${JSON.stringify(this.received)}`);
      return found;
    }, BOUND);
    return this.received.splice(index, 1)[0] as MessageOf<Type>;
  }

  #read(chunk: Buffer): void {
    if (!this.alive) return;
    this.#buffered = Buffer.concat([this.#buffered, chunk]);
    for (let message = this.#takeMessage(); message !== null; message = this.#takeMessage()) this.#receive(message);
  }

  /** The next whole message; clients mask theirs. */
  #takeMessage(): { opcode: number; payload: Buffer } | null {
    const bytes = this.#buffered;
    if (bytes.length < 2) return null;
    const short = (bytes[1] ?? 0) & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const start = 2 + lengthBytes + 4;
    if (bytes.length < start) return null;
    const length =
      lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (bytes.length < start + length) return null;
    const mask = bytes.subarray(start - 4, start);
    const payload = Buffer.from(
      bytes.subarray(start, start + length).map((byte, index) => byte ^ (mask[index % 4] ?? 0)),
    );
    this.#buffered = bytes.subarray(start + length);
    return { opcode: (bytes[0] ?? 0) & 0x0f, payload };
  }

  #receive({ opcode, payload }: { opcode: number; payload: Buffer }): void {
    if (opcode === OPCODES.close) {
      this.#write(OPCODES.close, payload.subarray(0, 2));
      this.#stream.end();
    } else if (opcode === OPCODES.binary) {
      const decoded = decodeFrame(payload);
      this.frames.push(decoded.ok ? decoded.header : decoded.message);
    } else if (payload.toString() === PING) {
      this.pings++;
      this.sendText(PONG);
    } else {
      const parsed = parseText(RunnerMessage, payload.toString());
      if (!parsed.ok) throw new Error(`the runner sent ${payload.toString()}: ${parsed.reason}`);
      this.received.push(parsed.message);
    }
  }

  #write(opcode: number, payload: Uint8Array): void {
    if (!this.alive || this.#stream.destroyed) return;
    const extended = payload.length > 0xffff ? 8 : payload.length > 125 ? 2 : 0;
    const head = Buffer.alloc(2 + extended);
    head[0] = 0x80 | opcode;
    head[1] = extended === 8 ? 127 : extended === 2 ? 126 : payload.length;
    if (extended === 2) head.writeUInt16BE(payload.length, 2);
    if (extended === 8) head.writeBigUInt64BE(BigInt(payload.length), 2);
    this.#stream.write(Buffer.concat([head, payload]));
  }
}

/** A hub that a test plays: it takes sockets, or refuses them with a status. */
export class ScriptedHub {
  readonly connections: HubConnection[] = [];
  /** When each handshake came, on the monotonic clock. */
  readonly knocks: number[] = [];
  refuseWith: number | null = null;
  readonly #server: Server;
  readonly #streams = new Set<Duplex>();
  #taken = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", ({ url }, response) => {
      if (url === "/v1/health") response.end(JSON.stringify({ status: "ok", version: VERSION }));
      else response.writeHead(this.refuseWith ?? 426).end();
    });
    server.on("upgrade", (request, stream) => this.#upgrade(request, stream));
  }

  static async start(port = 0): Promise<ScriptedHub> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
    return new ScriptedHub(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The next connection that was not returned yet. */
  async nextConnection(): Promise<HubConnection> {
    return vi.waitFor(() => {
      const connection = this.connections[this.#taken];
      if (connection === undefined) throw new Error("no runner has connected");
      this.#taken++;
      return connection;
    }, BOUND);
  }

  async stop(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  #upgrade(request: IncomingMessage, stream: Duplex): void {
    this.knocks.push(performance.now());
    this.#streams.add(stream);
    if (this.refuseWith !== null) {
      stream.end(`HTTP/1.1 ${this.refuseWith} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const key = String(request.headers["sec-websocket-key"]);
    const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    const protocol = String(request.headers["sec-websocket-protocol"]);
    stream.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: ${protocol}\r\n\r\n`,
    );
    this.connections.push(new HubConnection(stream, request.headers));
  }
}
