import type { PolicyDevice } from "../model-device.ts";
import {
  answerBatch,
  countRows,
  type CreatePolicy,
  type Pending,
  type PolicyClock,
  type PolicyReply,
  type PolicyRequest,
  PROCESS_CLOCK,
  queueByModel,
  REFUSED,
} from "../policy.ts";
import type { ModelName } from "../served-models.ts";
import { type BatchSample, fitBatchTimes } from "./fit-batch-times.ts";

/**
 * Its `max_latency_ms`, one for each model: it knows no budgets of requests. These were its best at twice the capacity,
 * of 10 to 50 for the policy and 10 to 200 for the vision network.
 */
const BEST_MS: Readonly<Record<ModelName, number>> = { policy: 50, vision: 20 };
const MAX_ROWS = 64;
const TICK_MS = 1;
const DECAY = 0.95;
const SKIPPED_SAMPLES = 2;
const KEPT_SAMPLES = 50;
/** The first fits follow each other at once, as its training does; then it fits every five seconds. */
const TRAINING_SAMPLES = 5;
const REFIT_MS = 5_000;

/**
 * State of its optimiser: a batch of n lasts `rowMs · n + fixedMs`, and its oldest request waited `waitMs` on average.
 */
export interface CorkModel {
  readonly rowMs: number;
  readonly fixedMs: number;
  readonly waitMs: number;
}

export type CorkStep = "drop-oldest" | "wait" | "release";

/**
 * BentoML's adaptive batching, by its documentation and its dispatcher (release 1.1): each model has a
 * queue and one batch at a time. A linear regression of the last 50 batches predicts a batch's duration.
 * The oldest request is dropped where it would miss the maximal latency; a batch is released when
 * waiting for one more costs those that wait more than the average wait; it takes the newest first. Here
 * the end of a batch is noticed at once, not at the next tick: that only helps it.
 */
export function bentomlWith(maxLatencyMs: Readonly<Record<ModelName, number>>): CreatePolicy {
  return (device, clock = PROCESS_CLOCK) => queueByModel((model) => new CorkQueue(device, clock, maxLatencyMs[model]));
}

export const createBentoml = bentomlWith(BEST_MS);

/** State of a queue: its requests and their rows, the waits of the oldest and the newest, and whether a batch runs. */
export interface Corked {
  readonly waiting: number;
  readonly rows: number;
  readonly oldestMs: number;
  readonly newestMs: number;
  readonly busy: boolean;
}

/** Decision about a queue. */
export function stepCork(
  { waiting, rows, oldestMs, newestMs, busy }: Corked,
  { rowMs, fixedMs, waitMs }: CorkModel,
  maxLatencyMs: number,
): CorkStep {
  if (waiting > 1 && oldestMs + rowMs * rows + fixedMs >= maxLatencyMs) return "drop-oldest";
  if (busy) return waiting === 1 && oldestMs >= maxLatencyMs ? "drop-oldest" : "wait";
  const isWorthWaiting = rows < MAX_ROWS && waiting * (newestMs + TICK_MS + rowMs) <= waitMs * DECAY;
  return isWorthWaiting ? "wait" : "release";
}

class CorkQueue {
  readonly #device: PolicyDevice;
  readonly #clock: PolicyClock;
  /** In order of arrival. */
  #queue: Pending[] = [];
  readonly #maxLatencyMs: number;
  #model: CorkModel;
  #samples: BatchSample[] = [];
  #seen = 0;
  #fittedMs = -Infinity;
  #running: Promise<void> | null = null;
  #isControlled = false;

  constructor(device: PolicyDevice, clock: PolicyClock, maxLatencyMs: number) {
    this.#device = device;
    this.#clock = clock;
    this.#maxLatencyMs = maxLatencyMs;
    this.#model = { rowMs: maxLatencyMs / 15, fixedMs: maxLatencyMs / 30, waitMs: 10 };
  }

  serve(request: PolicyRequest): Promise<PolicyReply> {
    return new Promise((reply) => {
      this.#queue.push({ request, reply });
      void this.#control();
    });
  }

  reset(): void {
    for (const { reply } of this.#queue) reply(REFUSED);
    this.#queue = [];
  }

  async #control(): Promise<void> {
    if (this.#isControlled) return;
    this.#isControlled = true;
    while (this.#queue.length > 0) {
      const step = this.#step();
      if (step === "drop-oldest") this.#queue.shift()!.reply(REFUSED);
      else if (step === "wait")
        await Promise.race([this.#clock.delay(TICK_MS), ...(this.#running === null ? [] : [this.#running])]);
      else this.#running = this.#run(this.#takeNewest()).finally(() => (this.#running = null));
    }
    this.#isControlled = false;
  }

  #takeNewest(): Pending[] {
    let from = this.#queue.length - 1;
    while (from > 0 && countRows(this.#queue.slice(from - 1)) <= MAX_ROWS) from--;
    return this.#queue.splice(from);
  }

  #step(): CorkStep {
    const nowMs = this.#clock.now();
    const oldestMs = nowMs - this.#queue[0]!.request.arrivedMs;
    const newestMs = nowMs - this.#queue.at(-1)!.request.arrivedMs;
    const busy = this.#running !== null;
    const state = { waiting: this.#queue.length, rows: countRows(this.#queue), oldestMs, newestMs, busy };
    return stepCork(state, this.#model, this.#maxLatencyMs);
  }

  async #run(batch: readonly Pending[]): Promise<void> {
    const startedMs = this.#clock.now();
    await answerBatch(this.#device, batch);
    const endedMs = this.#clock.now();
    this.#seen++;
    if (this.#seen <= SKIPPED_SAMPLES) return;
    const sample = {
      rows: countRows(batch),
      durationMs: endedMs - startedMs,
      waitMs: startedMs - batch[0]!.request.arrivedMs,
    };
    this.#samples = [...this.#samples.slice(1 - KEPT_SAMPLES), sample];
    if (this.#seen > TRAINING_SAMPLES && endedMs - this.#fittedMs < REFIT_MS) return;
    this.#model = fitBatchTimes(this.#samples);
    this.#fittedMs = endedMs;
  }
}
