import { resolveBenchmark } from "../../src/gpu-runner/kernels/dispatch/resolve-benchmark.ts";
import type { Contender } from "../contest.ts";
import { createOwnEntry } from "../create-own-entry.ts";
import { openOwnGpu } from "../own-gpu.ts";
import type { ChoiceCase } from "./tuner-case.ts";

/** One of our kernels with one choice of variant and axes. */
export const contender: Contender<ChoiceCase> = async ({ kernel, shape, choice, runs }) => {
  const { variant, axes = {} } = choice;
  const request = { kernel, shape, dtype: "float32", ...(variant !== undefined && { variant }) } as const;
  const own = await openOwnGpu();
  return createOwnEntry(own, resolveBenchmark(own.kernels, request, axes), { runs, fresh: [] });
};
