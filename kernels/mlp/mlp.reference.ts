import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type MlpSize = "batch" | "inputs" | "hidden" | "outputs" | "layers" | "activation";

/** Activations of the hidden layers by the number that stands for them; the last layer has none. */
const ACTIVATIONS: Readonly<Record<number, (x: number) => number>> = {
  1: (x) => x,
  2: (x) => Math.max(0, x),
  3: Math.tanh,
};

/** Widths of the network, input first: layers + 1 numbers. */
export function mlpWidths({ inputs, hidden, outputs, layers }: KernelShape<MlpSize>): number[] {
  return [inputs, ...Array<number>(layers - 1).fill(hidden), outputs];
}

/** Weights and biases of all layers. */
export function countMlpParameters(shape: KernelShape<MlpSize>): number {
  const widths = mlpWidths(shape);
  return widths.slice(1).reduce((total, width, layer) => total + (widths[layer]! + 1) * width, 0);
}

/** One sample through the network in f64; per layer, parameters hold weights[in][out] and bias[out]. */
function forward(parameters: Float32Array, input: Float32Array, shape: KernelShape<MlpSize>): Float64Array<ArrayBuffer> {
  const widths = mlpWidths(shape);
  const activate = ACTIVATIONS[shape.activation]!;
  let neurons = Float64Array.from(input);
  let offset = 0;
  for (let layer = 0; layer < shape.layers; layer++) {
    const inner = widths[layer]!;
    const outer = widths[layer + 1]!;
    const next = new Float64Array(outer);
    for (let neuron = 0; neuron < outer; neuron++) {
      let sum = parameters[offset + inner * outer + neuron]!;
      for (let i = 0; i < inner; i++) sum += parameters[offset + i * outer + neuron]! * neurons[i]!;
      next[neuron] = layer + 1 < shape.layers ? activate(sum) : sum;
    }
    neurons = next;
    offset += (inner + 1) * outer;
  }
  return neurons;
}

/** output[batch × outputs]: every sample through the network. Elements of one sample in a row cost one pass. */
export function mlpReference(inputs: KernelArrays, shape: KernelShape<MlpSize>): KernelReference {
  const { parameters, input } = inputs as { parameters: Float32Array; input: Float32Array };
  let current = { sample: -1, outputs: new Float64Array() };
  return {
    output: "output",
    length: shape.batch * shape.outputs,
    elementFlops: 2 * countMlpParameters(shape),
    element(index) {
      const sample = Math.floor(index / shape.outputs);
      if (sample !== current.sample) {
        const row = input.subarray(sample * shape.inputs, (sample + 1) * shape.inputs);
        current = { sample, outputs: forward(parameters, row, shape) };
      }
      return current.outputs[index % shape.outputs]!;
    },
  };
}
