import type { CalibratedPlacement, CalibrationResult, CalibrationSpec } from "../../../protocol/jobs/calibration.ts";
import { type Backend, modelBackendOf } from "../../../protocol/fleet/hardware.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import { FIRST_VARIANT } from "../../../protocol/models/model.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { calibrateEdge, type EdgeEffort } from "./calibrate-edge.ts";
import { countSizes, createSeededInputs } from "../../../protocol/models/model-inputs.ts";
import { findSizes } from "./find-sizes.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import { calibratePlacement, type Limits, type Place, type Reference } from "./calibrate-placement.ts";
import { configurationIn } from "../../serving/queue/model-key.ts";
import { openReference, type ReferenceModel } from "./ask-placement.ts";
import type { Workload, WorkloadContext, WorkloadResult } from "../kind.ts";
import { orProblem } from "../steps/describe-run.ts";

const ECHOES = 200;
const COMPARED_INPUTS = 64;
/** Shares of the job's time: one variant's reference answers, and all sweeps together. */
const REFERENCE_SHARE = 1 / 16;
const SWEEPS_SHARE = 1 / 2;

/**
 * Proves and measures every variant of a model on every device that serves models.
 * Outputs come first, against the CPU provider on seeded inputs; then the service as requests get it, memory and the
 * link.
 * A placement that cannot run, or not within the job's time, is left out with its problem; the job fails where none
 * can.
 */
export const runCalibration: Workload<CalibrationSpec> = async (spec, outer) => {
  const late = new AbortController();
  const reason = new ProblemError("backend-failed", `The calibration took longer than ${spec.timeoutMs} ms.`);
  const timer = setTimeout(() => late.abort(reason), spec.timeoutMs);
  try {
    return await measurePlacements(spec, outer, AbortSignal.any([outer.signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
};

/**
 * `inTime` also aborts when the job's time is over: placements not measured by then are left out like those that cannot
 * run.
 */
async function measurePlacements(
  spec: CalibrationSpec,
  outer: WorkloadContext,
  inTime: AbortSignal,
): Promise<WorkloadResult> {
  const { fleet, probe, signal, onProgress } = outer;
  const context = { ...outer, signal: inTime };
  if (outer.model === null) throw new ProblemError("backend-failed", "The offer did not name the model to calibrate.");
  const { model, found: shapes } = await findSizes(outer.model, context);
  const devices = fleet.all().flatMap((device) => {
    const backend = modelBackendOf(device.host.device);
    return backend === undefined ? [] : [{ device, backend }];
  });
  const sweeps = devices.length * model.variants.length * countSizes(model.inputs);
  const steps = sweeps * (Math.floor(Math.log2(spec.maxRows)) + 1);
  const limits = { ...spec, stepMs: (spec.timeoutMs * SWEEPS_SHARE) / steps };
  const placements: CalibratedPlacement[] = [];
  const skipped: NonNullable<CalibrationResult["skipped"]> = [];
  const own = await openReference(model, FIRST_VARIANT, context);
  try {
    const original = await askOriginal(model, spec, own, context);
    for (const { name: variant } of model.variants) {
      const work = { model, variant, devices, original, limits, context };
      for (const { deviceKey, backend, outcome } of await measureVariant(work, signal)) {
        if (outcome instanceof ProblemError) skipped.push({ deviceKey, variant, backend, problem: outcome.problem });
        else placements.push(outcome);
      }
    }
  } finally {
    await own.close();
  }
  const [first] = placements;
  if (first === undefined) {
    throw new ProblemError("backend-failed", `Nothing could run the model: ${skipped[0]?.problem.detail}`);
  }
  const echoes = Math.min(ECHOES, spec.iterations);
  onProgress({ phase: "link", done: 0, total: echoes });
  const linkMs = summarise(await probe.measureMs(echoes, signal));
  placements.push(
    ...(await measureAtEdge(model, { echoMs: linkMs.p50, iterations: spec.iterations }, context, signal)),
  );
  const { modelVersionId } = spec;
  const result: CalibrationResult = {
    kind: "calibration",
    modelVersionId,
    placements,
    linkMs,
    ...(shapes !== null && { shapes }),
    ...(skipped.length > 0 && { skipped }),
  };
  return { result, deviceKey: first.deviceKey };
}

/** Measurements at the edge itself; a failure there does not keep this runner from serving. */
async function measureAtEdge(
  model: PlacedModel,
  effort: EdgeEffort,
  context: WorkloadContext,
  signal: AbortSignal,
): Promise<CalibratedPlacement[]> {
  const { edge, logger } = context;
  if (edge === null) return [];
  try {
    return await calibrateEdge(model, edge, effort, context);
  } catch (error) {
    signal.throwIfAborted();
    logger.error({ error, modelVersionId: model.modelVersionId }, "the edge could not be calibrated");
    return [];
  }
}

interface VariantWork {
  readonly model: PlacedModel;
  readonly variant: string;
  readonly devices: readonly Pick<Place, "device" | "backend">[];
  readonly original: Original;
  readonly limits: Limits;
  readonly context: WorkloadContext;
}

interface Measured {
  readonly deviceKey: string;
  readonly backend: Backend;
  readonly outcome: CalibratedPlacement | ProblemError;
}

/**
 * Measures a variant on every device, under the configurations that the edge sent; all fail without a reference to
 * compare with.
 */
async function measureVariant(work: VariantWork, signal: AbortSignal): Promise<Measured[]> {
  const { model, variant, devices, limits, context } = work;
  const opened = await orProblem(openReference(model, variant, context), signal);
  try {
    const reference = opened instanceof ProblemError ? opened : await orProblem(askVariant(work, opened), signal);
    const measured: Measured[] = [];
    for (const { device, backend } of devices) {
      const { key: deviceKey } = device.host.device;
      const place = { device, backend, model, variant, configuration: configurationIn(model, deviceKey, variant) };
      const outcome =
        reference instanceof ProblemError
          ? reference
          : await orProblem(calibratePlacement(place, reference, limits, context), signal);
      measured.push({ deviceKey, backend, outcome });
    }
    return measured;
  } finally {
    if (!(opened instanceof ProblemError)) await opened.close();
  }
}

type Original = Pick<Reference, "inputs" | "originals">;

/** The CPU provider's outputs for the version's own file, on fewer inputs where it is slow. */
async function askOriginal(
  model: PlacedModel,
  spec: CalibrationSpec,
  { ask }: ReferenceModel,
  { onProgress }: WorkloadContext,
): Promise<Original> {
  const untilMs = performance.now() + spec.timeoutMs * REFERENCE_SHARE;
  const inputs: Tensor[][] = [];
  const originals: Tensor[][] = [];
  while (inputs.length < COMPARED_INPUTS && (inputs.length === 0 || performance.now() < untilMs)) {
    onProgress({ phase: "reference", done: inputs.length, total: COMPARED_INPUTS });
    const input = createSeededInputs(model.inputs, inputs.length + 1);
    originals.push(await ask(input));
    inputs.push(input);
  }
  return { inputs, originals };
}

/** The CPU provider's outputs for a variant's file, on the same inputs. */
async function askVariant({ variant, original }: VariantWork, { ask, agreement }: ReferenceModel): Promise<Reference> {
  if (variant === FIRST_VARIANT) return { ...original, answers: original.originals, agreement, ask };
  const answers: Tensor[][] = [];
  for (const tensors of original.inputs) answers.push(await ask(tensors));
  return { ...original, answers, agreement, ask };
}
