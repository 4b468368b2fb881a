import type { CalibratedPlacement } from "../../../protocol/jobs/calibration.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import { FIRST_VARIANT } from "../../../protocol/models/model.ts";
import type { OptimisationResult, OptimisationSpec, OptimisationTrial } from "../../../protocol/jobs/optimisation.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { ValidationResult, ValidationSpec } from "../../../protocol/jobs/validation.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import { createComparedInputs } from "./measure-candidates.ts";
import { configurationOf } from "./open-model-stand.ts";
import { askOneByOne, openReference } from "../calibration/ask-placement.ts";
import { calibratePlacement } from "../calibration/calibrate-placement.ts";
import { isServedSo, judgeApplication, listValidation, type ServedPlace } from "./judge-application.ts";
import type { WorkloadContext } from "../kind.ts";
import { orProblem } from "../steps/describe-run.ts";
import { runValidation } from "../validation/run-validation.ts";

type Applied = NonNullable<OptimisationResult["applied"]>;

/** Settings of a shorter calibration, with fewer samples. */
const CALIBRATION = { iterations: 100, stepMs: 500, timeoutMs: 60_000, rows: 32 } as const;
const ECHOES = 100;

/**
 * Validates the current configuration and the best one found.
 * If the best reaches every target and is no worse, its placement is calibrated under it and served by it from then on.
 * The edge stores it.
 */
export async function applyBest(
  spec: OptimisationSpec,
  { best, trials, default: now }: Pick<OptimisationResult, "best" | "trials" | "default">,
  context: WorkloadContext,
): Promise<Applied> {
  const { standing } = spec;
  const { model } = context;
  const nothing = { applied: false, configuration: null, before: null, after: null, placement: null };
  const trial = best === null ? undefined : trials[best];
  if (trial === undefined) return { ...nothing, detail: "Nothing reaches every target, so nothing was applied." };
  if (standing === undefined || model === null) throw new ProblemError("backend-failed", "The job names no placement.");
  const { deviceKey, backend, variant } = trial.candidate;
  const place: ServedPlace = { deviceKey, backend, variant, configuration: configurationOf(trial.candidate) };
  const { configuration } = place;
  if (best === now || isServedSo(standing, place)) {
    return { ...nothing, configuration, detail: "What is served now is the best that was found." };
  }
  const before = await validate(spec, standing, standing.placementId, null, context);
  if (before instanceof ProblemError) return { ...nothing, configuration, detail: describeProblem("before", before) };
  const after = await validate(spec, place, null, trial.fidelity, context);
  if (after instanceof ProblemError) {
    return { ...nothing, configuration, before, detail: describeProblem("after", after) };
  }
  const { applies, detail } = judgeApplication(standing, place, spec, { before, after });
  if (!applies) return { ...nothing, detail, configuration, before, after };
  const placement = await calibrate(place, model, context);
  if (placement instanceof ProblemError || !placement.agrees) {
    const reason = placement instanceof ProblemError ? placement.problem.detail : "its answers differ in batches.";
    return { ...nothing, detail: `It could not be calibrated: ${reason}`.slice(0, 512), configuration, before, after };
  }
  return { applied: true, detail, configuration, before, after, placement };
}

/** A validation that fails must not lose the search's result. */
async function validate(
  spec: OptimisationSpec,
  place: ServedPlace,
  placementId: string | null,
  fidelity: OptimisationTrial["fidelity"],
  context: WorkloadContext,
): Promise<ValidationResult | ProblemError> {
  const validation = ValidationSpec.parse(listValidation(spec, place, placementId, fidelity));
  const done = await orProblem(runValidation(validation, context), context.signal);
  return done instanceof ProblemError ? done : ValidationResult.parse(done.result);
}

function describeProblem(which: "before" | "after", { problem }: ProblemError): string {
  return `Not applied: the validation ${which} could not be done. ${problem.detail}`.slice(0, 512);
}

/** Calibrates a placement under a configuration, including the runner's link. */
async function calibrate(
  { deviceKey, backend, variant, configuration }: ServedPlace,
  model: PlacedModel,
  context: WorkloadContext,
): Promise<CalibratedPlacement | ProblemError> {
  const { fleet, probe, signal } = context;
  const work = async (): Promise<CalibratedPlacement> => {
    const inputs = createComparedInputs(model);
    const answersOf = (name: string) => askOneByOne(model, name, fleet.cpu.host, inputs, context);
    // The reference answers batches as well.
    const { ask, agreement, close } = await openReference(model, variant, context);
    try {
      const originals = await answersOf(FIRST_VARIANT);
      const answers = variant === FIRST_VARIANT ? originals : await answersOf(variant);
      const limits = { ...CALIBRATION, maxRows: Math.max(CALIBRATION.rows, configuration.maxRows ?? 1) };
      const place = { device: fleet.find(deviceKey), backend, model, variant, configuration };
      const calibrated = await calibratePlacement(
        place,
        { inputs, originals, answers, agreement, ask },
        limits,
        context,
      );
      return { ...calibrated, linkMs: summarise(await probe.measureMs(ECHOES, signal)) };
    } finally {
      await close();
    }
  };
  return orProblem(work(), signal);
}
