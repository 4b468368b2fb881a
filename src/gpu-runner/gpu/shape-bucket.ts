import type { KernelShape } from "../../../kernels/kernel-spec.ts";

/** Up to here sizes stand for themselves: many are choices (an activation, a stride) and no extents. */
const EXACT = 8;

/** The shapes that share a tuning: larger sizes are rounded to the nearest power of two, by their ratio. */
export function bucketShape(shape: KernelShape): Record<string, number> {
  return Object.fromEntries(
    Object.entries(shape).map(([name, size]) => [name, size <= EXACT ? size : 2 ** Math.round(Math.log2(size))]),
  );
}
