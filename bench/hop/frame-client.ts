import { Agent, type IncomingMessage, request } from "node:http";
import { FRAME_MEDIA_TYPE } from "../../src/protocol/inference.ts";

/** Where a client reaches the backend now, and with which bearer. */
export interface Aim {
  readonly url: URL;
  readonly bearer: string;
}

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

  /** `aim` is asked before each request, outside of what is timed. */
  constructor(aim: () => Promise<Aim>, frame: Uint8Array, connections: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#aim = aim;
    this.#frame = frame;
  }

  /** Throws where the answer is anything but 200. */
  async send(): Promise<TimedReply> {
    const { url, bearer } = await this.#aim();
    const headers = {
      authorization: `Bearer ${bearer}`,
      "content-type": FRAME_MEDIA_TYPE,
      accept: FRAME_MEDIA_TYPE,
      "content-length": this.#frame.byteLength,
    };
    const startedAt = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<TimedReply>();
    const outgoing = request(url, { method: "POST", agent: this.#agent, headers }, (reply: IncomingMessage) => {
      const chunks: Buffer[] = [];
      reply.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
      reply.on("end", () => {
        const tookMs = performance.now() - startedAt;
        const body = Buffer.concat(chunks);
        if (reply.statusCode === 200) resolve({ body: new Uint8Array(body), tookMs });
        else reject(new Error(`status ${reply.statusCode}: ${body.toString()}`));
      });
    });
    outgoing.on("error", reject).end(this.#frame);
    return promise;
  }

  close(): void {
    this.#agent.destroy();
  }
}
