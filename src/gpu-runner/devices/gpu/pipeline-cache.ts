import type { KernelSpec, KernelVariant } from "../../../../kernels/kernel-spec.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { withErrorScopes } from "./error-scopes.ts";
import { loadKernelModule } from "./kernel-loader.ts";
import { shareCoreUntil } from "./wait-for-gpu.ts";

/** A pipeline as the cache of pipelines knows it. */
export interface UsedPipeline {
  readonly kernel: string;
  readonly variant: string;
  readonly constants: Readonly<Record<string, number>>;
}

/** Variant compiled with all its numbers: a pipeline for each pass, and their common layout. */
export interface CompiledKernel {
  readonly layout: GPUBindGroupLayout;
  readonly pipelines: readonly GPUComputePipeline[];
}

/** Compiled kernels of one device by kernel, variant and numbers; the least recently used is dropped first. */
export class PipelineCache {
  readonly counters = { hits: 0, misses: 0, compileMs: 0 };
  readonly #device: GPUDevice;
  readonly #capacity: number;
  readonly #onUsed: (pipeline: UsedPipeline) => unknown;
  readonly #modules = new Map<string, Promise<GPUShaderModule>>();
  readonly #kernels = new Map<string, Promise<CompiledKernel>>();

  /** `onUsed` receives every kernel that is compiled or found here. */
  constructor(device: GPUDevice, onUsed: (pipeline: UsedPipeline) => unknown = () => {}, capacity = 256) {
    this.#device = device;
    this.#onUsed = onUsed;
    this.#capacity = capacity;
  }

  /** Fails with `kernel-invalid` where the device rejects the WGSL or its numbers. */
  compile(
    spec: KernelSpec,
    variant: KernelVariant,
    constants: Readonly<Record<string, number>>,
  ): Promise<CompiledKernel> {
    const numbers = Object.entries(constants).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify([spec.name, variant.name, numbers]);
    const known = this.#kernels.get(key);
    this.#kernels.delete(key);
    const kernel = known ?? this.#compile(spec, variant, constants);
    this.counters[known === undefined ? "misses" : "hits"]++;
    this.#kernels.set(key, kernel);
    // A failure is not kept: the next caller gets its own.
    kernel.then(
      () => this.#onUsed({ kernel: spec.name, variant: variant.name, constants }),
      () => this.#kernels.delete(key),
    );
    const oldest = this.#kernels.keys().next();
    if (this.#kernels.size > this.#capacity && !oldest.done) this.#kernels.delete(oldest.value);
    return kernel;
  }

  async #compile(
    spec: KernelSpec,
    variant: KernelVariant,
    constants: Readonly<Record<string, number>>,
  ): Promise<CompiledKernel> {
    const startedAt = performance.now();
    const module = await this.#loadModule(spec, variant);
    const compiled = await withErrorScopes(this.#device, async () => {
      const layout = createLayout(this.#device, spec);
      const pipelineLayout = this.#device.createPipelineLayout({ bindGroupLayouts: [layout] });
      const pipelines: GPUComputePipeline[] = [];
      for (const { entryPoint } of variant.passes) {
        const label = `${spec.name}/${variant.name}/${entryPoint}`;
        const compute = { module, entryPoint, constants };
        const pipeline = this.#device.createComputePipelineAsync({ label, layout: pipelineLayout, compute });
        // A software device compiles on another thread, for seconds at worst.
        pipelines.push(
          await shareCoreUntil(pipeline).catch((error: Error) =>
            Promise.reject(new ProblemError("kernel-invalid", error.message)),
          ),
        );
      }
      return { layout, pipelines };
    });
    this.counters.compileMs += performance.now() - startedAt;
    return compiled;
  }

  #loadModule(spec: KernelSpec, variant: KernelVariant): Promise<GPUShaderModule> {
    const key = `${spec.name}/${variant.file}`;
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    const module = loadKernelModule(this.#device, spec, variant);
    this.#modules.set(key, module);
    module.catch(() => this.#modules.delete(key));
    return module;
  }
}

/** Explicit, since an automatic layout drops the bindings that a pass does not use. */
function createLayout(device: GPUDevice, spec: KernelSpec): GPUBindGroupLayout {
  const types: GPUBufferBindingType[] = [
    "uniform",
    ...spec.bindings.map(({ access }) => (access === "read" ? "read-only-storage" : "storage")),
  ];
  return device.createBindGroupLayout({
    entries: types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
  });
}

/** Compiles pipelines of an earlier process of this device; errors are left to their next caller. */
export async function warmPipelines(
  cache: PipelineCache,
  kernels: ReadonlyMap<string, KernelSpec>,
  pipelines: readonly UsedPipeline[],
): Promise<null> {
  for (const { kernel, variant, constants } of pipelines) {
    const spec = kernels.get(kernel);
    const structure = spec?.variants.find(({ name }) => name === variant);
    if (spec !== undefined && structure !== undefined) await cache.compile(spec, structure, constants).catch(() => {});
  }
  return null;
}
