import type { KernelArrays } from "../../../kernels/kernel-spec.ts";
import { type KernelContext, prepareKernel } from "./dispatch.ts";
import type { KernelChoice } from "./resolve-benchmark.ts";
import { RunForecast } from "./run-forecast.ts";
import { type SlotAnswer, StagingSlot } from "./staging-slot.ts";

/** Slots that take turns, so that upload, compute and readback of neighbours overlap. */
export class StagingRing {
  readonly #context: KernelContext;
  readonly #choice: KernelChoice;
  readonly #inputs: KernelArrays;
  readonly #free: StagingSlot[] = [];
  readonly #inFlight: StagingSlot[] = [];
  readonly #forecast = new RunForecast();
  #depth = 0;
  #finishedAtMs = 0;

  constructor(context: KernelContext, choice: KernelChoice, inputs: KernelArrays) {
    this.#context = context;
    this.#choice = choice;
    this.#inputs = inputs;
  }

  /** Bytes that each submission moves to the device and back. */
  get bytes(): { readonly upload: number; readonly readBack: number } {
    const [slot] = [...this.#free, ...this.#inFlight];
    return { upload: slot?.uploadBytes ?? 0, readBack: slot?.readBackBytes ?? 0 };
  }

  /** Makes places for so many submissions. Fewer take effect as answers come. Fails like `prepareKernel`. */
  async resize(depth: number): Promise<void> {
    this.#depth = depth;
    while (this.#free.length + this.#inFlight.length < depth) this.#free.push(await this.#openSlot());
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
    const answer = await slot.finish(beginsAtMs + this.#forecast.expectMs(1) - performance.now());
    this.#inFlight.shift();
    this.#free.push(slot);
    this.#shrink();
    this.#finishedAtMs = performance.now();
    const ranMs = answer.span === null ? answer.latencyMs : (answer.span.endNs - answer.span.startNs) / 1e6;
    this.#forecast.note(1, ranMs);
    return answer;
  }

  /** Waits until the device is done with what is in flight and gives all buffers back. */
  async release(): Promise<void> {
    if (this.#inFlight.length > 0) await this.#context.device.queue.onSubmittedWorkDone();
    for (const slot of [...this.#inFlight.splice(0), ...this.#free.splice(0)]) slot.release();
  }

  async #openSlot(): Promise<StagingSlot> {
    const kernel = await prepareKernel(this.#context, this.#choice, this.#inputs);
    try {
      return await StagingSlot.open(this.#context, kernel);
    } catch (error) {
      kernel.release();
      throw error;
    }
  }

  #shrink(): void {
    while (this.#free.length > 0 && this.#free.length + this.#inFlight.length > this.#depth)
      this.#free.pop()?.release();
  }
}
