import { testKernel } from "../../test/kernels/test-kernel.ts";
import { hrrEncode } from "./hrr-encode.kernel.ts";

testKernel(hrrEncode, [
  { symbols: 3, dimension: 131 },
  { symbols: 1, dimension: 1 },
  { symbols: 2, dimension: 8192 },
  { symbols: 65_535, dimension: 2 },
]);
