import type { Candidate, OptimisationTargets } from "../../../../../src/protocol/jobs/optimisation.ts";
import type {
  Measured,
  SearchOutcome,
  SearchProblem,
  SearchStep,
} from "../../../../../src/gpu-runner/kinds/optimisation/search-problem.ts";
import { searchConfigurations } from "../../../../../src/gpu-runner/kinds/optimisation/search.ts";
import { normalQuantile } from "../../../../../src/stats/distribution/normal.ts";
import { philox4x32 } from "../../../../../src/stats/random/draws.ts";

/** True measurement of a candidate; null where it fails. */
export type Truth = (candidate: Candidate) => Measured | null;

export const NO_TARGETS: OptimisationTargets = { percentile: 0.99, minFidelity: 0 };

export interface Play extends Partial<SearchProblem> {
  readonly candidates: readonly Candidate[];
  readonly truth: Truth;
  /** Standard deviation of a measurement's logarithm. */
  readonly noise?: number;
  readonly trialMs?: number;
}

/** Runs a search on a synthetic surface: returns its measurements, in order. */
export function play({ truth, noise = 0, trialMs = 1, ...given }: Play) {
  const problem: SearchProblem = {
    standing: null,
    eligible: given.candidates.length,
    targets: NO_TARGETS,
    objective: "throughput",
    inFlight: ({ concurrency }) => concurrency,
    budgetMs: 1e9,
    maxTrials: 512,
    seed: 1,
    ...given,
  };
  const steps: SearchStep[] = [];
  const search = searchConfigurations(problem);
  let state = search.next();
  while (!state.done) {
    steps.push(state.value);
    const measured = truth(problem.candidates[state.value.candidate]!);
    const shake = (stream: number) => Math.exp(noise * draw(problem.seed, steps.length, stream));
    const elapsedMs = steps.length * trialMs;
    state = search.next(
      measured === null
        ? { outcome: "failed", elapsedMs }
        : {
            outcome: "measured",
            elapsedMs,
            measured: {
              ...measured,
              throughputPerS: measured.throughputPerS * shake(1),
              latencyMs: measured.latencyMs * shake(2),
            },
          },
    );
  }
  const outcome: SearchOutcome = state.value;
  const chosen = outcome.best === null ? null : problem.candidates[outcome.trials[outcome.best]!.candidate]!;
  return { outcome, steps, chosen };
}

/** A standard normal deviate. */
function draw(seed: number, step: number, stream: number): number {
  const [word] = philox4x32([step, stream, 0, 0], [seed, 77]);
  return normalQuantile((word + 0.5) / 2 ** 32);
}

/** Every combination whose batch is at most the number in flight. */
export function makeSpace(
  devices: readonly { readonly key: string; readonly threads: readonly number[] }[],
  variants: readonly string[],
  counts: readonly number[],
): Candidate[] {
  return devices.flatMap(({ key, threads }) =>
    variants.flatMap((variant) =>
      threads.flatMap((each) =>
        counts.flatMap((concurrency) =>
          counts
            .filter((maxRows) => maxRows <= concurrency)
            .map((maxRows): Candidate => ({
              deviceKey: key,
              backend: key === "cpu" ? "ort-cpu" : "ort-webgpu",
              variant,
              threads: each,
              maxRows,
              concurrency,
            })),
        ),
      ),
    ),
  );
}

/** A device that computes batches one by one: the duration of a batch, and the host's time for a request. */
interface Server {
  readonly batchMs: (rows: number, candidate: Candidate) => number;
  readonly hostMs: number;
  /** Factor from the mean to the percentile. */
  readonly stretch: (candidate: Candidate) => number;
}

/** Measurements of callers that send the next request as soon as they are answered. */
export function serveClosedLoop(server: (candidate: Candidate) => Server): Truth {
  return (candidate) => {
    const { batchMs, hostMs, stretch } = server(candidate);
    const { concurrency, maxRows } = candidate;
    const rows = Math.min(maxRows, concurrency);
    // Without requests beyond the batch, the device waits for the host; with many, the two overlap.
    const overlap = concurrency === rows ? 0 : Math.min(1, (concurrency - rows) / rows);
    const batch = batchMs(rows, candidate);
    const host = hostMs * rows;
    const cycleMs = Math.max(batch, host) + (1 - overlap) * Math.min(batch, host);
    const throughputPerS = (rows / cycleMs) * 1_000;
    return {
      throughputPerS,
      latencyMs: (concurrency / throughputPerS) * 1_000 * stretch(candidate),
      memoryBytes: 5e7 + 2e5 * rows + 1e4 * concurrency,
      fidelity: candidate.variant === "int8" ? 0.98 : 1,
    };
  };
}
