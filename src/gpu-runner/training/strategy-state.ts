import type { StrategyState } from "./strategy.ts";

/** A copy of a vector that a strategy saved. Throws a `RangeError` where it is not there or not so long. */
export function readVector(saved: StrategyState, name: string, length: number): Float64Array<ArrayBuffer> {
  const vector = saved[name];
  if (vector?.length !== length) {
    throw new RangeError(`the saved state has ${vector?.length ?? "no"} numbers of '${name}', not ${length}`);
  }
  return Float64Array.from(vector);
}
