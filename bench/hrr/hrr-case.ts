import { hrrBind } from "../../kernels/hrr-bind/hrr-bind.kernel.ts";
import type { Entry } from "../contest.ts";
import { SEED } from "../kernel-at-shape.ts";

/** Pairs of vectors of one dimension, bound in one call. */
export interface HrrCase {
  readonly dimension: number;
  readonly pairs: number;
}

export interface Vectors {
  readonly a: Float32Array<ArrayBuffer>;
  readonly b: Float32Array<ArrayBuffer>;
}

/** The vectors that every contender binds, pair after pair. */
export function createVectors(shape: HrrCase): Vectors {
  return hrrBind.generate({ ...shape }, SEED) as unknown as Vectors;
}

/** Converts an entry's milliseconds of a call to bindings per second. */
export function countBinds(entry: Entry, { pairs }: HrrCase): Entry {
  return {
    ...entry,
    async measure() {
      const { time = Number.NaN } = await entry.measure();
      return { bind: (1e3 * pairs) / time };
    },
  };
}
