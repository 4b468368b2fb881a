import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from "../../../onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../../onnx/tensor-values.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { sfc32 } from "../../../stats/random/seeded.ts";
import { makeNode } from "../edit-graph.ts";
import { ConvLayer, PoolLayer } from "./picture-layers.ts";
import { DenseLayer, type Extent, ReluLayer, sizeOf, type StudentLayer } from "./student-layer.ts";

const [IR_VERSION, OPSET] = [8, 17];

const ints = (value: readonly number[]): OnnxAttribute => ({ kind: "ints", value });

/**
 * Student as a network with the teacher's input and output. `axes` is the number of axes of the pixels: ONNX has the
 * channels before them, the training here after them.
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
    // Names that cannot equal the teacher's.
    const name = `${input.name}/${output.name}/${index}`;
    const isLast = index === layers.length - 1;
    const next = isLast && output.shape.length === 2 ? output.name : name;
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
  if (value !== output.name) {
    const shape = integerTensor(`${output.name}.shape`, [0, ...output.shape.slice(1).map(Number)]);
    weights.set(shape.name, shape);
    nodes.push(makeNode("Reshape", [value, shape.name], output.name));
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

/** Converts blocks of height × width × channels to channels × height × width. */
export function channelsFirst(values: Float64Array, extent: Extent): Float64Array {
  const { channels } = extent;
  const [size, pixels] = [sizeOf(extent), sizeOf(extent) / channels];
  return values.map((_, place) => {
    const [block, within] = [Math.floor(place / size), place % size];
    const [channel, pixel] = [Math.floor(within / pixels), within % pixels];
    return values[block * size + pixel * channels + channel]!;
  });
}

/**
 * One layer of a student; a ReLU follows each except a pool. A kernel is square, or a row where the inputs are signals.
 */
export type RecipeLayer =
  | { readonly kind: "conv"; readonly filters: number; readonly kernel: number; readonly stride: number }
  | { readonly kind: "pool"; readonly size: number }
  | { readonly kind: "dense"; readonly units: number };

/** Layers of a recipe with weights drawn by a seed, followed by a dense one for the classes. */
export function buildStudent(input: Extent, recipe: readonly RecipeLayer[], classes: number, seed: number) {
  const draw = sfc32(seed);
  const uniform = () => draw(2 ** 31) / 2 ** 31;
  const layers: (ConvLayer | DenseLayer | PoolLayer | ReluLayer)[] = [];
  let extent = input;
  for (const [index, step] of recipe.entries()) {
    const layer = buildLayer(step, extent, uniform);
    extent = layer.output;
    if (sizeOf(extent) === 0) throw new ProblemError("invalid-request", "A pool is larger than its input.", at(index));
    layers.push(layer);
    if (step.kind !== "pool") layers.push(new ReluLayer(extent));
  }
  layers.push(new DenseLayer(extent, classes, uniform));
  return layers;
}

function buildLayer(step: RecipeLayer, input: Extent, draw: () => number): ConvLayer | DenseLayer | PoolLayer {
  if (step.kind === "conv") return new ConvLayer(input, step.filters, step.kernel, step.stride, draw);
  if (step.kind === "pool") return new PoolLayer(input, step.size);
  return new DenseLayer(input, step.units, draw);
}

function at(index: number) {
  return { errors: [{ pointer: `#/recipe/${index}`, message: "leaves no output" }] };
}

/** Answers of all layers, one after the other. */
export function runStudent(layers: readonly StudentLayer[], input: Float64Array, rows: number): Float64Array {
  return layers.reduce((values, layer) => layer.forward(values, rows), input);
}
