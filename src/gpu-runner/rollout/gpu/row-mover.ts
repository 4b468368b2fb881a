import { MAX_GROUPS } from "../../../../kernels/webgpu-limits.ts";
import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { readBuffer } from "../../devices/gpu/readback.ts";
import { addDispatch, RolloutProgram, storageUsage, uniformUsage } from "./rollout-program.ts";
import { compileInterleave } from "../../environments/compose-rollout.ts";
import type { MemberPart } from "./member-parts.ts";

const LANES = 64;
/** Size of a piece in interleave.wgsl. */
const PIECE = 16;
/** Bytes of rows in transfer, in one buffer. */
const STAGED_BYTES = 2 ** 24;

/** Moves rows of members to and from the layout of a device; see interleave.wgsl. */
export class RowMover {
  readonly #device: GPUDevice;
  readonly #pool: BufferPool;
  readonly #parameters: number;
  readonly #program: RolloutProgram;

  constructor({ device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool }, parameters: number) {
    this.#device = device;
    this.#pool = pool;
    this.#parameters = parameters;
    this.#program = new RolloutProgram(device, () => compileInterleave(device));
  }

  /** Writes rows into a part's buffer; `first` is counted from the part's first member. */
  async write(
    { count }: MemberPart,
    weights: GPUBuffer,
    first: number,
    rows: Float32Array<ArrayBuffer>,
  ): Promise<void> {
    const pipeline = await this.#program.pipeline("interleave", LANES);
    await this.#staged(rows.length / this.#parameters, async (staging, from, some) => {
      this.#device.queue.writeBuffer(staging, 0, rows, from * this.#parameters, some * this.#parameters);
      this.#move(pipeline, staging, weights, { members: count, first: first + from, count: some });
    });
  }

  /** Reads this many rows of a part into `rows`. */
  async read({ count }: MemberPart, weights: GPUBuffer, first: number, rows: Float32Array<ArrayBuffer>): Promise<void> {
    const pipeline = await this.#program.pipeline("separate", LANES);
    await this.#staged(rows.length / this.#parameters, async (staging, from, some) => {
      this.#move(pipeline, staging, weights, { members: count, first: first + from, count: some });
      const bytes = await readBuffer(this.#device, this.#pool, staging, 4 * some * this.#parameters);
      rows.set(new Float32Array(bytes), from * this.#parameters);
    });
  }

  /** Moves rows in steps that fit into a buffer. */
  async #staged(count: number, step: (staging: GPUBuffer, from: number, some: number) => Promise<void>): Promise<void> {
    const each = Math.min(count, Math.max(1, Math.floor(STAGED_BYTES / (4 * this.#parameters))));
    if (each === 0) return;
    const staging = await this.#pool.acquireSurely(4 * each * this.#parameters, storageUsage());
    await withErrorScopes(this.#device, async () => {
      for (let from = 0; from < count; from += each) await step(staging, from, Math.min(each, count - from));
    });
    this.#pool.release(staging);
  }

  #move(
    pipeline: GPUComputePipeline,
    rows: GPUBuffer,
    weights: GPUBuffer,
    { members, first, count }: { readonly members: number; readonly first: number; readonly count: number },
  ): void {
    const plan = this.#pool.acquire(32, uniformUsage());
    const pieces = Math.ceil(this.#parameters / PIECE);
    for (let firstPiece = 0; firstPiece < pieces; firstPiece += MAX_GROUPS) {
      const words = [members, this.#parameters, first, count, firstPiece];
      this.#device.queue.writeBuffer(plan, 0, Uint32Array.from(words));
      const encoder = this.#device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      const groups = [Math.ceil(count / LANES), Math.min(MAX_GROUPS, pieces - firstPiece)] as const;
      addDispatch(this.#device, pass, pipeline, [plan, rows, weights], groups);
      pass.end();
      this.#device.queue.submit([encoder.finish()]);
    }
    // The queue runs submissions in order, so the next user of this buffer comes later.
    this.#pool.release(plan);
  }
}
