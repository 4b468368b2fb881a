import type { KernelDimension, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { ACTIVATE, SAMPLE_PER_GROUP, countWeights, layOutLayers, mlpWidths, widestLayer } from "../mlp/mlp-layers.ts";
import { generateParameters } from "../mlp/mlp.kernel.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems, MAX_GROUPS } from "../webgpu-limits.ts";
import { type MlpPopulationSize, mlpPopulationReference } from "./mlp-population.reference.ts";

type Shape = KernelShape<MlpPopulationSize>;

const size = (
  name: MlpPopulationSize,
  description: string,
  max: number,
  standard: number,
): KernelDimension<MlpPopulationSize> => ({ name, description, min: 1, max, default: standard });

const constants = (shape: Shape) => ({ width: widestLayer(shape), activation: shape.activation });

const countParameters = (shape: Shape) => layOutLayers(shape).at(-1)?.end ?? 0;

/** Best on software devices: no barrier; neurons are in storage. */
const samplePerLane: KernelVariant<MlpPopulationSize, "lanes"> = {
  name: "sample-per-lane",
  file: "sample-per-lane.wgsl",
  shared: [ACTIVATE],
  axes: [{ name: "lanes", values: [4, 8, 16, 32, 64], default: 16 }],
  constants,
  passes: [
    { entryPoint: "main", workgroups: ({ members, samples }, { lanes }) => coverItems(members * samples, lanes) },
  ],
};

/** Lanes along the neurons of a layer, which are in workgroup memory. */
const samplePerGroup: KernelVariant<MlpPopulationSize, "lanes"> = {
  name: "sample-per-group",
  file: "sample-per-group.wgsl",
  shared: [SAMPLE_PER_GROUP, ACTIVATE],
  axes: [{ name: "lanes", values: [4, 8, 16, 32, 64], default: 16 }],
  constants,
  passes: [{ entryPoint: "main", workgroups: ({ members, samples }) => [members, samples, 1] }],
};

/** A different dense network for every member of a population, all of one form. */
export const mlpPopulation: KernelSpec<MlpPopulationSize> = {
  name: "mlp-population",
  description: "A different dense network for every member of a population, in one dispatch",
  folder: new URL(".", import.meta.url),
  dimensions: [
    size("members", "Networks", MAX_GROUPS, 1024),
    size("samples", "Samples of each member", 1024, 1),
    size("inputs", "Width of the input", 512, 8),
    size("hidden", "Width of the hidden layers", 512, 32),
    size("outputs", "Width of the output", 512, 4),
    size("layers", "Dense layers, the last one included", 8, 3),
    size("activation", "Of the hidden layers: 1 none, 2 relu, 3 tanh", 3, 3),
  ],
  batchDimension: "members",
  dtypes: ["float32"],
  bindings: [
    { name: "widths", access: "read", dtype: "int32", extents: ({ layers }) => [layers + 1], alignment: [1] },
    {
      name: "parameters",
      access: "read",
      dtype: "float32",
      extents: (shape) => [shape.members, countParameters(shape)],
      alignment: [1, 1],
    },
    {
      name: "input",
      access: "read",
      dtype: "float32",
      extents: ({ members, samples, inputs }) => [members * samples, inputs],
      alignment: [1, 4],
    },
    {
      name: "neurons",
      access: "scratch",
      dtype: "float32",
      extents: (shape) => [shape.members * shape.samples, 2 * widestLayer(shape)],
      alignment: [1, 1],
    },
    {
      name: "output",
      access: "write",
      dtype: "float32",
      extents: ({ members, samples, outputs }) => [members * samples, outputs],
      alignment: [1, 4],
    },
  ],
  variants: [samplePerLane, samplePerGroup],
  splitBy: "members",
  flops: (shape) => 2 * shape.members * shape.samples * countWeights(shape),
  bytes: (shape) => 4 * shape.members * (countWeights(shape) + shape.samples * (shape.inputs + shape.outputs)),
  tolerance: {
    relative: 0,
    absolute: (shape) => shape.layers * (8 * widestLayer(shape) * 2 ** -24 + 1e-5),
    reason:
      "per layer, rounding of w products of size 1/√w summed in f32, λ·√w·u·Σ|w||x| with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019), and 1e-5 for a tanh built from exp",
  },
  generate: (shape, seed) => {
    const each = countParameters(shape);
    const parameters = new Float32Array(shape.members * each);
    for (let member = 0; member < shape.members; member++) {
      parameters.set(generateParameters(shape, seed + member), member * each);
    }
    return {
      widths: Int32Array.from(mlpWidths(shape)),
      parameters,
      input: seededUniform(seed, 0, shape.members * shape.samples * shape.inputs),
    };
  },
  reference: mlpPopulationReference,
};
