import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from "../../../onnx/onnx-model.ts";
import { floatTensor } from "../../../onnx/tensor-values.ts";
import { makeNode } from "../make-node.ts";
import { ConvLayer } from "./conv-layer.ts";
import { DenseLayer } from "./dense-layer.ts";
import { PoolLayer } from "./pool-layer.ts";
import { type Extent, sizeOf, type StudentLayer } from "./student-layer.ts";

const [IR_VERSION, OPSET] = [8, 17];

const ints = (value: readonly number[]): OnnxAttribute => ({ kind: "ints", value });

/**
 * A student as a network with the teacher's input and output. `axes` is how many the pixels lie along: ONNX has the
 * channels before them, and what is trained here has them behind.
 */
export function writeStudent(
  layers: readonly StudentLayer[],
  axes: number,
  input: OnnxValue,
  output: OnnxValue,
): OnnxModel {
  const nodes: OnnxNode[] = [];
  const weights = new Map<string, OnnxTensor>();
  const put = (name: string, dims: readonly number[], values: Float64Array): string => {
    weights.set(name, floatTensor(name, dims, Float32Array.from(values)));
    return name;
  };
  let [value, flat] = [input.name, axes === 0];
  for (const [index, layer] of layers.entries()) {
    // Nothing of it can have the teacher's names.
    const name = `${input.name}/${output.name}/${index}`;
    const next = index === layers.length - 1 ? output.name : name;
    if (layer instanceof ConvLayer) {
      const { dims, values } = filtersOf(layer, axes);
      const read = [
        value,
        put(`${name}.weight`, dims, values),
        put(`${name}.bias`, [dims[0]!], layer.parameters[1].values),
      ];
      nodes.push(makeNode("Conv", read, next, convAttributes(layer, axes)));
    } else if (layer instanceof PoolLayer) {
      const size = ints(layer.size.slice(-axes));
      nodes.push(makeNode("MaxPool", [value], next, { kernel_shape: size, strides: size }));
    } else if (layer instanceof DenseLayer) {
      if (!flat) nodes.push(makeNode("Flatten", [value], `${name}.flat`));
      const units = layer.output.channels;
      const matrix = put(
        `${name}.weight`,
        [units, sizeOf(layer.input)],
        channelsFirst(layer.parameters[0].values, layer.input),
      );
      const read = [flat ? value : `${name}.flat`, matrix, put(`${name}.bias`, [units], layer.parameters[1].values)];
      nodes.push(makeNode("Gemm", read, next, { transB: { kind: "int", value: 1 } }));
      flat = true;
    } else nodes.push(makeNode("Relu", [value], next));
    value = next;
  }
  const head = { irVersion: IR_VERSION, opset: OPSET, domains: new Map<string, number>(), name: "student" };
  return { ...head, nodes, weights, inputs: [input], outputs: [output] };
}

function filtersOf({ kernel, input, output, parameters: [{ values }] }: ConvLayer, axes: number) {
  const spatial = { height: kernel[0], width: kernel[1], channels: input.channels };
  return { dims: [output.channels, input.channels, ...kernel.slice(-axes)], values: channelsFirst(values, spatial) };
}

function convAttributes({ kernel, padding, stride, input, output }: ConvLayer, axes: number) {
  const after = [input.height, input.width].map((size, axis) => {
    const places = [output.height, output.width][axis]!;
    return Math.max(0, (places - 1) * stride + kernel[axis]! - size - padding[axis]!);
  });
  return {
    kernel_shape: ints(kernel.slice(-axes)),
    strides: ints(kernel.slice(-axes).map(() => stride)),
    pads: ints([...padding.slice(-axes), ...after.slice(-axes)]),
  };
}

/** Blocks of height × width × channels as blocks of channels × height × width. */
export function channelsFirst(values: Float64Array, extent: Extent): Float64Array {
  const { channels } = extent;
  const [size, pixels] = [sizeOf(extent), sizeOf(extent) / channels];
  return values.map((_, place) => {
    const [block, within] = [Math.floor(place / size), place % size];
    const [channel, pixel] = [Math.floor(within / pixels), within % pixels];
    return values[block * size + pixel * channels + channel]!;
  });
}
