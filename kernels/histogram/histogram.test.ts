import { testKernel } from "../../test/kernels/test-kernel.ts";
import { histogram } from "./histogram.kernel.ts";

testKernel(histogram, [
  { n: 65_539, bins: 37 },
  { n: 1, bins: 1 },
  { n: 3, bins: 16 },
  { n: 1000, bins: 1 },
  { n: 4097, bins: 17 },
  { n: 100_003, bins: 4096 },
  { n: 2 ** 25, bins: 256 },
]);
