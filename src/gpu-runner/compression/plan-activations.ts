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

/** Operators whose outputs are integers or booleans, whatever their inputs. */
const NEVER = new Set(
  "Shape Size ArgMax ArgMin NonZero Equal Less LessOrEqual Greater GreaterOrEqual And Or Not IsNaN IsInf QuantizeLinear".split(
    " ",
  ),
);
/** Operators whose further outputs are indices, counts or booleans. */
const FIRST_ONLY = new Set(["MaxPool", "TopK", "Dropout", "Unique"]);

/**
 * Names of the float32 values that a network reads and computes; only by standard ONNX operators, and without
 * sequences.
 */
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
  // Their type is that of their scales, or of the values to choose from.
  if (node.operator === "DequantizeLinear" || node.operator === "Where") return floats.has(node.inputs[1]!);
  return floats.has(node.inputs[0] ?? "");
}

/** Quantised activations of a network. */
export interface ActivationPlan {
  /** Nodes that compute in integers only. */
  readonly nodes: ReadonlySet<OnnxNode>;
  /** Each quantised activation, and the one whose range it uses, which may be itself. */
  readonly sources: ReadonlyMap<string, string>;
  readonly left: readonly LeftLayer[];
}

/** Operators with constant weights. */
const WEIGHTED = new Set(["Conv", "Gemm", "MatMul"]);
/** Operators on activations only. ONNX Runtime's CPU provider has an integer kernel for each. */
const COMBINING = new Set(["Add", "Mul", "Concat", "AveragePool", "GlobalAveragePool"]);
/** Operators whose output values are input values, so that the quantisation stays the same. */
const MOVING = new Set(["MaxPool", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Identity"]);
/** Ends of a layer: ONNX Runtime replaces them with the quantisation that follows. */
const CLAMPING = new Set(["Relu", "Clip"]);
/** Layers with weights that are not computed in integers. */
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
  return names.every((name) => shapes.has(name)) ? undefined : "the shape of its activations is unknown";
}

/** Reason why a node cannot compute in integers. */
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
  if (!plain) return "it scales or transposes its operands";
  return bias && !isByChannel(weights.get(bias)!) ? "its bias is not one by channel" : undefined;
}

function isByChannel({ dims }: OnnxTensor): boolean {
  return countElements(dims) === (dims.at(-1) ?? 1);
}

/** Final activation of a layer: after a constant that is added to a MatMul, and a clamp. */
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
