import { Agent, request } from "node:http";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { encodeFrame } from "../../src/protocol/frame.ts";
import { FRAME_MEDIA_TYPE } from "../../src/protocol/inference.ts";
import type { Tensor } from "../../src/protocol/tensor.ts";
import type { Target } from "../hop/start-stack.ts";
import type { ModelName } from "./served-models.ts";

export interface FrameReply {
  readonly status: number;
  readonly body: Uint8Array;
}

/** Sends inferences as raw frames, as many at a time as come, each over a kept connection that is free. */
export class FrameSender {
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: Infinity });
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, key }: Target) {
    this.#url = new URL(endpoints.infer.path, url);
    this.#headers = { authorization: `Bearer ${key}`, "content-type": FRAME_MEDIA_TYPE, accept: FRAME_MEDIA_TYPE };
  }

  send(model: ModelName, budgetMs: number, tensors: readonly Tensor[]): Promise<FrameReply> {
    const frame = encodeFrame({ model, budgetMs }, tensors);
    const headers = { ...this.#headers, "content-length": frame.byteLength };
    return new Promise((resolve, reject) => {
      const outgoing = request(this.#url, { method: "POST", agent: this.#agent, headers }, (reply) => {
        const chunks: Buffer[] = [];
        reply.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
        reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body: new Uint8Array(Buffer.concat(chunks)) }));
      });
      outgoing.on("error", reject).end(frame);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
