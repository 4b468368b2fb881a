import type { DenseLayer } from "../onnx-mlp-writer.ts";
import type { Policy } from "./evaluate.ts";

const OBSERVATIONS = 4;
const HIDDEN = 16;
const ACTIONS = 2;

const WEIGHTS_1 = OBSERVATIONS * HIDDEN;
const BIAS_1 = WEIGHTS_1 + HIDDEN;
const WEIGHTS_2 = BIAS_1 + HIDDEN * ACTIONS;

/** Length of the parameter vector of the 4-16-2 network: weights and bias of each layer in turn. */
export const MLP_PARAMETERS = WEIGHTS_2 + ACTIONS;

/** The layers of a parameter vector [MLP_PARAMETERS], rounded to float32. */
export function mlpLayers(parameters: Float64Array): DenseLayer[] {
  const part = (from: number, to: number) => Float32Array.from(parameters.subarray(from, to));
  return [
    { inputs: OBSERVATIONS, outputs: HIDDEN, weights: part(0, WEIGHTS_1), bias: part(WEIGHTS_1, BIAS_1) },
    { inputs: HIDDEN, outputs: ACTIONS, weights: part(BIAS_1, WEIGHTS_2), bias: part(WEIGHTS_2, MLP_PARAMETERS) },
  ];
}

/** Takes the action with the higher logit of a 4-16-2 network with tanh between, computed in f64; a tie is 0. */
export function mlpPolicy(parameters: Float64Array): Policy {
  const [w1, b1, w2, b2] = [0, WEIGHTS_1, BIAS_1, WEIGHTS_2];
  return ([x, xDot, theta, thetaDot]) => {
    let left = parameters[b2]!;
    let right = parameters[b2 + 1]!;
    for (let unit = 0; unit < HIDDEN; unit++) {
      const row = w1 + unit * OBSERVATIONS;
      const sum =
        parameters[b1 + unit]! +
        parameters[row]! * x +
        parameters[row + 1]! * xDot +
        parameters[row + 2]! * theta +
        parameters[row + 3]! * thetaDot;
      const hidden = Math.tanh(sum);
      left += parameters[w2 + unit]! * hidden;
      right += parameters[w2 + HIDDEN + unit]! * hidden;
    }
    return right > left ? 1 : 0;
  };
}
