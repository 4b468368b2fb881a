import { benchKernel } from "./bench-kernel.ts";

const layer = (batch: number, size: number, channels: number, filters: number, runs: number) => ({
  name: `${batch} x ${size}² ${channels}→${filters}`,
  input: {
    kernel: "conv2d",
    shape: { batch, height: size, width: size, channels, filters, kernel: 3, stride: 1 },
    mode: "stream",
    runs,
  } as const,
});

/** Typical layers of image networks, from the first on three colours to deep ones, and odd channels. */
export const benchConv3x3 = benchKernel([
  layer(1, 32, 3, 32, 8),
  layer(1, 28, 64, 64, 1),
  layer(1, 28, 33, 64, 2),
  layer(1, 14, 128, 128, 1),
  layer(1, 14, 129, 128, 1),
  layer(4, 16, 16, 32, 4),
]);
