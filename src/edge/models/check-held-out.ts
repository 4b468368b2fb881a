import type { HeldOut } from "../../protocol/models/held-out-file.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { isTaskMetric, measureTask, TASK_METRICS } from "../../stats/score/task/task-metric.ts";
import type { Signature } from "./read-signature.ts";

/** Faults of a version's held-out data; each part is named as a field of the file. */
export function checkHeldOut({ inputs, outputs }: Signature, heldOut: HeldOut): FieldError[] {
  const errors: FieldError[] = [];
  if (heldOut.rows < LIMITS.minHeldOutRows) {
    errors.push({ pointer: "#/target", message: `must have at least ${LIMITS.minHeldOutRows} rows` });
  }
  for (const { name, dtype, shape } of inputs) {
    const pointer = `#/input.${name}`;
    const given = heldOut.inputs.get(name);
    if (given === undefined) errors.push({ pointer, message: "must be there: the version has this input" });
    else if (dtype !== "float32") errors.push({ pointer, message: `cannot be given: the version takes ${dtype}` });
    else if (!isOfRows(shape, given.shape)) errors.push({ pointer, message: misfit(given.shape, shape) });
  }
  const known = new Set(inputs.map(({ name }) => name));
  for (const name of heldOut.inputs.keys()) {
    if (!known.has(name)) errors.push({ pointer: `#/input.${name}`, message: "is no input of the version" });
  }
  const [output] = outputs;
  if (output === undefined || !isOfRows(output.shape, heldOut.baseline.shape)) {
    errors.push({ pointer: "#/baseline", message: misfit(heldOut.baseline.shape, output?.shape ?? []) });
  }
  if (errors.length > 0) return errors;
  return checkMetric(heldOut);
}

/** Measures the answer that ignores the inputs, to check that target and metric fit an output. */
function checkMetric({ metric, inputs, target, baseline }: HeldOut): FieldError[] {
  if (!isTaskMetric(metric)) return [{ pointer: "#/metric", message: `must be one of: ${TASK_METRICS.join(", ")}` }];
  try {
    measureTask(metric, baseline, target, [...inputs.values()][0]!);
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ pointer: "#/target", message: `does not fit ${metric}: ${error.message}` }];
  }
}

/** Whether a tensor has rows of a network's input or output, whose own first dimension is free, or 1. */
function isOfRows([leading, ...rest]: readonly number[], [, ...given]: readonly number[]): boolean {
  if (leading !== -1 && leading !== 1) return false;
  return rest.length === given.length && rest.every((size, axis) => size === -1 || size === given[axis]);
}

function misfit(given: readonly number[], wanted: readonly number[]): string {
  return `is [${given.join(", ")}], which is no row after row of the version's [${wanted.join(", ")}]`;
}
