import type { Breeding } from "../../../../kernels/rollout/breed.reference.ts";
import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";
import { addDispatch, RolloutProgram, storageUsage, uniformUsage } from "./rollout-program.ts";
import { compileBreeding } from "../../environments/compose-rollout.ts";
import type { MemberPart } from "./member-parts.ts";
import { partBlocks } from "./noise-pass.ts";

const LANES = 64;
const PLAN_BYTES = 48;

/** Members with the buffer of their weights. */
export interface PartWeights extends MemberPart {
  readonly weights: GPUBuffer;
}

/** Breeds generations on a device; see breed.wgsl. */
export class BreedPass {
  readonly #device: GPUDevice;
  readonly #pool: BufferPool;
  readonly #lanes: number;
  readonly #program: RolloutProgram;

  constructor({ device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool }, lanes = LANES) {
    this.#device = device;
    this.#pool = pool;
    this.#lanes = lanes;
    this.#program = new RolloutProgram(device, () => compileBreeding(device));
  }

  /** Next generation in new buffers, in the same parts; see `Population.breed`. */
  async breed(parts: readonly PartWeights[], breeding: Breeding, parameters: number): Promise<GPUBuffer[]> {
    const pipeline = await this.#program.pipeline("breed", this.#lanes);
    const parents = await this.#pool.acquireSurely(breeding.parents.byteLength, storageUsage());
    const plan = this.#pool.acquire(PLAN_BYTES, uniformUsage());
    this.#device.queue.writeBuffer(parents, 0, breeding.parents);
    const children: GPUBuffer[] = [];
    await withErrorScopes(this.#device, async () => {
      for (const part of parts) {
        const bred = await this.#pool.acquireSurely(4 * parameters * part.count, storageUsage());
        children.push(bred);
        for (const from of parts) {
          for (const { firstBlock, blocks } of partBlocks(parameters, part.count)) {
            this.#device.queue.writeBuffer(plan, 0, writePlan(part, from, breeding, parameters, firstBlock));
            const groups = [Math.ceil(part.count / this.#lanes), blocks] as const;
            this.#submit(pipeline, [plan, parents, from.weights, bred], groups);
          }
        }
      }
      await shareCoreUntil(this.#device.queue.onSubmittedWorkDone());
    });
    for (const buffer of [parents, plan]) this.#pool.release(buffer);
    return children;
  }

  #submit(pipeline: GPUComputePipeline, buffers: readonly GPUBuffer[], workgroups: readonly [number, number]): void {
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    addDispatch(this.#device, pass, pipeline, buffers, workgroups);
    pass.end();
    this.#device.queue.submit([encoder.finish()]);
  }
}

function writePlan(
  part: MemberPart,
  from: MemberPart,
  { seed, generation, elites, rate, sigma }: Breeding,
  parameters: number,
  firstBlock: number,
): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(PLAN_BYTES / 4);
  words.set([part.count, part.first, from.count, from.first, parameters, firstBlock, seed, generation, elites]);
  new Float32Array(words.buffer).set([rate, sigma], 9);
  return words;
}
