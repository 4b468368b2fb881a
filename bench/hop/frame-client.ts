import { Agent } from "node:http";
import { type Aim, postFrame } from "./post-frame.ts";

/** Requests before anything is timed. */
const WARMUP = 500;

/** A reply, and its time from the first byte sent to the last received. */
export interface TimedReply {
  readonly body: Uint8Array;
  readonly tookMs: number;
}

/** Sends one frame over kept connections, again and again; the same client for every target. */
export class FrameClient {
  readonly #connections: number;
  #agent: Agent;
  readonly #aim: () => Promise<Aim>;
  readonly #frame: Uint8Array;

  /** `aim` is asked before each request: `tookMs` excludes its time, a latency from a scheduled arrival includes it. */
  constructor(aim: () => Promise<Aim>, frame: Uint8Array, connections: number) {
    this.#connections = connections;
    this.#agent = this.#open();
    this.#aim = aim;
    this.#frame = frame;
  }

  /** Throws for any status but 200. */
  async send(): Promise<TimedReply> {
    const aim = await this.#aim();
    const startedAt = performance.now();
    const { status, body } = await postFrame(this.#agent, aim, this.#frame);
    const tookMs = performance.now() - startedAt;
    if (status !== 200) throw new Error(`status ${status}: ${new TextDecoder().decode(body)}`);
    return { body, tookMs };
  }

  /** Warms the target up, and returns the last reply. */
  async warmUp(): Promise<TimedReply> {
    for (let i = 0; i < WARMUP; i++) await this.send();
    return this.send();
  }

  /** Drops all connections: servers close those that were idle, possibly just as a request is sent. */
  reconnect(): void {
    this.#agent.destroy();
    this.#agent = this.#open();
  }

  #open(): Agent {
    return new Agent({ keepAlive: true, maxSockets: this.#connections });
  }

  close(): void {
    this.#agent.destroy();
  }
}
