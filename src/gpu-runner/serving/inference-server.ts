import type { Fault } from "../../protocol/fault.ts";
import type { InferOffer } from "../../protocol/link.ts";
import type { ServiceTimes } from "../../protocol/inference.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import { modelKeyOf } from "./model-key.ts";
import { DeadlineQueue } from "./deadline-queue.ts";

/** What executes a request: a device's process, with the model loaded. */
export interface InferenceBackend {
  infer(
    modelKey: string,
    tensors: readonly Tensor[],
    options: { requestId: string },
  ): Promise<{ tensors: Tensor[]; times: { uploadMs: number; computeMs: number; readbackMs: number } }>;
}

export interface Answer {
  readonly tensors: Tensor[];
  readonly times: ServiceTimes;
  /** Rows of the batch that it was computed in. */
  readonly rows: number;
  /** How long what waits now is expected to take. */
  readonly backlogMs: number;
  /** What was mended on the way; absent where there was nothing. */
  readonly faults?: Fault[];
}

interface Work {
  readonly id: string;
  readonly deadlineMs: number;
  readonly arrivedMs: number;
  readonly modelKey: string;
  readonly tensors: readonly Tensor[];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests of one device, one at a time, the earliest deadline first; the doomed are not begun. */
export class InferenceServer {
  readonly #backend: InferenceBackend;
  readonly #queue = new DeadlineQueue<Work>();
  #busy = false;

  constructor(backend: InferenceBackend) {
    this.#backend = backend;
  }

  /** Answers a request that came at `arrivedMs`, or throws `budget-exceeded` when its time ends in the queue. */
  serve(
    offer: Pick<InferOffer, "requestId" | "modelVersionId" | "variant" | "budgetMs">,
    tensors: readonly Tensor[],
    arrivedMs: number = performance.now(),
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { requestId: id } = offer;
      this.#queue.add({
        id,
        deadlineMs: arrivedMs + offer.budgetMs,
        arrivedMs,
        modelKey: modelKeyOf(offer),
        tensors,
        resolve,
        reject,
      });
      void this.#drain();
    });
  }

  /** Drops a request that waits; one that runs is finished and its answer ignored by the edge. */
  cancel(requestId: string): void {
    this.#queue.remove(requestId)?.reject(new ProblemError("budget-exceeded", "The request ended before it began."));
  }

  async #drain(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let work = this.#queue.takeFirst(); work !== undefined; work = this.#queue.takeFirst()) await this.#run(work);
    this.#busy = false;
  }

  /** Runs a request, and once more where the device was lost under it and there is time left. */
  async #run(work: Work, faults: Fault[] = []): Promise<void> {
    const startedMs = performance.now();
    if (startedMs > work.deadlineMs) {
      return work.reject(new ProblemError("budget-exceeded", "The budget ran out in the runner's queue."));
    }
    try {
      const { tensors, times } = await this.#backend.infer(work.modelKey, work.tensors, { requestId: work.id });
      const serviceMs = performance.now() - startedMs;
      // The way into and out of the device's process counts with the transfers.
      const readbackMs = Math.max(0, serviceMs - times.uploadMs - times.computeMs);
      const { uploadMs, computeMs } = times;
      // What an attempt that was lost took is time that the request waited.
      const all = { queueMs: startedMs - work.arrivedMs, uploadMs, computeMs, readbackMs };
      work.resolve({
        tensors,
        times: all,
        rows: 1,
        backlogMs: this.#queue.size * serviceMs,
        ...(faults.length > 0 && { faults }),
      });
    } catch (error) {
      const isLost = error instanceof ProblemError && error.problem.code === "device-lost";
      if (!isLost || faults.length > 0) return work.reject(error);
      return this.#run(work, [{ code: "device-lost", detail: error.problem.detail, action: "retried" }]);
    }
  }
}
