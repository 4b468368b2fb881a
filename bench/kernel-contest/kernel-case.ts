import type { KernelArrays, KernelShape, KernelSpec } from "../../kernels/kernel-spec.ts";
import { KERNELS } from "../../kernels/registry.ts";

/** One kernel at one shape, as every contender computes it. */
export interface KernelCase {
  readonly kernel: string;
  readonly shape: KernelShape;
  /**
   * `stream`: inputs lie where the contender computes, `runs` runs are issued back to back, and the last
   * output is read back. `round-trip`: every run brings its input from host memory and its output there.
   */
  readonly mode: "stream" | "round-trip";
  readonly runs: number;
}

export const SEED = 1;

export function specOf({ kernel }: KernelCase): KernelSpec {
  const spec = KERNELS.get(kernel);
  if (spec === undefined) throw new RangeError(`there is no kernel '${kernel}'`);
  return spec;
}

/** What every contender computes with, dense and row-major, by the names of the kernel's bindings. */
export function inputsOf(input: KernelCase): KernelArrays {
  return specOf(input).generate(input.shape, SEED);
}

/** What a round trip brings anew: a network's parameters stay. */
export function pickFresh({ input }: KernelArrays): KernelArrays {
  return input === undefined ? {} : { input };
}
