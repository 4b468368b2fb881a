import type { KernelArrays } from "../../../kernels/kernel-spec.ts";
import { type KernelContext, prepareKernel } from "./dispatch.ts";
import type { KernelChoice } from "./resolve-benchmark.ts";
import { type SlotAnswer, StagingSlot } from "./staging-slot.ts";

/** Share of the shortest run that is slept before its answer is polled for. */
const NAP_SHARE = 0.85;

/** Slots that take turns, so that upload, compute and readback of neighbours overlap. */
export class StagingRing {
  readonly #context: KernelContext;
  readonly #choice: KernelChoice;
  readonly #inputs: KernelArrays;
  readonly #free: StagingSlot[] = [];
  readonly #inFlight: StagingSlot[] = [];
  #depth = 0;
  #shortestMs = Number.POSITIVE_INFINITY;
  #finishedAtMs = 0;

  constructor(context: KernelContext, choice: KernelChoice, inputs: KernelArrays) {
    this.#context = context;
    this.#choice = choice;
    this.#inputs = inputs;
  }

  get inFlight(): number {
    return this.#inFlight.length;
  }

  /** Bytes that each submission moves to the device and back. */
  get bytes(): { readonly upload: number; readonly readBack: number } {
    const [slot] = [...this.#free, ...this.#inFlight];
    return { upload: slot?.uploadBytes ?? 0, readBack: slot?.readBackBytes ?? 0 };
  }

  /** Makes places for so many submissions. Fewer take effect as answers come. Fails like `prepareKernel`. */
  async resize(depth: number): Promise<void> {
    this.#depth = depth;
    while (this.#free.length + this.#inFlight.length < depth) {
      this.#free.push(new StagingSlot(this.#context, await prepareKernel(this.#context, this.#choice, this.#inputs)));
    }
    this.#shrink();
  }

  /** Submits into every free place. */
  fill(): void {
    for (let slot = this.#free.shift(); slot !== undefined; slot = this.#free.shift()) {
      slot.submit(this.#inputs);
      this.#inFlight.push(slot);
    }
  }

  /** The oldest submission's answer. Something is in flight. */
  async next(): Promise<SlotAnswer> {
    const slot = this.#inFlight[0];
    if (slot === undefined) throw new TypeError("nothing is in flight");
    const beginsAtMs = Math.max(slot.submittedAtMs, this.#finishedAtMs);
    const napMs = Number.isFinite(this.#shortestMs) ? NAP_SHARE * this.#shortestMs : 0;
    const answer = await slot.finish(beginsAtMs + napMs);
    this.#inFlight.shift();
    this.#free.push(slot);
    this.#shrink();
    this.#finishedAtMs = performance.now();
    const ranMs = answer.span === null ? answer.latencyMs : (answer.span.endNs - answer.span.startNs) / 1e6;
    this.#shortestMs = Math.min(this.#shortestMs, ranMs);
    return answer;
  }

  /** Waits for what is in flight and gives all buffers back. */
  async release(): Promise<void> {
    while (this.#inFlight.length > 0) await this.next();
    for (const slot of this.#free.splice(0)) slot.release();
  }

  #shrink(): void {
    while (this.#free.length > 0 && this.#free.length + this.#inFlight.length > this.#depth)
      this.#free.pop()?.release();
  }
}
