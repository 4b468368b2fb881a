import { hrrBind } from "../../kernels/hrr-bind/hrr-bind.kernel.ts";
import { createBatchEntry } from "../batch-entry.ts";
import type { Entry, Opened } from "../contest.ts";
import { SEED } from "../kernel-at-shape.ts";

/** So many pairs of vectors of a dimension, bound in one call. */
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

/** An entry whose metric `bind` is bindings per second: `run` does the whole case and gives all results in host memory. */
export async function createBindEntry(
  run: () => Promise<Float32Array>,
  { pairs }: HrrCase,
  about: Omit<Opened, "output">,
): Promise<Entry> {
  const entry = await createBatchEntry(run, 1, about);
  const measure = async () => ({ bind: (1e3 * pairs) / ((await entry.measure())["time"] ?? Number.NaN) });
  return { ...entry, measure };
}
