import { philox4x32 } from "./philox.ts";

/**
 * Times of a Poisson process in milliseconds from the start, without end: gaps are exponential, drawn by inversion
 * from a counter-based generator, so that a seed always means the same trace.
 */
export function* drawPoissonArrivals(ratePerSecond: number, seed: number): Generator<number, never> {
  for (let index = 0, atMs = 0; ; index++) {
    const [word] = philox4x32([index, 0, 0, 0], [seed, 0]);
    // In (0, 1): the logarithm is finite.
    atMs -= (Math.log((word + 0.5) / 2 ** 32) / ratePerSecond) * 1e3;
    yield atMs;
  }
}
