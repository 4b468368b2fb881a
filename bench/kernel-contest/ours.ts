import type { Contender } from "../contest.ts";
import { createOwnEntry } from "../create-own-entry.ts";
import { openOwnGpu, tuneChoice } from "../own-gpu.ts";
import { FRESH_INPUT, type KernelCase, runsOf } from "./kernel-case.ts";

/** The product's own kernel, tuned by the product's own search. */
export const contender: Contender<KernelCase> = async (input) => {
  const own = await openOwnGpu();
  const choice = await tuneChoice(own, input.kernel, input.shape);
  return createOwnEntry(own, choice, {
    runs: runsOf(input),
    fresh: input.mode === "round-trip" ? [FRESH_INPUT] : [],
  });
};
