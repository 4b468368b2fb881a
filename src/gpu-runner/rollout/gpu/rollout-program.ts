import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";

/**
 * Usage of buffers that kernels read and write and the host fills and reads back. A function, since Dawn defines the
 * constants only when it opens.
 */
export function storageUsage(): GPUBufferUsageFlags {
  return GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
}

/** Usage of a few words that the host writes before a dispatch. */
export function uniformUsage(): GPUBufferUsageFlags {
  return GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
}

/** WGSL with a `lanes` override; its pipelines are made at their first use. */
export class RolloutProgram {
  readonly #device: GPUDevice;
  readonly #compile: () => Promise<GPUShaderModule>;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  #module: Promise<GPUShaderModule> | null = null;

  constructor(device: GPUDevice, compile: () => Promise<GPUShaderModule>) {
    this.#device = device;
    this.#compile = compile;
  }

  /** Pipeline of an entry point with this many lanes; null for one without a choice. Fails like `compileModule`. */
  pipeline(entryPoint: string, lanes: number | null): Promise<GPUComputePipeline> {
    const key = `${entryPoint} ${lanes}`;
    const known = this.#pipelines.get(key);
    if (known !== undefined) return known;
    const made = this.#make(entryPoint, lanes);
    this.#pipelines.set(key, made);
    return made;
  }

  async #make(entryPoint: string, lanes: number | null): Promise<GPUComputePipeline> {
    const module = await (this.#module ??= this.#compile());
    const compute = { module, entryPoint, ...(lanes !== null && { constants: { lanes } }) };
    return withErrorScopes(this.#device, () =>
      shareCoreUntil(this.#device.createComputePipelineAsync({ layout: "auto", compute })),
    );
  }
}

/**
 * Adds a dispatch to a pass. Buffers are in the order of the binding numbers; null for bindings that the entry point
 * does not use.
 */
export function addDispatch(
  device: GPUDevice,
  pass: GPUComputePassEncoder,
  pipeline: GPUComputePipeline,
  buffers: readonly (GPUBuffer | null)[],
  workgroups: readonly [number, number] | GPUBuffer,
): void {
  const entries = buffers.flatMap((buffer, binding) => (buffer === null ? [] : [{ binding, resource: { buffer } }]));
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  if (Array.isArray(workgroups)) pass.dispatchWorkgroups(workgroups[0], workgroups[1]);
  else pass.dispatchWorkgroupsIndirect(workgroups as GPUBuffer, 0);
}
