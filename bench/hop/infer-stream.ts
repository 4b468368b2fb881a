import { Agent, type IncomingMessage, request } from "node:http";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { encodeFrame } from "../../src/protocol/frame.ts";
import { FRAME_MEDIA_TYPE, InferFrameHeader } from "../../src/protocol/inference.ts";
import { createTensor, type HopCase, nameModel } from "./hop-case.ts";

/** Wide enough that no pause of a busy machine is refused. */
const BUDGET_MS = 60_000;

/** A reply as it came, and how long it took from the first byte sent to the last received. */
export interface TimedReply {
  readonly body: Uint8Array;
  readonly tookMs: number;
}

/** One kept connection over which inferences of a case are sent, one after the other. */
export class InferStream {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #frame: Uint8Array;

  constructor(baseUrl: string, key: string, input: HopCase) {
    this.#url = new URL(endpoints.infer.path, baseUrl);
    this.#headers = { authorization: `Bearer ${key}`, "content-type": FRAME_MEDIA_TYPE, accept: FRAME_MEDIA_TYPE };
    const tensor = createTensor(input);
    const header = InferFrameHeader.parse({ model: nameModel(input), budgetMs: BUDGET_MS, tensors: [tensor] });
    this.#frame = encodeFrame(header, [tensor]);
  }

  /** Throws where the answer is anything but 200. */
  async infer(): Promise<TimedReply> {
    const startedAt = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<TimedReply>();
    const headers = { ...this.#headers, "content-length": this.#frame.byteLength };
    const outgoing = request(this.#url, { method: "POST", agent: this.#agent, headers }, (reply: IncomingMessage) => {
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
