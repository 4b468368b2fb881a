import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** One step of each path, on 32-bit integers. */
const PATHS: readonly ((x: number) => number)[] = [
  (x) => Math.imul(x, 1664525) + 1013904223,
  (x) => x ^ (x << 13),
  (x) => x ^ (x >>> 7),
  (x) => Math.imul(x ^ 0x5bd1e995, 0x2c1b3c6d),
  (x) => (x << 5) | (x >>> 27),
  (x) => ~x - (x << 3),
  (x) => x - (x >>> 3) + 12345,
  (x) => Math.imul(x, x | 1),
];

/** y[i] = x[i] after `steps` steps of path i modulo `paths`. */
export function divergenceReference(
  inputs: KernelArrays,
  { n, paths, steps }: KernelShape<"n" | "paths" | "steps">,
): KernelReference {
  const { x } = inputs as { x: Int32Array };
  return {
    output: "y",
    length: n,
    elementFlops: 3 * steps,
    element(index) {
      const step = PATHS[index % paths]!;
      let value = x[index]!;
      for (let i = 0; i < steps; i++) value = step(value) | 0;
      return value;
    },
  };
}
