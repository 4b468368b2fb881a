import type { KernelArray } from "../../../kernels/kernel-spec.ts";
import type { DeviceOutput } from "./device-output.ts";
import type { KernelContext, PreparedKernel } from "./dispatch.ts";
import { readPieces } from "./readback.ts";
import { RunForecast } from "./run-forecast.ts";

/** A prepared kernel as it is asked for answers: runs and the readback of one output are one submission. */
export class KernelCall {
  readonly #context: KernelContext;
  readonly #kernel: PreparedKernel;
  readonly #output: DeviceOutput;
  readonly #forecast = new RunForecast();

  /** `output` names a `write` binding. */
  constructor(context: KernelContext, kernel: PreparedKernel, output: string) {
    const found = kernel.outputs.find(({ name }) => name === output);
    if (found === undefined) throw new TypeError(`there is no output '${output}'`);
    this.#context = context;
    this.#kernel = kernel;
    this.#output = found;
  }

  /** Runs back to back, once unless told otherwise, and gives the output as the last run left it, dense. */
  async run(runs = 1): Promise<KernelArray> {
    const { device, pool, traffic } = this.#context;
    const { pieces, sizeBytes } = this.#output;
    const startedAt = performance.now();
    const encoder = device.createCommandEncoder();
    for (let i = 0; i < runs; i++) this.#kernel.encodeInto(encoder);
    const expectedMs = this.#forecast.expectMs(runs);
    const bytes = await readPieces(device, pool, pieces, { encoder, expectedMs });
    if (traffic !== undefined) traffic.readBackBytes += sizeBytes;
    this.#forecast.note(runs, performance.now() - startedAt);
    return this.#output.unpack(bytes);
  }
}
