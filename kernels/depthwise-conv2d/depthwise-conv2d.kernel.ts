import type { KernelDimension, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { type DepthwiseSize, depthwiseConv2dReference } from "./depthwise-conv2d.reference.ts";

type Shape = KernelShape<DepthwiseSize>;

const size = (
  name: DepthwiseSize,
  description: string,
  max: number,
  standard: number,
): KernelDimension<DepthwiseSize> => ({ name, description, min: 1, max, default: standard });

const countRows = ({ height, stride }: Shape) => Math.ceil(height / stride);
const countColumns = ({ width, stride }: Shape) => Math.ceil(width / stride);

const createVariant = (name: string, pixels: number): KernelVariant<DepthwiseSize, "lanesC" | "lanesX"> => ({
  name,
  file: `${name}.wgsl`,
  axes: [
    { name: "lanesC", values: [1, 4, 8, 16, 32], default: 8 },
    { name: "lanesX", values: [1, 2, 4, 8], default: 2 },
  ],
  passes: [
    {
      entryPoint: "main",
      workgroups: (shape, { lanesC, lanesX }) => [
        Math.ceil(shape.channels / (4 * lanesC)),
        Math.ceil(countColumns(shape) / (pixels * lanesX)),
        shape.batch * countRows(shape),
      ],
    },
  ],
});

/** Convolution of every channel by its own filter, channels last. */
export const depthwiseConv2d: KernelSpec<DepthwiseSize> = {
  name: "depthwise-conv2d",
  description: "Convolution of every channel by its own filter, channels last, zeros around the picture",
  folder: new URL(".", import.meta.url),
  // One dispatch takes 127 pictures of 512 rows.
  dimensions: [
    size("batch", "Pictures", 127, 1),
    size("height", "Rows of a picture", 512, 56),
    size("width", "Columns of a picture", 512, 56),
    size("channels", "Channels of the picture and of the output", 4096, 128),
    size("kernel", "Rows and columns of a filter", 7, 3),
    size("stride", "Step from one output pixel to the next", 4, 1),
  ],
  batchDimension: "batch",
  dtypes: ["float32"],
  bindings: [
    {
      name: "input",
      access: "read",
      dtype: "float32",
      extents: ({ batch, height, width, channels }) => [batch, height, width, channels],
      alignment: [1, 1, 1, 4],
    },
    {
      name: "weights",
      access: "read",
      dtype: "float32",
      extents: ({ kernel, channels }) => [kernel * kernel, channels],
      alignment: [1, 4],
    },
    {
      name: "output",
      access: "write",
      dtype: "float32",
      extents: (shape) => [shape.batch, countRows(shape), countColumns(shape), shape.channels],
      alignment: [1, 1, 1, 4],
    },
  ],
  variants: [createVariant("four-pixels", 4), createVariant("one-pixel", 1)],
  splitBy: "batch",
  flops: (shape) => 2 * shape.batch * countRows(shape) * countColumns(shape) * shape.channels * shape.kernel ** 2,
  bytes: (shape) => {
    const { batch, height, width, channels, kernel } = shape;
    return 4 * channels * (batch * (height * width + countRows(shape) * countColumns(shape)) + kernel ** 2);
  },
  tolerance: {
    relative: 0,
    absolute: ({ kernel }) => kernel ** 4 * 2 ** -24,
    reason: "kernel² products of at most 1 summed in f32: n·u·Σ|a||b| at worst (Higham, Accuracy and Stability, 3.1)",
  },
  generate: ({ batch, height, width, channels, kernel }, seed) => ({
    input: seededUniform(seed, 0, batch * height * width * channels),
    weights: seededUniform(seed, 1, kernel * kernel * channels),
  }),
  reference: depthwiseConv2dReference,
};
