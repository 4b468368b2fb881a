import { hrrBind } from "../../kernels/hrr-bind/hrr-bind.kernel.ts";
import type { Contender } from "../contest.ts";
import { createOwnEntry } from "../create-own-entry.ts";
import { openOwnGpu, tuneChoice } from "../own-gpu.ts";
import { countBinds, type HrrCase } from "./hrr-case.ts";

/** Values of a in a trial: a hopeless choice could need minutes for the whole case. */
const TRIAL_VALUES = 2 ** 16;

/** The product's own kernel, tuned; vectors go up and results come back each time. */
export const contender: Contender<HrrCase> = async ({ dimension, pairs }) => {
  const own = await openOwnGpu();
  const trial = { dimension, pairs: Math.min(pairs, Math.ceil(TRIAL_VALUES / dimension)) };
  const shape = { dimension, pairs };
  const choice = { ...(await tuneChoice(own, hrrBind.name, trial)), shape };
  return countBinds(await createOwnEntry(own, choice, { runs: 1, fresh: ["a", "b"] }), shape);
};
