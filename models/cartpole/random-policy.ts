import type { Policy } from "./evaluate.ts";
import { philox4x32, STREAM } from "./philox.ts";

/** Pushes left or right with even odds, from Philox4x32-10 keyed by `seed` (u32): the baseline. */
export function randomPolicy(seed: number): Policy {
  let draw = 0;
  return () => (philox4x32([draw++, 0, 0, 0], [seed, STREAM.randomPolicy])[0] < 2 ** 31 ? 0 : 1);
}
