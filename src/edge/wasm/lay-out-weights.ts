import type { DenseLayer } from "../onnx/dense-network.ts";

/** Outputs of a panel and of a narrow one, as assembly/dense-network.ts takes them. */
const PANEL = 32;
const NARROW = 4;
/** Outputs of a block of bytes, and inputs that it takes at once. */
const ROWS = 8;
const BYTES = 16;
const LARGEST = 127;

/**
 * Writes a layer's weights in panels of 32 outputs and then of 4, in a panel input by input. `target` holds
 * `inputs` (a multiple of 4) times the outputs rounded up to 4, and zeros where there are no weights.
 */
export function layOutFloats({ weights, outputs, ...layer }: DenseLayer, target: Float32Array, inputs: number): void {
  const padded = target.length / inputs;
  let at = 0;
  for (let first = 0, width = 0; first < padded; first += width) {
    width = first + PANEL <= padded ? PANEL : NARROW;
    const used = Math.min(width, outputs - first);
    for (let input = 0; input < layer.inputs; input++) {
      const from = input * outputs + first;
      target.set(weights.subarray(from, from + used), at + input * width);
    }
    at += inputs * width;
  }
}

/**
 * Writes a layer's weights as bytes, −127 … 127 times a scale for each output (the largest of its weights over
 * 127), in blocks of 8 outputs, in a block by 16 inputs, then output by output. `factors` holds three rows as long
 * as the outputs rounded up to 8: scale, scale times the sum of its bytes, and bias.
 */
export function layOutBytes(layer: DenseLayer, target: Int8Array, factors: Float32Array, inputs: number): void {
  const { weights, outputs, bias } = layer;
  const padded = factors.length / 3;
  for (let output = 0; output < outputs; output++) {
    let most = 0;
    for (let i = output; i < weights.length; i += outputs) most = Math.max(most, Math.abs(weights[i]!));
    const scale = most / LARGEST;
    const block = Math.floor(output / ROWS) * ROWS * inputs + (output % ROWS) * BYTES;
    let sum = 0;
    for (let input = 0; input < layer.inputs; input++) {
      const step = scale > 0 ? Math.round(weights[input * outputs + output]! / scale) : 0;
      target[block + Math.floor(input / BYTES) * ROWS * BYTES + (input % BYTES)] = step;
      sum += step;
    }
    factors[output] = scale;
    factors[padded + output] = scale * sum;
    factors[2 * padded + output] = bias[output]!;
  }
}
