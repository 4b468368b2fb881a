import type { PolicyDevice } from "../model-device.ts";
import {
  answerBatch,
  countRows,
  type CreatePolicy,
  EXPIRED,
  type Pending,
  type PolicyClock,
  type PolicyRequest,
  PROCESS_CLOCK,
  queueByModel,
  REFUSED,
} from "../policy.ts";
import type { ModelName } from "../served-models.ts";

/**
 * Clipper knows one latency objective for a model and no budgets of requests. These were its best at twice the
 * capacity, of 5 to 50 for the policy and 5 to 100 for the vision network.
 */
const BEST_MS: Readonly<Record<ModelName, number>> = { policy: 50, vision: 10 };
const INCREASE = 1;
const BACK_OFF = 0.9;
const MAX_ROWS = 64;

/**
 * Clipper's adaptive batching (Crankshaw et al., NSDI 2017, section 4.3.1): each model has a queue, and
 * the limit of its batches rises by a constant until a batch misses the latency objective, which takes a
 * tenth off. One objective for all makes the order of deadlines that of arrival. As in Clipper's own
 * program what is past its deadline leaves the queue, here by the budget of each request instead of the
 * objective: that only helps it. (The order of budgets does not: where too much comes, the earliest
 * deadline is the one that is just being missed.)
 */
export function clipperWith(objectivesMs: Readonly<Record<ModelName, number>>): CreatePolicy {
  return (device, clock = PROCESS_CLOCK) => queueByModel((model) => new AimdQueue(device, clock, objectivesMs[model]));
}

export const createClipperAimd = clipperWith(BEST_MS);

/** Limit after a batch of this duration; only a full batch shows that a larger one might do. */
export function adaptLimit(limit: number, isFull: boolean, tookMs: number, objectiveMs: number): number {
  if (tookMs > objectiveMs) return Math.max(1, limit * BACK_OFF);
  return isFull ? Math.min(MAX_ROWS, limit + INCREASE) : limit;
}

class AimdQueue {
  readonly #device: PolicyDevice;
  readonly #clock: PolicyClock;
  readonly #objectiveMs: number;
  /** In order of arrival. */
  #queue: Pending[] = [];
  #limit = 1;
  #busy = false;

  constructor(device: PolicyDevice, clock: PolicyClock, objectiveMs: number) {
    this.#device = device;
    this.#clock = clock;
    this.#objectiveMs = objectiveMs;
  }

  serve(request: PolicyRequest): ReturnType<ReturnType<CreatePolicy>["serve"]> {
    return new Promise((reply) => {
      this.#queue.push({ request, reply });
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
      // What is left in the queue had no room.
      const isFull = this.#queue.length > 0 || countRows(batch) >= Math.floor(this.#limit);
      const startedMs = this.#clock.now();
      await answerBatch(this.#device, batch);
      this.#limit = adaptLimit(this.#limit, isFull, this.#clock.now() - startedMs, this.#objectiveMs);
    }
    this.#busy = false;
  }

  #take(): Pending[] {
    const nowMs = this.#clock.now();
    const batch: Pending[] = [];
    while (this.#queue.length > 0) {
      const next = this.#queue[0]!;
      // A request of more rows than the limit is a batch of its own.
      const isFull = batch.length > 0 && countRows([...batch, next]) > Math.floor(this.#limit);
      if (isFull && next.request.deadlineMs > nowMs) break;
      this.#queue.shift();
      if (next.request.deadlineMs <= nowMs) next.reply(EXPIRED);
      else batch.push(next);
    }
    return batch;
  }
}
