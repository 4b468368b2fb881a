import type { ModelDevice } from "../model-device.ts";
import { answerBatch, type CreatePolicy, EXPIRED, type Pending, type PolicyRequest, REFUSED } from "../policy.ts";
import { MODELS } from "../served-models.ts";

/**
 * Clipper knows one latency objective for a model and no budgets of requests. Of 5, 10, 20, 30 and 50 ms
 * this is the one with its best round of five at twice the capacity.
 */
const OBJECTIVE_MS = 10;
const INCREASE = 1;
const BACK_OFF = 0.9;
const MAX_ROWS = 64;

/**
 * Clipper's adaptive batching (Crankshaw et al., NSDI 2017, section 4.3.1): each model has a queue, and
 * the limit of its batches rises by a constant until a batch misses the latency objective, which takes a
 * tenth off. As in Clipper's own program the queue is in the order of deadlines and what is past its
 * deadline leaves it, here with the budget of each request instead of the objective: that only helps it.
 */
export const createClipperAimd: CreatePolicy = (device) => {
  const queues = new Map(MODELS.map((model) => [model, new AimdQueue(device)]));
  return {
    serve: (request) => queues.get(request.model)!.serve(request),
    reset: () => queues.forEach((queue) => queue.reset()),
  };
};

/** The limit behind a batch that took so long; only a full batch shows that a larger one might do. */
export function adaptLimit(limit: number, rows: number, tookMs: number): number {
  if (tookMs > OBJECTIVE_MS) return Math.max(1, limit * BACK_OFF);
  return rows < Math.floor(limit) ? limit : Math.min(MAX_ROWS, limit + INCREASE);
}

class AimdQueue {
  readonly #device: ModelDevice;
  /** By deadline, the earliest first. */
  #queue: Pending[] = [];
  #limit = 1;
  #busy = false;

  constructor(device: ModelDevice) {
    this.#device = device;
  }

  serve(request: PolicyRequest): ReturnType<ReturnType<CreatePolicy>["serve"]> {
    return new Promise((reply) => {
      const behind = this.#queue.findLastIndex((other) => other.request.deadlineMs <= request.deadlineMs);
      this.#queue.splice(behind + 1, 0, { request, reply });
      void this.#drain();
    });
  }

  reset(): void {
    for (const { reply } of this.#queue) reply(REFUSED);
    this.#queue = [];
  }

  async #drain(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      const startedMs = performance.now();
      await answerBatch(this.#device, batch);
      this.#limit = adaptLimit(this.#limit, batch.length, performance.now() - startedMs);
    }
    this.#busy = false;
  }

  #take(): Pending[] {
    const nowMs = performance.now();
    while (this.#queue[0] !== undefined && this.#queue[0].request.deadlineMs <= nowMs) {
      this.#queue.shift()!.reply(EXPIRED);
    }
    return this.#queue.splice(0, Math.floor(this.#limit));
  }
}
