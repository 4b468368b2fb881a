import { Agent } from "node:http";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { encodeFrame } from "../../src/protocol/wire/frame.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import { type Aim, type FrameReply, postFrame } from "../hop/post-frame.ts";
import type { Target } from "../hop/start-stack.ts";
import type { ModelName } from "./served-models.ts";

/** Sends inferences as raw frames, any number at once, each over an idle kept connection. */
export class FrameSender {
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: Infinity });
  readonly #aim: Aim;

  constructor({ url, key }: Target) {
    this.#aim = { url: new URL(endpoints.infer.path, url), bearer: key };
  }

  send(model: ModelName, budgetMs: number, tensors: readonly Tensor[]): Promise<FrameReply> {
    return postFrame(this.#agent, this.#aim, encodeFrame({ model, budgetMs }, tensors));
  }

  close(): void {
    this.#agent.destroy();
  }
}
