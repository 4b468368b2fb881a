import type { KernelArray } from "../kernels/kernel-spec.ts";
import type { DeviceOutput } from "../src/gpu-runner/kernels/dispatch/device-output.ts";
import type { KernelContext, PreparedKernel } from "../src/gpu-runner/kernels/dispatch/dispatch.ts";
import { readPieces } from "../src/gpu-runner/devices/gpu/readback.ts";
import { RunForecast } from "../src/gpu-runner/devices/gpu/wait-for-gpu.ts";

/** Calls of a prepared kernel: runs and the readback of its outputs are one submission. */
export class KernelCall {
  readonly #context: KernelContext;
  readonly #kernel: PreparedKernel;
  readonly #outputs: readonly DeviceOutput[];
  readonly #forecast = new RunForecast();

  /** `outputs` names `write` bindings. */
  constructor(context: KernelContext, kernel: PreparedKernel, outputs: readonly string[]) {
    this.#context = context;
    this.#kernel = kernel;
    this.#outputs = outputs.map((output) => {
      const found = kernel.outputs.find(({ name }) => name === output);
      if (found === undefined) throw new TypeError(`there is no output '${output}'`);
      return found;
    });
  }

  /** Runs back to back, and returns the dense outputs of the last run. */
  async run(runs: number): Promise<KernelArray[]> {
    const { device, pool } = this.#context;
    const startedAt = performance.now();
    const encoder = device.createCommandEncoder();
    for (let i = 0; i < runs; i++) this.#kernel.encodeInto(encoder);
    const expectedMs = this.#forecast.expectMs(runs);
    const pieces = this.#outputs.flatMap((output) => output.pieces);
    const bytes = await readPieces(device, pool, pieces, { encoder, expectedMs });
    this.#forecast.note(runs, performance.now() - startedAt);
    return this.#unpack(bytes);
  }

  #unpack(bytes: ArrayBuffer): KernelArray[] {
    const [only] = this.#outputs;
    if (this.#outputs.length === 1 && only !== undefined) return [only.unpack(bytes)];
    let offset = 0;
    return this.#outputs.map((output) => output.unpack(bytes.slice(offset, (offset += output.sizeBytes))));
  }
}
