import { benchKernel } from "./bench-kernel.ts";

const square = (size: number, runs: number) => ({
  name: String(size),
  input: { kernel: "gemm", shape: { m: size, n: size, k: size }, mode: "stream", runs } as const,
});

/** Products of square matrices. */
export const benchGemm = benchKernel([
  square(64, 32),
  square(128, 16),
  square(256, 8),
  square(512, 2),
  square(1024, 1),
]);
