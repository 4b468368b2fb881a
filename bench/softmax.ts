import { benchKernel } from "./bench-kernel.ts";

const matrix = (rows: number, columns: number, runs: number) => ({
  name: `${rows} x ${columns}`,
  input: { kernel: "softmax", shape: { rows, columns }, mode: "stream", runs } as const,
});

/** From the ten classes of many samples to a few rows of a vocabulary. */
export const benchSoftmax = benchKernel([
  matrix(4096, 10, 8),
  matrix(64, 128, 32),
  matrix(512, 513, 8),
  matrix(1024, 1024, 4),
  matrix(128, 4096, 4),
  matrix(8, 32_000, 8),
]);
