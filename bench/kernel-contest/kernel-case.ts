import type { KernelArrays } from "../../kernels/kernel-spec.ts";
import type { KernelAtShape } from "../kernel-at-shape.ts";

/** One kernel at one shape, as every contender computes it. */
export interface KernelCase extends KernelAtShape {
  /**
   * `stream`: inputs lie where the contender computes, `runs` runs are issued back to back, and the last
   * output is read back. `round-trip`: every run brings its input from host memory and its output there.
   */
  readonly mode: "stream" | "round-trip";
  readonly runs: number;
}

/** What a round trip brings anew: a network's parameters stay. */
export function pickFresh({ input }: KernelArrays): KernelArrays {
  return input === undefined ? {} : { input };
}
