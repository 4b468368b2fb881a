import type { KernelArray, KernelArrays } from "../../../../kernels/kernel-spec.ts";
import { copyPieces, readStaging } from "../../devices/gpu/readback.ts";
import { GpuTimer, parseTicks, TICKS_BYTES } from "../../devices/gpu/timer.ts";
import { RunForecast } from "../../devices/gpu/wait-for-gpu.ts";
import { type KernelContext, type PreparedKernel, prepareKernel } from "../dispatch/dispatch.ts";
import type { KernelChoice } from "../dispatch/resolve-benchmark.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";

/** Time span of a pass, on the GPU's clock. */
export interface PassSpan {
  readonly startNs: number;
  readonly endNs: number;
}

/**
 * Share of a window in which at least one pass ran: length of the union of the spans inside it, over the window's
 * length. The spans are in order of their starts. 0 for an empty window.
 */
export function busyShare(spans: readonly PassSpan[], fromNs: number, toNs: number): number {
  let busyNs = 0;
  let coveredToNs = fromNs;
  for (const { startNs, endNs } of spans) {
    const beginNs = Math.max(startNs, coveredToNs);
    const finishNs = Math.min(endNs, toNs);
    if (finishNs <= beginNs) continue;
    busyNs += finishNs - beginNs;
    coveredToNs = finishNs;
  }
  return toNs > fromNs ? busyNs / (toNs - fromNs) : 0;
}

/** Answer of one submission. */
export interface SlotAnswer {
  /** In the order of the kernel's outputs. */
  readonly outputs: readonly KernelArray[];
  /** Null on a device without timestamps. */
  readonly span: PassSpan | null;
  /** From submission to the answer in host memory, on the monotonic clock. */
  readonly latencyMs: number;
}

/**
 * Slot of a staging ring: a kernel with its own buffers, and a staging buffer that receives its timestamps and outputs
 * in the same submission. While the device computes in one slot, others are filled and emptied.
 */
class StagingSlot {
  readonly #context: KernelContext;
  readonly #kernel: PreparedKernel;
  readonly #staging: GPUBuffer;
  readonly #timer: GpuTimer | null;
  #submittedAtMs = 0;

  private constructor(context: KernelContext, kernel: PreparedKernel, staging: GPUBuffer) {
    const { device, pool } = context;
    this.#context = context;
    this.#kernel = kernel;
    this.#staging = staging;
    this.#timer = device.features.has("timestamp-query") ? new GpuTimer(device, pool) : null;
  }

  /** Opens a slot that owns a kernel from then on. Fails with `out-of-memory`. */
  static async open(context: KernelContext, kernel: PreparedKernel): Promise<StagingSlot> {
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    const staging = await context.pool.acquireSurely(TICKS_BYTES + outputBytesOf(kernel), usage);
    return new StagingSlot(context, kernel, staging);
  }

  get submittedAtMs(): number {
    return this.#submittedAtMs;
  }

  get uploadBytes(): number {
    return this.#kernel.uploadBytes;
  }

  get readBackBytes(): number {
    return outputBytesOf(this.#kernel);
  }

  /** Uploads, computes and copies back in one submission. The slot is busy until `finish`. */
  submit(inputs: KernelArrays): void {
    const { device } = this.#context;
    this.#submittedAtMs = performance.now();
    this.#kernel.upload(inputs);
    const encoder = device.createCommandEncoder();
    this.#kernel.encodeInto(encoder, this.#timer?.timestampWrites);
    const ticks = this.#timer === null ? [] : [this.#timer.resolve(encoder)];
    copyPieces(encoder, [...ticks, ...this.#kernel.outputs.flatMap(({ pieces }) => pieces)], this.#staging);
    device.queue.submit([encoder.finish()]);
  }

  /** Waits for the answer, which is expected in this many milliseconds. */
  async finish(expectedMs: number): Promise<SlotAnswer> {
    const ticksBytes = this.#timer === null ? 0 : TICKS_BYTES;
    const bytes = await readStaging(this.#staging, ticksBytes + this.readBackBytes, expectedMs);
    const latencyMs = performance.now() - this.#submittedAtMs;
    let offset = ticksBytes;
    const outputs = this.#kernel.outputs.map((output) => {
      const from = offset;
      offset += output.sizeBytes;
      return output.unpack(bytes.slice(from, offset));
    });
    return { outputs, span: this.#timer === null ? null : toSpan(bytes), latencyMs };
  }

  /** Releases all buffers; nothing may be in flight. */
  release(): void {
    this.#kernel.release();
    // After a failed wait the buffer may still be mapped.
    this.#context.pool.discard(this.#staging);
    this.#timer?.destroy();
  }
}

function outputBytesOf({ outputs }: PreparedKernel): number {
  return outputs.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
}

function toSpan(bytes: ArrayBuffer): PassSpan {
  const { beginNs, endNs } = parseTicks(bytes);
  return { startNs: Number(beginNs), endNs: Number(endNs) };
}

/** Slots in turn, so that upload, compute and readback of neighbours overlap. */
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

  /** Bytes that each submission uploads and reads back. */
  get bytes(): { readonly upload: number; readonly readBack: number } {
    const [slot] = [...this.#free, ...this.#inFlight];
    return { upload: slot?.uploadBytes ?? 0, readBack: slot?.readBackBytes ?? 0 };
  }

  /** Sets the number of slots. A smaller number takes effect as answers arrive. Fails like `prepareKernel`. */
  async resize(depth: number): Promise<void> {
    this.#depth = depth;
    while (this.#free.length + this.#inFlight.length < depth) this.#free.push(await this.#openSlot());
    this.#shrink();
  }

  /** Submits into every free slot. */
  fill(): void {
    for (let slot = this.#free.shift(); slot !== undefined; slot = this.#free.shift()) {
      slot.submit(this.#inputs);
      this.#inFlight.push(slot);
    }
  }

  /** Answer of the oldest submission; something must be in flight. */
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

  /** Waits for all work in flight and releases all buffers. */
  async release(): Promise<void> {
    if (this.#inFlight.length > 0) await shareCoreUntil(this.#context.device.queue.onSubmittedWorkDone());
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
