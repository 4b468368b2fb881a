import type { Activation } from "../../src/protocol/models/policy-network.ts";
import type { PolicyLayer } from "./policy-layout.ts";

/** Outputs of a dense network for one observation. */
export function applyDense(
  layers: readonly PolicyLayer[],
  parameters: Float32Array,
  observation: Float64Array,
): Float64Array {
  return layers.reduce<Float64Array>((before, { inputs, outputs, activation, weightsAt, biasAt }) => {
    return Float64Array.from({ length: outputs }, (_, output) => {
      let sum = parameters[biasAt + output]!;
      for (let input = 0; input < inputs; input++)
        sum += parameters[weightsAt + output * inputs + input]! * before[input]!;
      return activate(sum, activation);
    });
  }, observation);
}

/** Activations of a sum. */
export function activate(value: number, activation: Activation): number {
  switch (activation) {
    case "none":
      return value;
    case "relu":
      return Math.max(value, 0);
    case "tanh":
      return Math.tanh(value);
    case "sigmoid":
      return 1 / (1 + Math.exp(-value));
  }
}
