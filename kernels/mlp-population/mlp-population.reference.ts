import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";
import { countWeights, type MlpNetworkSize } from "../mlp/mlp-layers.ts";
import { forwardMlp } from "../mlp/mlp.reference.ts";

export type MlpPopulationSize = "members" | "samples" | MlpNetworkSize;

/**
 * output[members × samples × outputs]: every member's samples through that member's network. Elements of one
 * sample in a row cost one pass.
 */
export function mlpPopulationReference(arrays: KernelArrays, shape: KernelShape<MlpPopulationSize>): KernelReference {
  const { parameters, input } = arrays as { parameters: Float32Array; input: Float32Array };
  const { members, samples, inputs, outputs } = shape;
  const each = parameters.length / members;

  function forward(item: number): Float64Array<ArrayBuffer> {
    const member = Math.floor(item / samples);
    const network = parameters.subarray(member * each, (member + 1) * each);
    return forwardMlp(network, input.subarray(item * inputs, (item + 1) * inputs), shape);
  }

  let current = { item: -1, outputs: new Float64Array() };
  return {
    output: "output",
    length: members * samples * outputs,
    elementFlops: 2 * countWeights(shape),
    element(index) {
      const item = Math.floor(index / outputs);
      if (item !== current.item) current = { item, outputs: forward(item) };
      return current.outputs[index % outputs]!;
    },
  };
}
