import { setTimeout as delay } from "node:timers/promises";
import { decodeFrame, encodeFrame } from "../../../src/protocol/wire/frame.ts";
import { LINK_SUBPROTOCOL, PING, PONG } from "../../../src/protocol/link.ts";
import type { Capabilities } from "../../../src/protocol/fleet/hardware.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { capabilities } from "../../edge/stack/samples.ts";
import type { Attacker } from "./attacker.ts";

const PING_MS = 1_000;
/** Bytes that wait to be sent, beyond which it pauses. */
const WAITING_BYTES = 4 * 2 ** 20;
const TIMES = { queueMs: 0.1, uploadMs: 0.1, computeMs: 0.2, readbackMs: 0.1 };

export interface Registered {
  readonly runnerId: string;
  readonly credential: string;
  readonly linkUrl: string;
}

/** Registers a runner of the attacker's project. */
export async function registerRunner(attacker: Attacker, name = "hostile"): Promise<Registered> {
  const { token } = await attacker.make("POST", "/v1/runners/tokens", { body: {} });
  return attacker.make("POST", "/v1/runners", { key: null, body: { token, name } });
}

/** A runner's end of a socket that says whatever the attacker wants. */
export class RawRunner {
  readonly #socket: WebSocket;
  /** Called with each message of the edge but signs of life, and each frame's header. */
  onMessage: (message: any) => void = () => {};
  onFrame: (header: any) => void = () => {};

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      if (data === PONG) return;
      if (typeof data === "string") return this.onMessage(JSON.parse(data));
      const decoded = decodeFrame(new Uint8Array(data as ArrayBuffer));
      if (decoded.ok) this.onFrame(decoded.header);
    });
  }

  /** Connects; null where the edge refuses it. The socket ends with the attack, and its close is counted. */
  static async connect({ answers, signal }: Attacker, { linkUrl, credential }: Registered): Promise<RawRunner | null> {
    const headers = { authorization: `Bearer ${credential}` };
    const socket = new WebSocket(linkUrl, { protocols: [LINK_SUBPROTOCOL], headers } as never);
    socket.binaryType = "arraybuffer";
    const { promise: opened, resolve } = Promise.withResolvers<boolean>();
    socket.addEventListener("open", () => resolve(true));
    socket.addEventListener("error", () => resolve(false));
    const isOpen = await opened;
    answers.count(isOpen ? "link 101" : "link refused");
    if (!isOpen) return null;
    const runner = new RawRunner(socket);
    const ping = setInterval(() => runner.isOpen && socket.send(PING), PING_MS);
    const end = () => socket.close(1000);
    signal.addEventListener("abort", end, { once: true });
    socket.addEventListener("close", ({ code, reason }) => {
      clearInterval(ping);
      signal.removeEventListener("abort", end);
      if (!signal.aborted && code !== 1000) answers.count(`link closed ${code} ${reason}`.trim());
    });
    if (signal.aborted) end();
    return runner;
  }

  /** Connects, says hello and waits for the welcome; null where there is none. */
  static async online(
    attacker: Attacker,
    registered: Registered,
    announced: Capabilities = capabilities,
  ): Promise<RawRunner | null> {
    const runner = await RawRunner.connect(attacker, registered);
    if (runner === null) return null;
    const { promise: welcomed, resolve } = Promise.withResolvers<boolean>();
    runner.onMessage = ({ type }) => type === "welcome" && resolve(true);
    runner.#socket.addEventListener("close", () => resolve(false));
    await runner.send({ type: "hello", capabilities: announced, running: [] });
    return (await welcomed) ? runner : null;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Sends an object or a text, once there is room; false where the socket is closed. */
  async send(message: object | string): Promise<boolean> {
    while (this.isOpen && this.#socket.bufferedAmount > WAITING_BYTES) await delay(1);
    if (!this.isOpen) return false;
    this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
    return true;
  }

  /** Answers a frame that asked for an inference or a computation. */
  answer(requestId: string, tensors: readonly Tensor[], type: "inferResult" | "computeResult" = "inferResult"): void {
    const about =
      type === "inferResult" ? { rows: 1, backlogMs: 0 } : { deviceKey: "gpu0", software: true, variant: "plain" };
    if (this.isOpen) this.#socket.send(encodeFrame({ type, requestId, times: TIMES, ...about }, tensors));
  }

  close(): void {
    this.#socket.close(1000);
  }
}
