import { type OnnxModel, type OnnxNode, type OnnxTensor, sizeInBytes } from "../../onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../onnx/tensor-values.ts";
import { layerName } from "./compression-report.ts";
import type { LinearLayer } from "./linear-layers.ts";
import { makeNode } from "./edit-graph.ts";
import { channelScales, quantiseLinear, quantisePerChannel } from "./quantise-linear.ts";

/** Half of int32's range, which leaves the sum over the inputs the other half. */
const LARGEST_BIAS = 2 ** 30;

/** Weights and bias of a layer as integers, and the names that its node reads. */
interface StaticWeights {
  readonly tensors: readonly OnnxTensor[];
  readonly nodes: readonly OnnxNode[];
  readonly inputs: readonly string[];
}

/**
 * int8 weights by output channel, and an int32 bias in the scale of its sums, input scale · weight scale. A channel
 * whose weights are so small that its bias would overflow has a larger scale.
 */
export function storeStaticWeights(
  model: OnnxModel,
  { node, weights, outputAxis: axis }: LinearLayer,
  inputScale: number,
  free: (wished: string) => string,
): StaticWeights {
  const bias = node.inputs[2] ? biasOf(model, node.inputs[2], weights.dims[axis]!) : null;
  const scales = channelScales(weights, axis).map((scale, channel) =>
    Math.max(scale, Math.abs(bias?.[channel] ?? 0) / LARGEST_BIAS / inputScale),
  );
  const bytes = new Uint8Array(quantisePerChannel(weights, axis, scales).buffer);
  const matrix = store(weights.name, { dtype: "int8", dims: weights.dims, bytes }, scales, axis, free);
  if (bias === null) return { ...matrix, inputs: [node.inputs[0]!, matrix.output] };
  const biasScales = scales.map((scale) => Math.fround(scale * inputScale));
  const whole = Int32Array.from(bias, (value, channel) =>
    quantiseLinear(value, { dtype: "int32", scale: biasScales[channel]!, zeroPoint: 0 }),
  );
  const sum = { dtype: "int32", dims: [whole.length], bytes: new Uint8Array(whole.buffer) } as const;
  const added = store(`${layerName(node)}_bias`, sum, biasScales, 0, free);
  return {
    tensors: [...matrix.tensors, ...added.tensors],
    nodes: [...matrix.nodes, ...added.nodes],
    inputs: [node.inputs[0]!, matrix.output, added.output],
  };
}

/** Bias with a number for each channel; a Gemm may have a single one for all. */
function biasOf(model: OnnxModel, name: string, channels: number): Float32Array {
  const values = floatsOf(model.weights.get(name)!);
  return values.length === channels ? values : new Float32Array(channels).fill(values[0]!);
}

function store(
  name: string,
  whole: Omit<OnnxTensor, "name">,
  scales: Float32Array,
  axis: number,
  free: (wished: string) => string,
) {
  const tensor: OnnxTensor = { ...whole, name: free(`${name}_${whole.dtype}`) };
  const scale = floatTensor(free(`${name}_scale`), [scales.length], scales);
  // Zero points are zero by default too, but ONNX Runtime fuses a Gemm only where they are explicit.
  const zeros = new Uint8Array(sizeInBytes(whole.dtype, scales.length));
  const zeroPoint: OnnxTensor = {
    name: free(`${name}_zero_point`),
    dtype: whole.dtype,
    dims: [scales.length],
    bytes: zeros,
  };
  const output = free(`${name}_dequantised`);
  const attributes = { axis: { kind: "int", value: axis } } as const;
  return {
    tensors: [tensor, scale, zeroPoint],
    nodes: [makeNode("DequantizeLinear", [tensor.name, scale.name, zeroPoint.name], output, attributes)],
    output,
  };
}
