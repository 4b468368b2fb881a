import { philox4x32 } from "../../../../src/stats/random/draws.ts";

/** Shapes that latencies have, of a uniform number in (0, 1), in milliseconds. */
const SHAPES = {
  uniform: (u: number) => 1 + u,
  exponential: (u: number) => -5 * Math.log(u),
  heavy: (u: number) => 0.5 * u ** -1.2,
  bimodal: (u: number) => (u < 0.97 ? 2 + u / 10 : 80 + u),
  ties: (u: number) => Math.ceil(u * 7),
  constant: () => 3,
};

export type LatencyKind = keyof typeof SHAPES;

const KINDS = Object.keys(SHAPES) as LatencyKind[];

/**
 * Counts around those that p90, p99 and p99.9 need for t = 1, and beyond; at p90, 900 is the largest count that allows
 * under a hundred to be over.
 */
export const RECORDINGS = KINDS.flatMap((kind) => [1, 63, 64, 81, 661, 662, 900].map((count) => ({ kind, count })));

/** Latencies in the order in which they were recorded; the same for the same kind and count. */
export function recordLatencies(kind: LatencyKind, count: number): Float64Array<ArrayBuffer> {
  return Float64Array.from({ length: count }, (_, index) => {
    const [word] = philox4x32([index, 0, 0, 0], [count, KINDS.indexOf(kind)]);
    return SHAPES[kind]((word + 0.5) / 2 ** 32);
  });
}
