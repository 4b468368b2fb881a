import type { CalibrationResult } from "../../../protocol/jobs/calibration.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import { FIRST_VARIANT, type TensorSpec } from "../../../protocol/models/model.ts";
import { countMeasuredElements } from "../../../protocol/models/model-inputs.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { DEFAULT_CONFIGURATION } from "../../../protocol/fleet/serving.ts";
import type { WorkloadContext } from "../kind.ts";
import { orProblem } from "../steps/describe-run.ts";

/** Sizes of free dimensions, in the order of trying: multiples of usual strides, usual pictures and windows, small ones. */
const CANDIDATES = [32, 64, 16, 128, 224, 256, 320, 512, 640, 8, 4, 2, 1];
/** Larger size after a candidate, so that two measurements show how the time grows. */
const GROWTH = 2;
/** Most elements of one row, in all inputs: a request has no room for more float32. */
const MOST_ELEMENTS = LIMITS.inferBodyBytes / 4;

interface SizedModel {
  readonly model: PlacedModel;
  /** Null where none had to be found. */
  readonly found: NonNullable<CalibrationResult["shapes"]> | null;
}

type Context = Pick<WorkloadContext, "fleet" | "models" | "signal" | "onProgress">;

/** Axes beyond the rows whose free dimensions get a size; the other free dimensions are 1. */
const FILLINGS = ["every axis", "last axis"] as const;
type Filling = (typeof FILLINGS)[number];

/**
 * Finds sizes that a network takes in free dimensions beyond its rows, where its version has none: the first candidate
 * that the CPU provider can run, and a larger one. A network with skip connections, for one, only takes multiples of its
 * stride; a recurrent one has its states' rows on an axis that is not the last. Fails with the problem of the last
 * candidate where it takes none, and at once where a candidate does harm.
 */
export async function findSizes(model: PlacedModel, context: Context): Promise<SizedModel> {
  const isSized = model.inputs.some(({ shapes }) => shapes !== undefined);
  const fillings = FILLINGS.filter((filling) => model.inputs.some((spec) => countFilled(spec, filling) > 0));
  if (isSized || fillings.length === 0) return { model, found: null };
  const tries = CANDIDATES.flatMap((size) => fillings.map((filling) => ({ size, filling })));
  let last: ProblemError | null = null;
  for (const [index, { size, filling }] of tries.entries()) {
    context.onProgress({ phase: "find a size", done: index, total: tries.length });
    const problem = await trySizes(model, [size], filling, context);
    if (problem === null) return widen(model, size, filling, context);
    if (problem.problem.code !== "backend-failed") throw problem;
    last = problem;
  }
  const detail = `It takes no generated inputs at any size: give \`shapes\` and \`values\` with the upload. The last reason: ${last?.problem.detail}`;
  throw new ProblemError("backend-failed", detail);
}

async function widen(model: PlacedModel, size: number, filling: Filling, context: Context): Promise<SizedModel> {
  const sizes = [size, GROWTH * size];
  const isLargerTaken = (await trySizes(model, sizes.slice(1), filling, context)) === null;
  const inputs = withSizes(model.inputs, isLargerTaken ? sizes : [size], filling);
  const found = Object.fromEntries(
    inputs.flatMap(({ name, shapes }) => (shapes === undefined ? [] : [[name, shapes]])),
  );
  return { model: { ...model, inputs }, found };
}

/** The problem of a run at these sizes; null where there is none. */
async function trySizes(
  model: PlacedModel,
  sizes: readonly number[],
  filling: Filling,
  { fleet, models, signal }: Context,
): Promise<ProblemError | null> {
  const inputs = withSizes(model.inputs, sizes, filling);
  if (countMeasuredElements(inputs) > MOST_ELEMENTS) {
    return new ProblemError("backend-failed", "The inputs are too large.");
  }
  const sized = { ...model, inputs };
  const run = models.tryApart(sized, FIRST_VARIANT, fleet.cpu.host, DEFAULT_CONFIGURATION, signal);
  const outcome = await orProblem(run, signal);
  return outcome instanceof ProblemError ? outcome : null;
}

/** Whether an axis gets a size: it is free, and not the first one, which counts the rows. */
function isFilled(shape: readonly number[], axis: number, filling: Filling): boolean {
  return shape[axis] === -1 && axis > 0 && (filling === "every axis" || axis === shape.length - 1);
}

function countFilled({ shape }: TensorSpec, filling: Filling): number {
  return shape.filter((_, axis) => isFilled(shape, axis, filling)).length;
}

function withSizes(inputs: readonly TensorSpec[], sizes: readonly number[], filling: Filling): TensorSpec[] {
  return inputs.map((spec) => {
    if (countFilled(spec, filling) === 0) return spec;
    const fill = (size: number) =>
      spec.shape.map((own, axis) => (isFilled(spec.shape, axis, filling) ? size : own === -1 ? 1 : own));
    return { ...spec, shapes: sizes.map(fill) };
  });
}
