import type { OnnxModel, OnnxNode, OnnxTensor } from "../../onnx/onnx-model.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { prepareStatic } from "./calibrated-activations.ts";
import { type Compressed, type CompressedLayer, layerName, reportOn } from "./compression-report.ts";
import { dropUnusedWeights } from "./drop-unused-weights.ts";
import { freeNames } from "./free-names.ts";
import { linearLayers } from "./linear-layers.ts";
import { type ActivationPlan, planActivations } from "./plan-activations.ts";
import { type Quantisation, quantisationOf } from "./quantise-linear.ts";
import { quantiseWeights } from "./quantise-weights.ts";
import { storeActivation } from "./stored-activation.ts";
import { storeStaticWeights } from "./store-static-weights.ts";

/** The least and the greatest that calibration observed of an activation. */
export interface ActivationRange {
  readonly min: number;
  readonly max: number;
}

/**
 * The same network with its activations as uint8, by ranges that calibration found, and its weights as int8 by output
 * channel with int32 biases, said by pairs of QuantizeLinear and DequantizeLinear that ONNX Runtime fuses with what is
 * between them. `ranges` has what `listCalibrated` names; zero is added to each. Layers that are not computed so have
 * their weights as int8. Throws a RangeError for a range that is missing, and a `ProblemError` for one that is not
 * finite and where the file's opset cannot be raised.
 */
export function quantiseStatic(given: OnnxModel, ranges: ReadonlyMap<string, ActivationRange>): Compressed {
  const model = prepareStatic(given);
  const plan = planActivations(model);
  const quantised = rewrite(model, plan, ranges);
  const { model: smaller, report } = quantiseWeights(quantised);
  const done: CompressedLayer[] = model.nodes
    .filter((node) => plan.nodes.has(node))
    .map((node) => ({ layer: layerName(node), operator: node.operator, what: "computed with uint8 and int8" }));
  const byWeights = new Set(report.done.map(({ layer }) => layer));
  const left = plan.left.filter(({ layer }) => !byWeights.has(layer));
  return reportOn(given, smaller, [...done, ...report.done], left);
}

/** Puts whole numbers in front of what the plan names. */
function rewrite(model: OnnxModel, plan: ActivationPlan, ranges: ReadonlyMap<string, ActivationRange>): OnnxModel {
  const free = freeNames(model);
  const outputs = new Set(model.outputs.map(({ name }) => name));
  const activations = new Map(
    [...plan.sources].map(([name, source]) => [
      name,
      storeActivation(name, outputs.has(name), quantisationIn(ranges, source), free),
    ]),
  );
  const layers = new Map(linearLayers(model).layers.map((layer) => [layer.node, layer]));
  const weights = new Map(model.weights);
  const nodes: OnnxNode[] = [];
  const add = (stored: { tensors: readonly OnnxTensor[]; nodes: readonly OnnxNode[] } | undefined): void => {
    for (const tensor of stored?.tensors ?? []) weights.set(tensor.name, tensor);
    nodes.push(...(stored?.nodes ?? []));
  };
  for (const { name } of model.inputs) add(activations.get(name));
  for (const node of model.nodes) {
    const layer = plan.nodes.has(node) ? layers.get(node) : undefined;
    const { scale } = activations.get(node.inputs[0]!)?.quantisation ?? { scale: 1 };
    const stored = layer && storeStaticWeights(model, layer, scale, free);
    add(stored);
    nodes.push({
      ...node,
      inputs: (stored?.inputs ?? node.inputs).map((name) => activations.get(name)?.read ?? name),
      outputs: node.outputs.map((name) => activations.get(name)?.written ?? name),
    });
    for (const name of node.outputs) add(activations.get(name));
  }
  return dropUnusedWeights({ ...model, nodes, weights });
}

function quantisationIn(ranges: ReadonlyMap<string, ActivationRange>, name: string): Quantisation {
  const range = ranges.get(name);
  if (range === undefined) throw new RangeError(`no range of ${name} was given`);
  if (!Number.isFinite(range.min) || !Number.isFinite(range.max))
    throw new ProblemError("invalid-model", `What ${name} computes is not finite, and so has no range.`);
  return quantisationOf(range);
}
