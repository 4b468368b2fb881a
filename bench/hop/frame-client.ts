import { Agent } from "node:http";
import { type Aim, postFrame } from "./post-frame.ts";

/** Requests before anything is timed. */
const WARMUP = 500;

/** A reply as it came, and how long it took from the first byte sent to the last received. */
export interface TimedReply {
  readonly body: Uint8Array;
  readonly tookMs: number;
}

/** Sends one frame over kept connections, again and again; the same client whatever stands behind the target. */
export class FrameClient {
  readonly #agent: Agent;
  readonly #aim: () => Promise<Aim>;
  readonly #frame: Uint8Array;

  /** `aim` is asked before each request: `tookMs` does not hold it, a latency from a scheduled arrival does. */
  constructor(aim: () => Promise<Aim>, frame: Uint8Array, connections: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#aim = aim;
    this.#frame = frame;
  }

  /** Throws where the answer is anything but 200. */
  async send(): Promise<TimedReply> {
    const aim = await this.#aim();
    const startedAt = performance.now();
    const { status, body } = await postFrame(this.#agent, aim, this.#frame);
    const tookMs = performance.now() - startedAt;
    if (status !== 200) throw new Error(`status ${status}: ${new TextDecoder().decode(body)}`);
    return { body, tookMs };
  }

  /** Warms up whatever stands behind the target, and gives the last reply. */
  async warmUp(): Promise<TimedReply> {
    for (let i = 0; i < WARMUP; i++) await this.send();
    return this.send();
  }

  close(): void {
    this.#agent.destroy();
  }
}
