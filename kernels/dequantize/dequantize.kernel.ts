import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";
import { dequantizeReference } from "./dequantize.reference.ts";

type Size = "channels" | "length";

const createVariant = (name: string, elements: number): KernelVariant<Size, "lanes"> => ({
  name,
  file: `${name}.wgsl`,
  axes: [{ name: "lanes", values: [4, 16, 32, 64, 128], default: 32 }],
  passes: [
    {
      entryPoint: "main",
      workgroups: ({ channels, length }, { lanes }) => [Math.ceil(length / (elements * lanes)), channels, 1],
    },
  ],
});

/** Back from int8, with a scale and a zero point for each channel. */
export const dequantize: KernelSpec<Size> = {
  name: "dequantize",
  description: "Back from int8 per channel: (q − zero point) · scale",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "channels", description: "Rows, each with its scale", min: 1, max: MAX_GROUPS, default: 1024 },
    { name: "length", description: "Elements of a channel", min: 1, max: 2 ** 19, default: 1024 },
  ],
  batchDimension: "channels",
  dtypes: ["int8"],
  bindings: [
    {
      name: "q",
      access: "read",
      dtype: "int8",
      extents: ({ channels, length }) => [channels, length],
      alignment: [1, 16],
    },
    { name: "scales", access: "read", dtype: "float32", extents: ({ channels }) => [channels], alignment: [1] },
    { name: "zeroPoints", access: "read", dtype: "int32", extents: ({ channels }) => [channels], alignment: [1] },
    {
      name: "y",
      access: "write",
      dtype: "float32",
      extents: ({ channels, length }) => [channels, length],
      alignment: [1, 16],
    },
  ],
  variants: [createVariant("sixteen-per-lane", 16), createVariant("four-per-lane", 4)],
  splitBy: "channels",
  flops: ({ channels, length }) => 2 * channels * length,
  bytes: ({ channels, length }) => 5 * channels * length + 8 * channels,
  tolerance: {
    relative: 0,
    absolute: () => 0,
    reason: "one product of f32, which WGSL rounds correctly (accuracy of expressions)",
  },
  generate: ({ channels, length }, seed) => ({
    q: Int8Array.from(seededUniform(seed, 0, channels * length, 128), Math.floor),
    scales: seededUniform(seed, 1, channels).map((value) => (2 + value) / 100),
    zeroPoints: Int32Array.from(seededUniform(seed, 2, channels, 128), Math.floor),
  }),
  reference: dequantizeReference,
};
