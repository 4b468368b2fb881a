import { inferShapes } from "../../onnx/infer-shapes.ts";
import {
  countElements,
  ELEMENTS,
  floatOf,
  intOf,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
} from "../../onnx/onnx-model.ts";
import { layerName, type LeftLayer } from "./compression-report.ts";

/** What these give is of whole numbers or truths, whatever they take. */
const NEVER = new Set(
  "Shape Size ArgMax ArgMin NonZero Equal Less LessOrEqual Greater GreaterOrEqual And Or Not IsNaN IsInf QuantizeLinear".split(
    " ",
  ),
);
/** Their further outputs are places, counts or truths. */
const FIRST_ONLY = new Set(["MaxPool", "TopK", "Dropout", "Unique"]);

/** Names of the float32 values that a network reads and computes; of its own operators only, and not of their lists. */
function listFloat32({ inputs, weights, nodes }: OnnxModel): Set<string> {
  const floats = new Set<string>();
  for (const { name, dtype } of [...inputs, ...weights.values()]) if (dtype === "float32") floats.add(name);
  for (const node of nodes) {
    if (!givesFloat32(node, floats)) continue;
    for (const name of FIRST_ONLY.has(node.operator) ? node.outputs.slice(0, 1) : node.outputs) floats.add(name);
  }
  return floats;
}

function givesFloat32(node: OnnxNode, floats: ReadonlySet<string>): boolean {
  if (node.domain !== "" || NEVER.has(node.operator)) return false;
  if (node.operator === "Cast") return intOf(node, "to", 0) === ELEMENTS.float32.code;
  // The type of these is that of their scales, and of what is chosen from.
  if (node.operator === "DequantizeLinear" || node.operator === "Where") return floats.has(node.inputs[1]!);
  return floats.has(node.inputs[0] ?? "");
}

/** Which of a network's activations are told by whole numbers. */
export interface ActivationPlan {
  /** Nodes that compute with whole numbers only. */
  readonly nodes: ReadonlySet<OnnxNode>;
  /** Each activation that is told by whole numbers, and the one whose range it is told by, which may be itself. */
  readonly sources: ReadonlyMap<string, string>;
  readonly left: readonly LeftLayer[];
}

/** With weights that stand in the file. */
const WEIGHTED = new Set(["Conv", "Gemm", "MatMul"]);
/** Of activations only. ONNX Runtime's CPU provider has a kernel of whole numbers for each. */
const COMBINING = new Set(["Add", "Mul", "Concat", "AveragePool", "GlobalAveragePool"]);
/** What comes out was in there before, so that the same whole number tells it. */
const MOVING = new Set(["MaxPool", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Identity"]);
/** What a layer ends with: ONNX Runtime has the quantisation behind it do the same. */
const CLAMPING = new Set(["Relu", "Clip"]);
/** Layers with weights that are not computed with whole numbers. */
const FLOATING = new Set(["ConvTranspose", "GRU", "LSTM", "RNN"]);

/** Plans for a network of opset 13 or later without Constant nodes. */
export function planActivations(model: OnnxModel): ActivationPlan {
  const readers = groupReaders(model);
  const shapes = inferShapes(model, 1);
  const floats = listFloat32(model);
  const nodes = new Set<OnnxNode>();
  const sources = new Map<string, string>();
  const left: LeftLayer[] = [];
  for (const node of model.nodes) {
    if (node.domain !== "") continue;
    const [input, output] = [node.inputs[0]!, node.outputs[0]!];
    const source = sources.get(input);
    if (MOVING.has(node.operator) && source !== undefined && node.outputs.length === 1) sources.set(output, source);
    if (!WEIGHTED.has(node.operator) && !COMBINING.has(node.operator) && !FLOATING.has(node.operator)) continue;
    const activations = WEIGHTED.has(node.operator) ? [input] : node.inputs;
    const end = endOf(model, readers, node);
    const why = refusal(model, node) ?? refuseValues([...activations, end], shapes, floats);
    if (why !== undefined) {
      left.push({ layer: layerName(node), operator: node.operator, why });
      continue;
    }
    nodes.add(node);
    for (const name of activations) if (!sources.has(name)) sources.set(name, name);
    sources.set(end, end);
  }
  return { nodes, sources, left };
}

function refuseValues(
  names: readonly string[],
  shapes: ReadonlyMap<string, unknown>,
  floats: ReadonlySet<string>,
): string | undefined {
  if (!names.every((name) => floats.has(name))) return "its activations are not float32";
  return names.every((name) => shapes.has(name)) ? undefined : "the shape of its activations cannot be told";
}

/** Why a node cannot compute with whole numbers. */
function refusal({ weights }: OnnxModel, node: OnnxNode): string | undefined {
  const [input, matrix, bias] = node.inputs;
  if (FLOATING.has(node.operator)) return "ONNX Runtime computes it in float32 only";
  if (COMBINING.has(node.operator))
    return node.inputs.some((name) => weights.has(name)) ? "one side of it is constant" : undefined;
  const tensor = weights.get(matrix!);
  if (weights.has(input!) || tensor?.dtype !== "float32") return "its weights are not float32 of the file";
  if (node.operator === "MatMul") return tensor.dims.length === 2 ? undefined : "its weights are not one matrix";
  if (bias && weights.get(bias)?.dtype !== "float32") return "its bias is not float32 of the file";
  if (node.operator === "Conv") return undefined;
  const plain = floatOf(node, "alpha", 1) === 1 && floatOf(node, "beta", 1) === 1 && intOf(node, "transA", 0) === 0;
  if (!plain) return "it scales or transposes what it multiplies";
  return bias && !isByChannel(weights.get(bias)!) ? "its bias is not one by channel" : undefined;
}

function isByChannel({ dims }: OnnxTensor): boolean {
  return countElements(dims) === (dims.at(-1) ?? 1);
}

/** The activation that a layer ends with: behind a constant that is added to a MatMul, and a clamp. */
function endOf(model: OnnxModel, readers: ReadonlyMap<string, readonly OnnxNode[]>, node: OnnxNode): string {
  let end = node.outputs[0]!;
  const only = (): OnnxNode | undefined => {
    const [reader, ...others] = readers.get(end) ?? [];
    return others.length === 0 && !model.outputs.some(({ name }) => name === end) ? reader : undefined;
  };
  const bias = only();
  if (node.operator === "MatMul" && bias?.operator === "Add" && bias.inputs.some((name) => model.weights.has(name)))
    end = bias.outputs[0]!;
  const clamp = only();
  const clamps = clamp !== undefined && clamp.domain === "" && CLAMPING.has(clamp.operator);
  return clamps && clamp.inputs.slice(1).every((name) => model.weights.has(name)) ? clamp.outputs[0]! : end;
}

function groupReaders({ nodes }: OnnxModel): Map<string, OnnxNode[]> {
  const readers = new Map<string, OnnxNode[]>();
  for (const node of nodes) for (const name of node.inputs) readers.set(name, [...(readers.get(name) ?? []), node]);
  return readers;
}
