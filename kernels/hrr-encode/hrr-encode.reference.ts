import { normalQuantile } from "../../src/stats/distribution/normal.ts";
import { philox4x32 } from "../../src/stats/random/draws.ts";
import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type HrrEncodeSize = "symbols" | "dimension";

const DRAWS = 2 ** 24;

/** vectors[symbols × dimension]: normal of variance 1/d by Philox with each symbol's key, in f64. */
export function hrrEncodeReference(
  arrays: KernelArrays,
  { symbols, dimension }: KernelShape<HrrEncodeSize>,
): KernelReference {
  const { keys } = arrays as { keys: Int32Array };
  return {
    output: "vectors",
    length: symbols * dimension,
    elementFlops: 300,
    element(index) {
      const symbol = Math.floor(index / dimension);
      const number = index % dimension;
      const words = philox4x32([Math.floor(number / 4), 0, 0, 0], [keys[2 * symbol]!, keys[2 * symbol + 1]!]);
      return normalQuantile(((words[number % 4]! >>> 8) + 0.5) / DRAWS) / Math.sqrt(dimension);
    },
  };
}
