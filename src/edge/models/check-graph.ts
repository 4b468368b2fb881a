import { countElements, type OnnxModel, type OnnxNode, sizeInBytes } from "../../onnx/onnx-model.ts";
import type { Shape } from "../../onnx/shape-rule.ts";
import { measureWeights } from "../../onnx/summarise-model.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";

const LENGTH = 64;

/** A node's name in messages: its operator, and its own name if it has one. */
export function nameNode({ operator, name }: Pick<OnnxNode, "operator" | "name">): string {
  return name === "" ? shorten(operator) : `${shorten(operator)} (${shorten(name)})`;
}

/** A name from a file, shortened for a message. */
export function shorten(name: string): string {
  return name.length > LENGTH ? `${name.slice(0, LENGTH)}…` : name;
}

/**
 * Checks a graph: each node uses only earlier values, no name is defined twice, and outputs are computed. Nodes are in
 * order of execution, so a graph without an error has no cycle. Errors come one by one, since a small file may have
 * millions.
 */
export function* checkGraph(model: OnnxModel): Generator<FieldError> {
  const { nodes, weights, sparseWeights, inputs, outputs } = model;
  const given = new Set<string>([...weights.keys(), ...(sparseWeights?.keys() ?? [])]);
  for (const [index, { name }] of inputs.entries()) {
    if (given.has(name)) yield { pointer: `#/graph/input/${index}`, message: giveAgain("the input", name) };
    given.add(name);
  }
  for (const [index, node] of nodes.entries()) {
    const pointer = `#/graph/node/${index}`;
    for (const name of new Set(node.inputs)) {
      if (name === "" || given.has(name)) continue;
      yield { pointer, message: `${nameNode(node)} takes ${shorten(name)}, which nothing before it gives` };
    }
    for (const name of node.outputs) {
      if (name === "") continue;
      if (given.has(name)) yield { pointer, message: giveAgain(nameNode(node), name) };
      given.add(name);
    }
  }
  for (const [index, { name }] of outputs.entries()) {
    const pointer = `#/graph/output/${index}`;
    if (!given.has(name)) yield { pointer, message: `the output ${shorten(name)} is computed by nothing` };
  }
}

function giveAgain(who: string, name: string): string {
  return `${who} gives ${shorten(name)}, which is there already`;
}

/**
 * Checks that one row, the weights, and the row's intermediate values fit in memory, as far as the file says their
 * sizes. A few bytes can describe a huge shape, which would fill a runner as it loads the file or with the first
 * request. Activations count as float32. Values of unknown size are left to the memory watchdog of the process that
 * tries the model. `weightLimit` is that of the way by which the model came.
 */
export function checkSizes(
  model: OnnxModel,
  shapes: ReadonlyMap<string, Shape>,
  weightLimit: "modelWeightBytes" | "largeModelBytes" = "modelWeightBytes",
): FieldError[] {
  return [...checkInputs(model), ...checkWeights(model, weightLimit), ...checkActivations(model, shapes)];
}

/**
 * Edge and runner make inputs of their own to measure and to probe, so even an input too large for a request would fill
 * them.
 */
function checkInputs({ inputs }: OnnxModel): FieldError[] {
  let sum = 0;
  for (const [index, { name, dtype, shape }] of inputs.entries()) {
    const elements = countElements(shape.map((size) => (typeof size === "number" ? size : 1)));
    // The length of a text takes four bytes, however short the text.
    sum += sizeInBytes(dtype === "string" ? "uint32" : dtype, elements);
    if (sum > LIMITS.inferBodyBytes) {
      const message = `the input ${shorten(name)} brings a row to ${sum} bytes, ${over("inferBodyBytes")}`;
      return [{ pointer: `#/graph/input/${index}`, message }];
    }
  }
  return [];
}

function checkWeights(model: OnnxModel, limit: "modelWeightBytes" | "largeModelBytes"): FieldError[] {
  const bytes = measureWeights(model);
  if (bytes <= LIMITS[limit]) return [];
  return [{ pointer: "#/graph/initializer", message: `has weights of ${bytes} bytes, ${over(limit)}` }];
}

/**
 * ONNX Runtime keeps values of weights alone, which it computes when it loads a model, and frees others after their last
 * reader. The sum of what is there at any time is checked. Readers inside subgraphs are not counted: a value that only
 * they use counts as freed early.
 */
function checkActivations({ nodes, weights, outputs }: OnnxModel, shapes: ReadonlyMap<string, Shape>): FieldError[] {
  const fixed = new Set([...weights.keys(), ""]);
  const lastReaders = new Map(nodes.flatMap(({ inputs }, index) => inputs.map((name) => [name, index] as const)));
  for (const { name } of outputs) lastReaders.set(name, nodes.length);
  const bytesOf = (name: string) => sizeInBytes("float32", countElements(shapes.get(name) ?? [0]));
  const freed = Map.groupBy(lastReaders.keys(), (name) => lastReaders.get(name));
  const computed = new Set<string>();
  let sum = 0;
  for (const [index, node] of nodes.entries()) {
    const isFixed = node.inputs.every((name) => fixed.has(name));
    for (const name of node.outputs) {
      if (name === "") continue;
      sum += bytesOf(name);
      (isFixed ? fixed : computed).add(name);
    }
    // One error is enough.
    if (sum > LIMITS.modelActivationBytes) {
      const message = `${nameNode(node)} brings what one row takes to ${sum} bytes, ${over("modelActivationBytes")}`;
      return [{ pointer: `#/graph/node/${index}`, message }];
    }
    for (const name of freed.get(index) ?? []) sum -= computed.has(name) ? bytesOf(name) : 0;
  }
  return [];
}

function over(limit: "inferBodyBytes" | "modelWeightBytes" | "largeModelBytes" | "modelActivationBytes"): string {
  return `and may have ${LIMITS[limit]}`;
}
