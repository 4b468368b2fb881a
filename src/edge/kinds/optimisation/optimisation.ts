import type { OptimisationResult, OptimisationSpec } from "../../../protocol/jobs/optimisation.ts";
import type { Distribution } from "../../../protocol/wire/distribution.ts";
import type { JobKindModule, KernelTarget } from "../kind.ts";
import { canRunNow } from "../subjects/kernel-devices.ts";
import { isAbout, latenciesOf, offerPlaced } from "../subjects/placed-subject.ts";
import { prepareOptimisation } from "./prepare-optimisation.ts";
import { storeOptimisation } from "./store-optimisation.ts";

export const optimisation: JobKindModule<OptimisationSpec> = {
  prepare: prepareOptimisation,
  target: targetOf,
  // A search that names devices may run on any of them.
  mayRun: (spec, capabilities, nowMs) => {
    const target = targetOf(spec);
    return target === null || canRunNow(target, capabilities, nowMs, spec.space.deviceKeys);
  },
  offer: offerPlaced,
  answers: (spec, result) => isAbout(spec, result) && pointsIntoTrials(result),
  distributions: listDistributions,
  store: storeOptimisation,
  configured: ({ applied, modelVersionId }) => (applied?.applied === true ? modelVersionId : null),
  verdictSql: "iif(result->>'best' is null, 'fail', 'pass')",
};

function targetOf({ subject }: OptimisationSpec): KernelTarget | null {
  return subject.kind === "kernel" ? subject : null;
}

function pointsIntoTrials({ trials, best, default: standing, pareto, infeasible }: OptimisationResult): boolean {
  const indexes = [best, standing, infeasible?.nearest ?? null, ...pareto];
  return indexes.every((index) => index === null || index < trials.length);
}

function listDistributions({ applied }: OptimisationResult): Distribution[] {
  if (applied === null) return [];
  const { sweep = [], linkMs } = applied.placement ?? {};
  const measured = [...sweep.map(({ serviceMs }) => serviceMs), ...(linkMs === undefined ? [] : [linkMs])];
  const validations = [applied.before, applied.after].filter((validated) => validated !== null);
  return [...validations.flatMap(latenciesOf), ...measured];
}
