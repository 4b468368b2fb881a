import { testKernel } from "../../test/kernels/test-kernel.ts";
import { hrrSimilarity } from "./hrr-similarity.kernel.ts";

testKernel(
  hrrSimilarity,
  [
    { pairs: 37, dimension: 131 },
    { pairs: 1, dimension: 1 },
    { pairs: 5, dimension: 256 },
    { pairs: 4, dimension: 8191 },
    { pairs: 4, dimension: 8192 },
    { pairs: 65_535, dimension: 3 },
  ],
  { "pair-per-group": { lanes: 4 } },
);
