import type { KernelDimension, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { PICTURES_IN_REGISTERS, tileInRegisters, tileInWorkgroupMemory } from "../tiled-product/tiled-product.ts";
import { type Conv2dSize, conv2dReference } from "./conv2d.reference.ts";

type Shape = KernelShape<Conv2dSize>;

const size = (name: Conv2dSize, description: string, max: number, standard: number): KernelDimension<Conv2dSize> => ({
  name,
  description,
  min: 1,
  max,
  default: standard,
});

const countRows = ({ height, stride }: Shape) => Math.ceil(height / stride);
const countColumns = ({ width, stride }: Shape) => Math.ceil(width / stride);
const countPixels = (shape: Shape) => countRows(shape) * countColumns(shape);

const extent = (shape: Shape) => ({ rows: countPixels(shape), columns: shape.filters, products: shape.batch });

/** Matrix product of the pixels' neighbourhoods, which are never written down, and the weights. */
const implicitGemm = tileInRegisters(
  { name: "implicit-gemm", file: "implicit-gemm.wgsl", shared: [PICTURES_IN_REGISTERS], extent },
  { lanesN: { values: [1, 2, 4, 8, 16], default: 4 }, lanesM: { values: [1, 2, 4, 8], default: 2 } },
);

/** Straight from the definition: four pixels of a row and four filters an invocation. */
const direct: KernelVariant<Conv2dSize, "lanesN" | "lanesX"> = {
  name: "direct",
  file: "direct.wgsl",
  axes: [
    { name: "lanesN", values: [1, 2, 4, 8, 16], default: 4 },
    { name: "lanesX", values: [1, 2, 4, 8], default: 2 },
  ],
  passes: [
    {
      entryPoint: "main",
      workgroups: (shape, { lanesN, lanesX }) => [
        Math.ceil(shape.filters / (4 * lanesN)),
        Math.ceil(countColumns(shape) / (4 * lanesX)),
        shape.batch * countRows(shape),
      ],
    },
  ],
};

/** The same product with tiles in workgroup memory. */
const implicitGemmShared = tileInWorkgroupMemory({
  name: "implicit-gemm-shared",
  file: "implicit-gemm-shared.wgsl",
  shared: [],
  extent,
});

/** Two-dimensional convolution, channels last. */
export const conv2d: KernelSpec<Conv2dSize> = {
  name: "conv2d",
  description: "Two-dimensional convolution, channels last, zeros around the picture",
  folder: new URL(".", import.meta.url),
  // One dispatch takes 127 pictures of 512 rows, and 512² pixels, eight a group.
  dimensions: [
    size("batch", "Pictures", 127, 1),
    size("height", "Rows of a picture", 512, 56),
    size("width", "Columns of a picture", 512, 56),
    size("channels", "Channels of a picture", 4096, 64),
    size("filters", "Channels of the output", 4096, 64),
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
      extents: ({ kernel, channels, filters }) => [kernel * kernel, channels, filters],
      alignment: [1, 4, 4],
    },
    {
      name: "output",
      access: "write",
      dtype: "float32",
      extents: (shape) => [shape.batch, countPixels(shape), shape.filters],
      alignment: [1, 1, 4],
    },
  ],
  variants: [implicitGemm, direct, implicitGemmShared],
  splitBy: "batch",
  flops: (shape) => 2 * shape.batch * countPixels(shape) * shape.filters * shape.channels * shape.kernel * shape.kernel,
  bytes: (shape) => {
    const { batch, height, width, channels, filters, kernel } = shape;
    return 4 * (batch * (height * width * channels + countPixels(shape) * filters) + kernel ** 2 * channels * filters);
  },
  tolerance: {
    relative: 0,
    // Σ|input||weight| is a quarter of the products on average for values that are uniform in [-1, 1).
    absolute: ({ kernel, channels }) => {
      const products = kernel * kernel * channels;
      return 8 * Math.sqrt(products) * 2 ** -24 * Math.max(1, products / 4);
    },
    reason:
      "rounding of kernel²·channels = k products summed in f32: λ·√k·u·Σ|a||b| with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019)",
  },
  generate: ({ batch, height, width, channels, filters, kernel }, seed) => ({
    input: seededUniform(seed, 0, batch * height * width * channels),
    weights: seededUniform(seed, 1, kernel * kernel * channels * filters),
  }),
  reference: conv2dReference,
};
