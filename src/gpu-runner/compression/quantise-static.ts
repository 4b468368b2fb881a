import { inferShapes } from "../../onnx/infer-shapes.ts";
import type { OnnxModel, OnnxNode, OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatTensor } from "../../onnx/tensor-values.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type Compressed, type CompressedLayer, layerName, reportOn } from "./compression-report.ts";
import { dropUnusedWeights, freeNames, makeNode } from "./edit-graph.ts";
import { foldBatchNorm } from "./fold-batch-norm.ts";
import { linearLayers } from "./linear-layers.ts";
import { type ActivationPlan, planActivations } from "./plan-activations.ts";
import { type Quantisation, quantisationOf } from "./quantise-linear.ts";
import { quantiseWeights } from "./quantise-weights.ts";
import { raiseOpset } from "./raise-opset.ts";
import { storeStaticWeights } from "./store-static-weights.ts";

/** First opset whose DequantizeLinear may have a scale for each index of an axis. */
const OPSET = 13;

/** Network prepared for static quantisation: batch norms folded, opset at least 13. */
function prepareStatic(model: OnnxModel): OnnxModel {
  return raiseOpset(foldBatchNorm(model).model, OPSET);
}

/** Names of the activations whose ranges static quantisation needs, possibly inputs of the network too. */
export function listCalibrated(model: OnnxModel): string[] {
  const { sources } = planActivations(prepareStatic(model));
  return [...new Set(sources.values())];
}

/**
 * Network with the named activations as additional outputs, each once, so that their ranges can be observed. It is the
 * network that `quantiseStatic` quantises.
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

/** Activation that is quantised between the node that computes it and those that read it. */
export interface StoredActivation {
  readonly quantisation: Quantisation;
  /** Its name where it is computed, and where it is read. */
  readonly written: string;
  readonly read: string;
  readonly tensors: readonly OnnxTensor[];
  /** Nodes between the two. */
  readonly nodes: readonly OnnxNode[];
}

/**
 * Inserts the two nodes of an activation. Outputs of the network keep their name after them, other values before them.
 */
function storeActivation(
  name: string,
  leaves: boolean,
  quantisation: Quantisation,
  free: (wished: string) => string,
): StoredActivation {
  const written = leaves ? free(`${name}_float`) : name;
  const read = leaves ? name : free(`${name}_dequantised`);
  const scale = floatTensor(free(`${name}_scale`), [], Float32Array.of(quantisation.scale));
  const zeroPoint: OnnxTensor = {
    name: free(`${name}_zero_point`),
    dtype: "uint8",
    dims: [],
    bytes: Uint8Array.of(quantisation.zeroPoint),
  };
  const whole = free(`${name}_uint8`);
  const nodes = [
    makeNode("QuantizeLinear", [written, scale.name, zeroPoint.name], whole),
    makeNode("DequantizeLinear", [whole, scale.name, zeroPoint.name], read),
  ];
  return { quantisation, written, read, tensors: [scale, zeroPoint], nodes };
}

/** Least and greatest value of an activation during calibration. */
export interface ActivationRange {
  readonly min: number;
  readonly max: number;
}

/**
 * The same network with activations as uint8, by calibrated ranges, and weights as int8 by output channel with int32
 * biases. Pairs of QuantizeLinear and DequantizeLinear express it, which ONNX Runtime fuses with the operators between
 * them. `ranges` has the activations of `listCalibrated`; zero is added to each. Layers that are not computed this way
 * have int8 weights. Throws a RangeError for a missing range, and a `ProblemError` for one that is not finite or where
 * the file's opset cannot be raised.
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

/** Inserts the quantisation of a plan. */
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
    throw new ProblemError("invalid-model", `The range of ${name} is not finite.`);
  return quantisationOf(range);
}
