import { type NoiseKey, pairUtilities, partDraws } from "../../../../kernels/rollout/noise.reference.ts";
import { MAX_GROUPS } from "../../../../kernels/webgpu-limits.ts";
import type { BufferPool } from "../../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { readBuffer } from "../../devices/gpu/readback.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";
import { compileNoise } from "../../environments/compose-rollout.ts";
import type { MemberPart } from "./member-parts.ts";
import { addDispatch, RolloutProgram, storageUsage, uniformUsage } from "./rollout-program.ts";

const LANES = 64;
/** Blocks of noise per dispatch: some hundred milliseconds on a software device. */
const DISPATCH_BLOCKS = 2 ** 21;

/** Noise of populations on a device; see noise.wgsl. */
export class NoisePass {
  readonly #device: GPUDevice;
  readonly #pool: BufferPool;
  readonly #perturb: RolloutProgram;
  readonly #recombine: RolloutProgram;

  constructor({ device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool }) {
    this.#device = device;
    this.#pool = pool;
    this.#perturb = new RolloutProgram(device, () => compileNoise(device, "perturb.wgsl"));
    this.#recombine = new RolloutProgram(device, () => compileNoise(device, "recombine.wgsl"));
  }

  /** Redraws the members of a part around a mean; see `Population.perturb`. */
  async perturb(
    { first, count }: MemberPart,
    weights: GPUBuffer,
    {
      seed,
      generation,
      mirrored,
      mean,
      sigma,
    }: NoiseKey & { readonly mean: Float32Array; readonly sigma: Float32Array },
  ): Promise<void> {
    const pipeline = await this.#perturb.pipeline("perturb", LANES);
    const means = this.#upload(mean);
    const sigmas = this.#upload(sigma);
    const plan = this.#pool.acquire(32, uniformUsage());
    const draws = mirrored ? Math.ceil(count / 2) : count;
    await withErrorScopes(this.#device, async () => {
      for (const { firstBlock, blocks } of partBlocks(mean.length, draws)) {
        const words = [count, first, mean.length, firstBlock, seed, generation, mirrored ? 1 : 0];
        this.#device.queue.writeBuffer(plan, 0, Uint32Array.from(words));
        this.#submit(pipeline, [plan, means, sigmas, weights], [Math.ceil(draws / LANES), blocks]);
      }
      await shareCoreUntil(this.#device.queue.onSubmittedWorkDone());
    });
    for (const buffer of [means, sigmas, plan]) this.#pool.release(buffer);
  }

  /** Sums over members of utility · noise and of utility · noise²; see `Population.recombine`. */
  async recombine(
    { seed, generation, mirrored, utilities }: NoiseKey & { readonly utilities: Float32Array },
    parameters: number,
  ): Promise<{ readonly sums: Float32Array<ArrayBuffer>; readonly squares: Float32Array<ArrayBuffer> }> {
    const [spansPipeline, partialsPipeline] = await Promise.all([
      this.#recombine.pipeline("sum_spans", LANES),
      this.#recombine.pipeline("sum_partials", LANES),
    ]);
    const factors = pairUtilities(utilities, mirrored);
    const draws = factors.length / 2;
    const { spans, drawsOfSpan } = partDraws(draws);
    const uploaded = this.#upload(factors);
    const partials = await this.#pool.acquireSurely(8 * parameters * spans, storageUsage());
    const sums = this.#pool.acquire(8 * parameters, storageUsage());
    const plan = this.#pool.acquire(32, uniformUsage());
    const moments = await withErrorScopes(this.#device, async () => {
      for (const { firstBlock, blocks } of partBlocks(parameters, draws)) {
        const words = [draws, drawsOfSpan, spans, parameters, firstBlock, seed, generation];
        this.#device.queue.writeBuffer(plan, 0, Uint32Array.from(words));
        this.#submit(spansPipeline, [plan, uploaded, partials], [Math.ceil(spans / LANES), blocks]);
      }
      const groups = Math.ceil(parameters / LANES);
      const rows = Math.ceil(groups / MAX_GROUPS);
      this.#submit(partialsPipeline, [plan, null, partials, sums], [Math.ceil(groups / rows), rows]);
      return new Float32Array(await readBuffer(this.#device, this.#pool, sums, 8 * parameters));
    });
    for (const buffer of [uploaded, partials, sums, plan]) this.#pool.release(buffer);
    return {
      sums: Float32Array.from({ length: parameters }, (_, parameter) => moments[2 * parameter]!),
      squares: Float32Array.from({ length: parameters }, (_, parameter) => moments[2 * parameter + 1]!),
    };
  }

  #upload(numbers: Float32Array): GPUBuffer {
    const buffer = this.#pool.acquire(numbers.byteLength, storageUsage());
    this.#device.queue.writeBuffer(buffer, 0, Float32Array.from(numbers));
    return buffer;
  }

  #submit(pipeline: GPUComputePipeline, buffers: (GPUBuffer | null)[], workgroups: readonly [number, number]): void {
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    addDispatch(this.#device, pass, pipeline, buffers, workgroups);
    pass.end();
    this.#device.queue.submit([encoder.finish()]);
  }
}

/** Blocks of four parameters, limited per dispatch so that no watchdog ends it. */
export function partBlocks(
  parameters: number,
  draws: number,
): { readonly firstBlock: number; readonly blocks: number }[] {
  const all = Math.ceil(parameters / 4);
  const most = Math.min(MAX_GROUPS, Math.max(1, Math.floor(DISPATCH_BLOCKS / draws)));
  return Array.from({ length: Math.ceil(all / most) }, (_, index) => ({
    firstBlock: index * most,
    blocks: Math.min(most, all - index * most),
  }));
}
