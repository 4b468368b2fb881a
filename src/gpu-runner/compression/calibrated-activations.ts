import { inferShapes } from "../../onnx/infer-shapes.ts";
import type { OnnxModel } from "../../onnx/onnx-model.ts";
import { foldBatchNorm } from "./fold-batch-norm.ts";
import { planActivations } from "./plan-activations.ts";
import { raiseOpset } from "./raise-opset.ts";

/** From here on a DequantizeLinear may have a scale for each place of an axis. */
const OPSET = 13;

/** A network as static quantisation takes it: its batch norms folded, its opset at least 13. */
export function prepareStatic(model: OnnxModel): OnnxModel {
  return raiseOpset(foldBatchNorm(model).model, OPSET);
}

/** Names of the activations whose ranges static quantisation wants to know; inputs of the network may be among them. */
export function listCalibrated(model: OnnxModel): string[] {
  const { sources } = planActivations(prepareStatic(model));
  return [...new Set(sources.values())];
}

/**
 * A network that gives out the named activations too, behind its own outputs and each once, so that their ranges can be
 * observed: the network that `quantiseStatic` works on, before it is quantised.
 */
export function withOutputs(given: OnnxModel, names: readonly string[]): OnnxModel {
  const model = prepareStatic(given);
  const shapes = inferShapes(model, 1);
  const there = new Set(model.outputs.map(({ name }) => name));
  const added = names
    .filter((name) => !there.has(name))
    .map((name) => ({ name, dtype: "float32" as const, shape: shapes.get(name)!.map(() => "") }));
  return { ...model, outputs: [...model.outputs, ...added] };
}
