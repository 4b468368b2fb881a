import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../onnx/tensor-values.ts";

/** The same network without weights that nothing reads. */
export function dropUnusedWeights(model: OnnxModel): OnnxModel {
  const read = new Set([...model.nodes.flatMap(({ inputs }) => inputs), ...model.outputs.map(({ name }) => name)]);
  return { ...model, weights: new Map([...model.weights].filter(([name]) => read.has(name))) };
}

/** Gives names that nothing in a network has: the wished one, or that with a number behind it. */
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

/** Files of before ONNX IR 4 had to list their weights among their inputs; what is written here does not. */
const FIRST_IR_WITH_FREE_WEIGHTS = 4;

/** The same network, what its Constant nodes say being among its weights. */
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

/** A node of one of ONNX's own operators with one output, which it is named for. */
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

/** How many times something that a network computes is read, as the network's output too. */
export function readersOf({ nodes, outputs }: OnnxModel, name: string): number {
  const inside = nodes.reduce((sum, { inputs }) => sum + inputs.filter((input) => input === name).length, 0);
  return inside + (outputs.some((output) => output.name === name) ? 1 : 0);
}

/** How a weight is stored from now on: tensors, and nodes that make the weight of them. */
export interface StoredWeight {
  readonly tensors: readonly OnnxTensor[];
  /** In their order; the last one's output stands for the weight. */
  readonly nodes: readonly OnnxNode[];
}

/** The same network with some weights, by name, stored otherwise. The nodes that make them come first. */
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
