import { inferShapes } from "../../onnx/infer-shapes.ts";
import {
  intOf,
  intsOf,
  type OnnxAttribute,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  textOf,
} from "../../onnx/onnx-model.ts";
import { integerTensor } from "../../onnx/tensor-values.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { layerName } from "./compression-report.ts";
import { freeNames } from "./edit-graph.ts";

/** Oldest supported opset; earlier meanings of Clip, Pad, Resize and others are not supported. */
const OLDEST = 11;
/** Version of the file format that came with an opset. */
const FORMATS = [
  { opset: 13, irVersion: 7 },
  { opset: 21, irVersion: 10 },
];

/** Rewrites a node for a later opset; `list` turns a list of numbers into an input. */
type Step = (node: OnnxNode, context: { rank: (name: string) => number | undefined; list: List }) => OnnxNode;
type List = (wished: string, values: readonly number[]) => string;

/**
 * The same network in a later version of ONNX's operators, if it is older; those whose meaning changed are rewritten.
 * Throws a `ProblemError` where that cannot be done.
 * Source: https://onnx.ai/onnx/operators, "changes".
 */
export function raiseOpset(model: OnnxModel, opset: number): OnnxModel {
  if (model.opset >= opset) return model;
  if (model.opset < OLDEST)
    throw refuse(`it is of opset ${model.opset}, and ${OLDEST} is the first that can be raised`);
  const free = freeNames(model);
  const added: OnnxTensor[] = [];
  const list: List = (wished, values) => {
    const tensor = integerTensor(free(wished), values);
    added.push(tensor);
    return tensor.name;
  };
  const shapes = inferShapes(model, 1);
  const rank = (name: string) => shapes.get(name)?.length;
  const steps = STEPS.filter(({ since }) => since > model.opset && since <= opset);
  const nodes = model.nodes.map((given) => {
    if (given.domain !== "") return given;
    if ([...given.attributes.values()].some(({ kind }) => kind === "other"))
      throw refuse(`${layerName(given)} has a graph of its own`);
    let node = given;
    for (const { operators, raise } of steps) if (operators.includes(node.operator)) node = raise(node, { rank, list });
    return node;
  });
  const weights = new Map([...model.weights, ...added.map((tensor) => [tensor.name, tensor] as const)]);
  const formats = FORMATS.filter((format) => format.opset <= opset).map(({ irVersion }) => irVersion);
  return { ...model, opset, irVersion: Math.max(model.irVersion, ...formats), nodes, weights };
}

function refuse(why: string): ProblemError {
  return new ProblemError("invalid-model", `The model's opset cannot be raised: ${why}.`);
}

function withAttribute(node: OnnxNode, name: string, value: OnnxAttribute): OnnxNode {
  return { ...node, attributes: new Map(node.attributes).set(name, value) };
}

/** Moves a list from an attribute to the second input. */
function listAsInput(attribute: string): Step {
  return (node, { list }) => {
    const values = intsOf(node, attribute);
    if (values === undefined) return node;
    const attributes = new Map(node.attributes);
    attributes.delete(attribute);
    const inputs = [node.inputs[0]!, list(`${layerName(node)}_${attribute}`, values)];
    return { ...node, inputs, attributes };
  };
}

/** Softmax over the last axis. Earlier versions joined all axes from one on, which is the same only for the last. */
const softmaxOfLast: Step = (node, { rank }) => {
  const axes = rank(node.inputs[0]!);
  const axis = intOf(node, "axis", 1);
  if (axis !== -1 && axis + 1 !== axes) throw refuse(`${layerName(node)} is over more than the last axis`);
  return withAttribute(node, "axis", { kind: "int", value: -1 });
};

const countParts: Step = (node) =>
  node.inputs[1] ? node : withAttribute(node, "num_outputs", { kind: "int", value: node.outputs.length });

const nameModes: Step = (node) => {
  const mode = textOf(node, "mode", "bilinear");
  const value = mode === "bilinear" ? "linear" : mode === "bicubic" ? "cubic" : mode;
  return withAttribute(node, "mode", { kind: "string", value });
};

const refuseGroups: Step = (node) => {
  throw refuse(`${layerName(node)} scales groups, and not channels`);
};

const STEPS: readonly { since: number; operators: readonly string[]; raise: Step }[] = [
  { since: 13, operators: ["Softmax", "LogSoftmax", "Hardmax"], raise: softmaxOfLast },
  { since: 13, operators: ["ReduceSum", "Squeeze", "Unsqueeze"], raise: listAsInput("axes") },
  { since: 13, operators: ["Split"], raise: listAsInput("split") },
  { since: 18, operators: ["Split"], raise: countParts },
  {
    since: 18,
    operators:
      "ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare".split(
        " ",
      ),
    raise: listAsInput("axes"),
  },
  { since: 20, operators: ["GridSample"], raise: nameModes },
  { since: 21, operators: ["GroupNormalization"], raise: refuseGroups },
];
