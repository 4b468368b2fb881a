import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { JobProgress } from "../../../protocol/jobs/job.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { KernelTuningSpec, Tuning, TuningTrial } from "../../../protocol/jobs/tuning.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import { assertWanted, createReporter } from "../../devices/progress.ts";
import type { BenchmarkDevice } from "../benchmark/benchmark-kernel.ts";
import { readLimits } from "../../devices/gpu/device.ts";
import { digestCandidates, readSources } from "../dispatch/kernel-sources.ts";
import { bucketShape, type Candidate, type CandidateList, listCandidates } from "./list-candidates.ts";
import { resolveBenchmark } from "../dispatch/resolve-benchmark.ts";
import { openTrialStand, type TrialStand } from "./trial-stand.ts";
import {
  searchCandidates,
  SUCCESSIVE_HALVING,
  type Trial,
  type TunerOutcome,
  type TunerSettings,
  type TunerStep,
} from "./tuner.ts";
import { raiseClocks } from "../benchmark/raise-clocks.ts";

/** Result of a search without the fields that only the runner around the device knows. */
export interface TuningMeasurement {
  readonly tuning: Omit<Tuning, "fingerprint" | "deviceName" | "software" | "tunedAt">;
  readonly trials: TuningTrial[];
}

export interface TuneOptions {
  readonly settings?: TunerSettings;
  readonly onProgress: (progress: JobProgress) => void;
  /** Checked between runs. */
  readonly signal: AbortSignal;
}

/**
 * Searches a kernel's variants and axes for the fastest at a shape, within about `budgetMs`. Every candidate is
 * compared with the f64 reference before it is timed. Fails with `unknown-kernel`, `invalid-request`, `cancelled`, or,
 * where no candidate is correct, as the default alone would.
 */
export async function tuneKernel(
  target: BenchmarkDevice,
  spec: KernelTuningSpec,
  { settings = SUCCESSIVE_HALVING, onProgress, signal }: TuneOptions,
): Promise<TuningMeasurement> {
  await raiseClocks(target.device, signal);
  const startedAt = performance.now();
  const untuned = resolveBenchmark(target.kernels, spec);
  const { kernel, shape } = untuned;
  const sources = await readSources(kernel);
  const limits = readLimits(target.device.limits);
  const list = listCandidates(untuned, sources, limits, spec.seed, LIMITS.tuningCandidates);
  const report = createReporter(onProgress, signal);
  const stand = await openTrialStand(target, untuned, spec.seed, () => assertWanted(signal));
  try {
    const search = searchCandidates(list.candidates.length, list.hasDefault, spec.budgetMs, settings);
    let state = search.next();
    while (!state.done) {
      const { kind, rung, candidatesLeft, done, total } = state.value;
      report(kind === "check" ? "check" : `rung ${rung}`, { rung, candidatesLeft })(done, total);
      const verdict = await perform(stand, list, state.value);
      state = search.next({ ...verdict, elapsedMs: performance.now() - startedAt });
    }
    const { best, bestMs, untunedMs, gain, complete } = demandBest(state.value, list);
    const choose = ({ variant, axes }: Candidate, samplesMs: readonly number[]) => ({
      variant: variant.name,
      axes: { ...axes },
      ms: summarise(samplesMs),
    });
    return {
      tuning: {
        kernel: kernel.name,
        dtype: spec.dtype ?? kernel.dtypes[0],
        shape: { ...shape },
        bucket: bucketShape(shape),
        digest: digestCandidates(kernel, shape, sources),
        clock: stand.clock,
        best: choose(best, bestMs),
        untuned: untunedMs === null ? null : choose(untuned, untunedMs),
        gain,
        candidates: list.total,
        budgetMs: spec.budgetMs,
        spentMs: performance.now() - startedAt,
        complete,
      },
      trials: describeTrials(list, state.value.trials),
    };
  } finally {
    stand.release();
  }
}

function perform(stand: TrialStand, list: CandidateList, step: TunerStep) {
  if (step.kind === "check") return stand.check(step.candidate, list.candidates[step.candidate]!, step.hopelessMs);
  return stand.time(step.candidate).then((ms) => ({ outcome: "ran", ms }) as const);
}

/** Outcome with its best candidate; throws the first reason where no candidate is correct. */
function demandBest(outcome: TunerOutcome, { candidates, rejected }: CandidateList) {
  const best = outcome.best === null ? undefined : candidates[outcome.best];
  if (best !== undefined) return { ...outcome, best };
  const failed = outcome.trials.find(({ reason }) => reason !== null);
  const code = failed?.outcome === "wrong" ? "kernel-incorrect" : "kernel-invalid";
  throw new ProblemError(code, failed?.reason ?? rejected[0]?.reason ?? "The kernel has no candidate");
}

/** All candidates in the order of the search, then those that do not fit. */
function describeTrials({ candidates, rejected }: CandidateList, trials: readonly Trial[]): TuningTrial[] {
  const describe = ({ variant, axes }: Candidate, { outcome, reason, rungsMs }: Trial): TuningTrial => ({
    variant: variant.name,
    axes: { ...axes },
    outcome,
    reason: reason?.slice(0, LIMITS.tuningReasonLength) ?? null,
    rungsMs: rungsMs.map((runs) => runs.map((ms) => Number(ms.toPrecision(6)))),
  });
  return [
    ...candidates.map((candidate, index) => describe(candidate, trials[index]!)),
    ...rejected.map(({ candidate, reason }) => describe(candidate, { outcome: "invalid", reason, rungsMs: [] })),
  ];
}
