import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../onnx/tensor-values.ts";

/** The same network without unused weights. */
export function dropUnusedWeights(model: OnnxModel): OnnxModel {
  const read = new Set([...model.nodes.flatMap(({ inputs }) => inputs), ...model.outputs.map(({ name }) => name)]);
  return { ...model, weights: new Map([...model.weights].filter(([name]) => read.has(name))) };
}

/** Generates unused names: the requested one, or that with a number appended. */
export function freeNames({ nodes, weights, inputs }: OnnxModel): (wished: string) => string {
  const taken = new Set([...weights.keys(), ...inputs.map(({ name }) => name)]);
  for (const { outputs } of nodes) for (const name of outputs) taken.add(name);
  return (wished) => {
    let name = wished;
    for (let number = 2; taken.has(name); number++) name = `${wished}_${number}`;
    taken.add(name);
    return name;
  };
}

/** Before ONNX IR 4, files had to list their weights among their inputs; files written here do not. */
const FIRST_IR_WITH_FREE_WEIGHTS = 4;

/** The same network with its Constant nodes turned into weights. */
export function hoistConstants(model: OnnxModel): OnnxModel {
  const weights = new Map(model.weights);
  const outputs = new Set(model.outputs.map(({ name }) => name));
  const nodes = model.nodes.filter((node) => {
    const tensor = constantOf(node);
    if (tensor === undefined || outputs.has(tensor.name)) return true;
    weights.set(tensor.name, tensor);
    return false;
  });
  return { ...model, irVersion: Math.max(model.irVersion, FIRST_IR_WITH_FREE_WEIGHTS), nodes, weights };
}

function constantOf({ operator, domain, outputs, attributes }: OnnxNode): OnnxTensor | undefined {
  const [attribute] = attributes.values();
  return operator === "Constant" && domain === "" && attribute ? tensorOf(outputs[0]!, attribute) : undefined;
}

function tensorOf(name: string, attribute: OnnxAttribute): OnnxTensor | undefined {
  switch (attribute.kind) {
    case "tensor":
      return { ...attribute.value, name };
    case "float":
      return floatTensor(name, [], Float32Array.of(attribute.value));
    case "floats":
      return floatTensor(name, [attribute.value.length], Float32Array.from(attribute.value));
    case "int":
      return { ...integerTensor(name, [attribute.value]), dims: [] };
    case "ints":
      return integerTensor(name, attribute.value);
    case "string":
    case "strings":
    case "other":
      return undefined;
  }
}

/** Node of a standard ONNX operator with one output; the node has the output's name. */
export function makeNode(
  operator: string,
  inputs: readonly string[],
  output: string,
  attributes: Readonly<Record<string, OnnxAttribute>> = {},
): OnnxNode {
  return {
    name: `${output}/${operator}`,
    operator,
    domain: "",
    inputs,
    outputs: [output],
    attributes: new Map(Object.entries(attributes)),
  };
}

/** Number of readers of a computed value, the network's output included. */
export function readersOf({ nodes, outputs }: OnnxModel, name: string): number {
  const inside = nodes.reduce((sum, { inputs }) => sum + inputs.filter((input) => input === name).length, 0);
  return inside + (outputs.some((output) => output.name === name) ? 1 : 0);
}

/** New storage of a weight: tensors, and nodes that compute the weight from them. */
export interface StoredWeight {
  readonly tensors: readonly OnnxTensor[];
  /** Nodes in order; the last one's output replaces the weight. */
  readonly nodes: readonly OnnxNode[];
}

/** The same network with another storage of some weights, by name. The nodes that compute them come first. */
export function replaceWeights(model: OnnxModel, stored: ReadonlyMap<string, StoredWeight>): OnnxModel {
  const weights = new Map(model.weights);
  const renamed = new Map<string, string>();
  for (const [name, { tensors, nodes }] of stored) {
    for (const tensor of tensors) weights.set(tensor.name, tensor);
    renamed.set(name, nodes.at(-1)!.outputs[0]!);
  }
  const readers = model.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((name) => renamed.get(name) ?? name),
  }));
  const makers = [...stored.values()].flatMap(({ nodes }) => nodes);
  return dropUnusedWeights({ ...model, nodes: [...makers, ...readers], weights });
}
