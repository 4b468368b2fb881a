import { seededUniform } from "../seeded-uniform.ts";

/** Vectors in a row with independent values of variance 1/d, so that each has a length near 1. */
export function generateVectors(
  seed: number,
  stream: number,
  count: number,
  dimension: number,
): Float32Array<ArrayBuffer> {
  return seededUniform(seed, stream, count * dimension, Math.sqrt(3 / dimension));
}
