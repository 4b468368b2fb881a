import type {
  KernelDimension,
  KernelPass,
  KernelShape,
  KernelSpec,
  KernelVariant,
  TuningAxis,
} from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import {
  ACTIVATE,
  SAMPLE_PER_GROUP,
  countWeights,
  layOutLayers,
  type MlpNetworkSize,
  type MlpSize,
  mlpWidths,
  widestLayer,
} from "./mlp-layers.ts";
import { mlpReference } from "./mlp.reference.ts";

/** Two layers of 512 neurons × 4 samples fill the 16 KiB of workgroup memory that WebGPU promises. */
const MAX_WIDTH = 512;

const size = (name: MlpSize, description: string, max: number, standard: number): KernelDimension<MlpSize> => ({
  name,
  description,
  min: 1,
  max,
  default: standard,
});

const lanes: TuningAxis<"lanes"> = { name: "lanes", values: [4, 8, 16, 32, 64, 128], default: 16 };

const constants = (shape: KernelShape<MlpSize>) => ({
  width: widestLayer(shape),
  activation: shape.activation,
});

const pass = (samples: number): KernelPass<MlpSize> => ({
  entryPoint: "main",
  workgroups: ({ batch }) => [Math.ceil(batch / samples), 1, 1],
});

const fourSamples: KernelVariant<MlpSize> = {
  name: "four-samples",
  file: "four-samples.wgsl",
  shared: [ACTIVATE],
  axes: [lanes],
  constants,
  passes: [pass(4)],
};

const oneSample: KernelVariant<MlpSize> = {
  name: "one-sample",
  file: "one-sample.wgsl",
  shared: [SAMPLE_PER_GROUP, ACTIVATE],
  axes: [lanes],
  constants,
  passes: [pass(1)],
};

/** An exp of it overflows, from which a device may build its tanh. */
const LARGE_SUM = 100;

/**
 * Parameters whose variance keeps signals at their size through layers of any width. Where the activation is tanh, the
 * first neuron of each hidden layer has a large sum.
 */
export function generateParameters(shape: KernelShape<MlpNetworkSize>, seed: number): Float32Array<ArrayBuffer> {
  const layers = layOutLayers(shape);
  const parameters = new Float32Array(layers.at(-1)?.end ?? 0);
  for (const [index, { inner, outer, pitch, weights, bias }] of layers.entries()) {
    const values = seededUniform(seed, 1 + index, (inner + 1) * outer, Math.sqrt(3 / inner));
    const row = (i: number) => values.subarray(i * outer, (i + 1) * outer);
    for (let i = 0; i < inner; i++) parameters.set(row(i), weights + i * pitch);
    parameters.set(row(inner), bias);
    if (shape.activation === 3 && index + 1 < layers.length) parameters[bias] = LARGE_SUM;
  }
  return parameters;
}

/** A whole dense network, fused: inputs → hidden × (layers − 1) → outputs, activation on all but the last layer. */
export const mlp: KernelSpec<MlpSize> = {
  name: "mlp",
  description: "A whole dense network in one dispatch, for any batch",
  folder: new URL(".", import.meta.url),
  dimensions: [
    size("batch", "Samples", 32_768, 64),
    size("inputs", "Width of the input", MAX_WIDTH, 64),
    size("hidden", "Width of the hidden layers", MAX_WIDTH, 128),
    size("outputs", "Width of the output", MAX_WIDTH, 8),
    size("layers", "Dense layers, the last one included", 8, 3),
    size("activation", "Of the hidden layers: 1 none, 2 relu, 3 tanh", 3, 2),
  ],
  batchDimension: "batch",
  dtypes: ["float32"],
  bindings: [
    { name: "widths", access: "read", dtype: "int32", extents: ({ layers }) => [layers + 1], alignment: [1] },
    {
      name: "parameters",
      access: "read",
      dtype: "float32",
      extents: (s) => [layOutLayers(s).at(-1)?.end ?? 0],
      alignment: [1],
    },
    { name: "input", access: "read", dtype: "float32", extents: (s) => [s.batch, s.inputs], alignment: [1, 4] },
    { name: "output", access: "write", dtype: "float32", extents: (s) => [s.batch, s.outputs], alignment: [1, 4] },
  ],
  variants: [fourSamples, oneSample],
  splitBy: "batch",
  preferVariant: ({ batch }) => (batch < 4 ? "one-sample" : "four-samples"),
  flops: (shape) => 2 * shape.batch * countWeights(shape),
  bytes: (shape) => 4 * (countWeights(shape) + shape.batch * (shape.inputs + shape.outputs)),
  tolerance: {
    relative: 0,
    absolute: (shape) => shape.layers * (8 * widestLayer(shape) * 2 ** -24 + 1e-5),
    reason:
      "per layer, rounding of w products of size 1/√w summed in f32, λ·√w·u·Σ|w||x| with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019), and 1e-5 for a tanh built from exp",
  },
  generate: (shape, seed) => ({
    widths: Int32Array.from(mlpWidths(shape)),
    parameters: generateParameters(shape, seed),
    input: seededUniform(seed, 0, shape.batch * shape.inputs),
  }),
  reference: mlpReference,
};
