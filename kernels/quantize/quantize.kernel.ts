import type { KernelArrays, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";
import { quantizeReference } from "./quantize.reference.ts";

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

/**
 * Even channels have a power of two as their scale, so that quotients are exact and every eighth of a step is
 * met, ties and saturation too. Odd ones have any scale and stay an eighth of a step or more away from ties.
 */
function generate({ channels, length }: KernelShape<Size>, seed: number): KernelArrays {
  const scales = seededUniform(seed, 1, channels).map((value, channel) =>
    channel % 2 === 0 ? 2 ** (Math.floor(value * 4) - 4) : (2 + value) / 100,
  );
  const zeroPoints = Int32Array.from(seededUniform(seed, 2, channels, 128), Math.floor);
  const x = seededUniform(seed, 0, channels * length, 320 * 8).map((value, index) => {
    const channel = Math.floor(index / length);
    const eighths = Math.floor(value);
    const isTie = (eighths & 7) === 4;
    return ((isTie && channel % 2 === 1 ? eighths + 1 : eighths) / 8) * scales[channel]!;
  });
  return { x, scales, zeroPoints };
}

/** Linear quantization to int8 with a scale and a zero point for each channel. */
export const quantize: KernelSpec<Size> = {
  name: "quantize",
  description: "Quantization to int8 per channel: saturate(round-half-even(x / scale) + zero point)",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "channels", description: "Rows, each with its scale", min: 1, max: MAX_GROUPS, default: 1024 },
    { name: "length", description: "Elements of a channel", min: 1, max: 2 ** 19, default: 1024 },
  ],
  batchDimension: "channels",
  dtypes: ["float32"],
  bindings: [
    {
      name: "x",
      access: "read",
      dtype: "float32",
      extents: ({ channels, length }) => [channels, length],
      alignment: [1, 16],
    },
    { name: "scales", access: "read", dtype: "float32", extents: ({ channels }) => [channels], alignment: [1] },
    { name: "zeroPoints", access: "read", dtype: "int32", extents: ({ channels }) => [channels], alignment: [1] },
    {
      name: "q",
      access: "write",
      dtype: "int8",
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
    reason:
      "integers; quotients are exact or an eighth of a step away from a tie, which the 2.5 ULP that WGSL allows a division cannot cross (WGSL, accuracy of expressions)",
  },
  generate,
  reference: quantizeReference,
};
