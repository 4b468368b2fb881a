import { pino } from "pino";
import { SUCCESSIVE_HALVING, type TunerSettings } from "../../src/gpu-runner/kernels/tuning/tuner.ts";
import { DeviceChild } from "../../src/gpu-runner/device-host/device-child.ts";
import { KernelTuningSpec } from "../../src/protocol/jobs/tuning.ts";
import type { Choice, TunerCase } from "./tuner-case.ts";

/** Result of a search and its cost. */
export interface SearchOutcome {
  readonly best: Choice;
  /** Number of timed runs. */
  readonly runs: number;
  readonly spentMs: number;
  readonly complete: boolean;
}

/** Times every candidate as often as successive halving times its last two. */
export const EXHAUSTIVE: TunerSettings = {
  ...SUCCESSIVE_HALVING,
  slowFactor: Number.POSITIVE_INFINITY,
  firstRounds: SUCCESSIVE_HALVING.lastRounds,
  keep: 0,
};

const BUDGET_MS = 60_000;
const EXHAUSTIVE_BUDGET_MS = 600_000;
const GRACE_MS = 120_000;

/** Searches in its own process, with nothing compiled yet: like a runner's first search. */
export async function searchKernel(
  environment: Readonly<Record<string, string>>,
  { kernel, shape }: TunerCase,
  settings: TunerSettings,
): Promise<SearchOutcome> {
  const budgetMs = settings === EXHAUSTIVE ? EXHAUSTIVE_BUDGET_MS : BUDGET_MS;
  const spec = KernelTuningSpec.parse({ kind: "tuning", kernel, shape, budgetMs });
  const deviceKey = "gpu0";
  const logger = pino({ level: "silent" });
  // Mesa would cache the shaders of an earlier search.
  const fresh = { ...environment, MESA_SHADER_CACHE_DISABLE: "true" };
  const child = new DeviceChild({ role: "gpu", deviceKey, environment: fresh, logger, onEnd: () => {} });
  try {
    const limit = { limitMs: budgetMs + GRACE_MS, limitCode: "device-lost" } as const;
    await child.call("describe", { deviceKey }, limit);
    const { tuning, trials } = await child.call("tune", { spec, settings }, limit);
    const { variant, axes } = tuning.best;
    const runs = trials.reduce((sum, { rungsMs }) => sum + rungsMs.flat().length, 0);
    return { best: { variant, axes }, runs, spentMs: tuning.spentMs, complete: tuning.complete };
  } finally {
    child.kill();
    await child.exited;
  }
}
