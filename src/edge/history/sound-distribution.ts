import type { Distribution } from "../../protocol/distribution.ts";
import { decodeSketch } from "../../stats/sketch.ts";

/** Whether a distribution holds something, and can be read and merged. */
export function isSoundDistribution({ count, min, max, sum, sketch }: Distribution): boolean {
  if (count === 0 || min > max || ![min, max, sum].every(Number.isFinite)) return false;
  try {
    return decodeSketch(sketch).count === count;
  } catch {
    return false;
  }
}
