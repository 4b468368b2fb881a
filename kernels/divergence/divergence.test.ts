import { testKernel } from "../../test/kernels/test-kernel.ts";
import { divergence } from "./divergence.kernel.ts";

testKernel(divergence, [
  { n: 1023, paths: 8, steps: 13 },
  { n: 1, paths: 1, steps: 1 },
  { n: 7, paths: 8, steps: 1 },
  { n: 65, paths: 3, steps: 64 },
  { n: 256, paths: 1, steps: 7 },
  { n: 16, paths: 8, steps: 65_536 },
  // More groups than one dimension takes at 64 lanes.
  { n: 2 ** 22, paths: 2, steps: 1 },
]);
