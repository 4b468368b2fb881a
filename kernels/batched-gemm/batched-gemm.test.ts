import { testKernel } from "../../test/kernels/test-kernel.ts";
import { batchedGemm } from "./batched-gemm.kernel.ts";

testKernel(
  batchedGemm,
  [
    { batch: 3, m: 37, n: 67, k: 29 },
    { batch: 1, m: 1, n: 1, k: 1 },
    { batch: 5, m: 1, n: 129, k: 5 },
    { batch: 2, m: 65, n: 1, k: 127 },
    { batch: 4, m: 8, n: 64, k: 4 },
    { batch: 7, m: 9, n: 65, k: 16 },
    { batch: 65_535, m: 2, n: 3, k: 1 },
    { batch: 2, m: 8192, n: 3, k: 2 },
    { batch: 2, m: 2, n: 8192, k: 3 },
    { batch: 2, m: 3, n: 5, k: 8192 },
  ],
  { "shared-tiled": { tile: 4 } },
);
