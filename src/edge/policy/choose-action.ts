import { philox4x32 } from "../../stats/philox.ts";
import type { ActionChoice } from "../../protocol/policy.ts";

/**
 * What a policy does by its outputs for one observation: the index of the largest (the first of
 * equals), an index drawn from their softmax, or the outputs themselves. A draw is a function of seed
 * and index, whatever was drawn before. Throws where the outputs have no largest, or are no numbers of JSON.
 */
export function chooseAction(
  choice: ActionChoice,
  outputs: readonly number[],
  seed: number,
  index: number,
): number | number[] {
  const largest = outputs.reduce((most, output) => Math.max(most, output), Number.NEGATIVE_INFINITY);
  if (!Number.isFinite(largest) || (choice === "raw" && !outputs.every(Number.isFinite))) {
    throw new RangeError("the outputs are not finite");
  }
  if (choice === "raw") return [...outputs];
  if (choice === "argmax") return outputs.indexOf(largest);
  // Less the largest, so that no exponential overflows.
  const weights = outputs.map((output) => Math.exp(output - largest));
  const [word] = philox4x32([index, Math.floor(index / 2 ** 32), 0, 0], [seed, 0]);
  let rest = (word / 2 ** 32) * weights.reduce((sum, weight) => sum + weight, 0);
  const drawn = weights.findIndex((weight) => (rest -= weight) < 0);
  return drawn < 0 ? outputs.indexOf(largest) : drawn;
}
