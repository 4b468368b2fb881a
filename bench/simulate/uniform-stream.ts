import { sfc32 } from "../../src/stats/random/seeded.ts";

/** Numbers in [0, 1): the same for the same seed and purpose, regardless of draws for other purposes. */
export function uniformStream(seed: number, purpose: number): () => number {
  const draw = sfc32(Math.imul(seed, 0x9e3779b1) ^ Math.imul(purpose + 1, 0x85ebca6b));
  return () => draw(2 ** 32) * 2 ** -32;
}

/** Time from one event of a Poisson process to the next. */
export function exponential(uniform: () => number, meanMs: number): number {
  return -Math.log(1 - uniform()) * meanMs;
}
