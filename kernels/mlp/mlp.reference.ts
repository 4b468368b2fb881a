import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";
import { countWeights, layOutLayers, type MlpLayer, type MlpNetworkSize, type MlpSize } from "./mlp-layers.ts";

/** Activations of the hidden layers by their number; the last layer has none. */
const ACTIVATIONS: Readonly<Record<number, (x: number) => number>> = {
  1: (x) => x,
  2: (x) => Math.max(0, x),
  3: Math.tanh,
};

/** One dense layer on one sample in f64, without its activation. */
function applyLayer(parameters: Float32Array, neurons: Float64Array, layer: MlpLayer): Float64Array<ArrayBuffer> {
  const outputs = new Float64Array(layer.outer);
  for (let neuron = 0; neuron < layer.outer; neuron++) {
    let sum = parameters[layer.bias + neuron]!;
    for (let i = 0; i < layer.inner; i++) sum += parameters[layer.weights + i * layer.pitch + neuron]! * neurons[i]!;
    outputs[neuron] = sum;
  }
  return outputs;
}

/** One sample through a network in f64. */
export function forwardMlp(
  parameters: Float32Array,
  sample: Float32Array,
  shape: KernelShape<MlpNetworkSize>,
): Float64Array<ArrayBuffer> {
  const layers = layOutLayers(shape);
  const activate = ACTIVATIONS[shape.activation]!;
  let neurons = Float64Array.from(sample);
  for (const [index, layer] of layers.entries()) {
    const sums = applyLayer(parameters, neurons, layer);
    neurons = index + 1 < layers.length ? sums.map(activate) : sums;
  }
  return neurons;
}

/** output[batch × outputs]: every sample through the network. Elements of one sample in a row cost one pass. */
export function mlpReference(inputs: KernelArrays, shape: KernelShape<MlpSize>): KernelReference {
  const { parameters, input } = inputs as { parameters: Float32Array; input: Float32Array };
  const forward = (sample: number) =>
    forwardMlp(parameters, input.subarray(sample * shape.inputs, (sample + 1) * shape.inputs), shape);

  let current = { sample: -1, outputs: new Float64Array() };
  return {
    output: "output",
    length: shape.batch * shape.outputs,
    elementFlops: 2 * countWeights(shape),
    element(index) {
      const sample = Math.floor(index / shape.outputs);
      if (sample !== current.sample) current = { sample, outputs: forward(sample) };
      return current.outputs[index % shape.outputs]!;
    },
  };
}
