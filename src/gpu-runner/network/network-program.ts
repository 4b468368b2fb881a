import { readFile } from "node:fs/promises";
import { withErrorScopes } from "../gpu/error-scopes.ts";
import { compileParts } from "../rollout/compose-rollout.ts";

const FOLDER = new URL("../../../kernels/network/", import.meta.url);
const FILES = ["finish", "weights", "map", "convolve", "dense", "reduce", "recur", "network"];

/** What a pipeline is made for: `override`s of the program. */
export type ProgramConstants = Readonly<Record<string, number>>;

/** The program that runs networks, compiled once for all that have the same kinds of operators, and what it binds. */
export class NetworkProgram {
  readonly layout: GPUBindGroupLayout;
  readonly #device: GPUDevice;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  #module: Promise<GPUShaderModule> | undefined;

  constructor(device: GPUDevice) {
    this.#device = device;
    const types: GPUBufferBindingType[] = ["uniform", "read-only-storage", "read-only-storage", "storage", "storage"];
    this.layout = device.createBindGroupLayout({
      entries: types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
    });
  }

  /** Fails with `kernel-invalid` where the device does not take so many lanes. */
  pipelineFor(constants: ProgramConstants): Promise<GPUComputePipeline> {
    const key = JSON.stringify(constants);
    const known = this.#pipelines.get(key);
    if (known !== undefined) return known;
    const made = this.#compile(constants);
    this.#pipelines.set(key, made);
    made.catch(() => this.#pipelines.delete(key));
    return made;
  }

  async #compile(constants: ProgramConstants): Promise<GPUComputePipeline> {
    this.#module ??= loadModule(this.#device);
    const module = await this.#module;
    return withErrorScopes(this.#device, () =>
      this.#device.createComputePipelineAsync({
        label: "network",
        layout: this.#device.createPipelineLayout({ bindGroupLayouts: [this.layout] }),
        compute: { module, entryPoint: "main", constants },
      }),
    );
  }
}

async function loadModule(device: GPUDevice): Promise<GPUShaderModule> {
  const parts = FILES.map(async (name) => {
    const file = `${name}.wgsl`;
    return { file, code: await readFile(new URL(file, FOLDER), "utf8") };
  });
  return compileParts(device, await Promise.all(parts));
}
