import type { KernelDimension } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";

/** How many pairs of vectors one call takes. */
export const pairsDimension: KernelDimension<"pairs"> = {
  name: "pairs",
  description: "Pairs of vectors",
  min: 1,
  max: MAX_GROUPS,
  default: 256,
};

/** How long vectors may be: half of the longest, as complex numbers, fills a workgroup memory of 32 KiB. */
export const vectorDimension: KernelDimension<"dimension"> = {
  name: "dimension",
  description: "Values of a vector",
  min: 1,
  max: 8192,
  default: 1024,
};

/** Vectors in a row with independent values of variance 1/d, so that each has a length near 1. */
export function generateVectors(
  seed: number,
  stream: number,
  count: number,
  dimension: number,
): Float32Array<ArrayBuffer> {
  return seededUniform(seed, stream, count * dimension, Math.sqrt(3 / dimension));
}

/**
 * About how many times shorter than the others the shortest of `count` random sums of `dimension` values is. A single
 * value keeps only its sign, so generators keep sums away from zero, where rounding would decide on the sign.
 */
export function shorten(count: number, dimension: number): number {
  return dimension === 1 ? 1 : count ** (1 / dimension);
}
