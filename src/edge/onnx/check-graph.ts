import type { OnnxModel } from "../../onnx/onnx-model.ts";
import type { FieldError } from "../../protocol/problem.ts";
import { nameNode, shorten } from "./name-node.ts";

/**
 * Whether a graph is sound: each node takes what stands before it, no name is given twice, and outputs are computed.
 * Since nodes stand in the order in which they run, a graph without a complaint has no cycle. One by one: a small file
 * may have millions.
 */
export function* checkGraph({ nodes, weights, inputs, outputs }: OnnxModel): Generator<FieldError> {
  const given = new Set<string>(weights.keys());
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
