import type { OnnxModel } from "../../onnx/onnx-model.ts";

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
