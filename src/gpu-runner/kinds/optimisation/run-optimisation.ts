import type { OptimisationResult, OptimisationSpec } from "../../../protocol/jobs/optimisation.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { type Problem, ProblemError } from "../../../protocol/wire/problem.ts";
import { describeOutcome, type Measurements } from "./describe-outcome.ts";
import { openKernelStand } from "./open-kernel-stand.ts";
import { openModelStand } from "./open-model-stand.ts";
import { searchConfigurations } from "./search.ts";
import type { SearchOutcome, SearchReport, TrialMeasurement, TrialStand } from "./search-problem.ts";
import { applyBest } from "./apply-best.ts";
import type { Workload, WorkloadContext } from "../kind.ts";
import { describeEnvironment, orProblem } from "../steps/describe-run.ts";

/** A trial's length: the budget divided by this number, within bounds. */
const TRIALS_IN_BUDGET = 60;
const TRIAL_MS = { least: 100, most: 1_000 };

/**
 * Searches the best configuration for serving a model or running a kernel within targets, and reports targets that
 * cannot be met.
 * A candidate that cannot be opened or answers wrongly is a failed trial; the job fails where all are.
 */
export const runOptimisation: Workload<OptimisationSpec> = async (spec, context) => {
  const startedMs = performance.now();
  const stand = await openStand(spec, context);
  try {
    if (stand.candidates.length === 0) throw new ProblemError("backend-failed", "This runner has nothing to try.");
    const { outcome, measurements } = await search(spec, stand, startedMs, context);
    const described = describeOutcome(spec, stand, outcome, measurements);
    const spentMs = performance.now() - startedMs;
    const chosen = described.trials[described.best ?? described.infeasible?.nearest ?? 0]!.candidate;
    const { device } = context.fleet.find(chosen.deviceKey).host;
    const { subject, targets, objective, budgetMs, modelVersionId = null } = spec;
    const result: OptimisationResult = {
      kind: "optimisation",
      subject,
      modelVersionId,
      targets,
      objective,
      ...described,
      applied: spec.apply ? await applyBest(spec, described, context) : null,
      budgetMs,
      spentMs,
      environment: describeEnvironment(device, context.otherJobs),
    };
    return { result, deviceKey: device.key };
  } finally {
    await stand.close();
  }
};

function openStand(spec: OptimisationSpec, context: WorkloadContext): Promise<TrialStand> {
  const { subject, budgetMs } = spec;
  if (subject.kind === "kernel") return openKernelStand(spec, subject, context);
  if (context.model === null) throw new ProblemError("backend-failed", "The offer did not name the model to optimise.");
  const trialMs = Math.min(TRIAL_MS.most, Math.max(TRIAL_MS.least, budgetMs / TRIALS_IN_BUDGET));
  return openModelStand(spec, context.model, trialMs, context);
}

/** Measures the candidates that the search yields, one after another, until it ends. */
async function search(
  spec: OptimisationSpec,
  stand: TrialStand,
  startedMs: number,
  { signal, onProgress }: WorkloadContext,
): Promise<{ outcome: SearchOutcome; measurements: Measurements }> {
  const rounds = new Map<number, TrialMeasurement[]>();
  const problems = new Map<number, Problem>();
  const maxTrials = spec.maxTrials ?? LIMITS.optimisationTrials;
  const steps = searchConfigurations({ ...spec, ...stand, maxTrials });
  const measure = async (index: number): Promise<SearchReport> => {
    const measured = await orProblem(stand.measure(index), signal);
    const elapsedMs = performance.now() - startedMs;
    if (measured instanceof ProblemError) {
      problems.set(index, measured.problem);
      return { outcome: "failed", elapsedMs };
    }
    rounds.set(index, [...(rounds.get(index) ?? []), measured]);
    return { outcome: "measured", measured, elapsedMs };
  };
  let state = steps.next();
  while (!state.done) {
    const { candidate, phase, done, best } = state.value;
    // Repeated rounds of earlier trials come on top.
    const total = Math.max(done + 1, Math.min(maxTrials, stand.candidates.length));
    onProgress({ phase, done, total, ...(best && { best }) });
    state = steps.next(await measure(candidate));
  }
  const { best, nearest } = state.value;
  if (best !== null || nearest !== null) return { outcome: state.value, measurements: { rounds, problems } };
  const [first] = problems.values();
  throw new ProblemError(first?.code ?? "backend-failed", `Nothing could be measured: ${first?.detail}`);
}
