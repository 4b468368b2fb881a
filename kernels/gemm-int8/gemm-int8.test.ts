import { testKernel } from "../../test/kernels/test-kernel.ts";
import { gemmInt8 } from "./gemm-int8.kernel.ts";

testKernel(gemmInt8, [
  { m: 37, n: 67, k: 29 },
  { m: 1, n: 1, k: 1 },
  { m: 1, n: 129, k: 5 },
  { m: 65, n: 1, k: 127 },
  { m: 64, n: 64, k: 64 },
  { m: 8192, n: 3, k: 2 },
  { m: 2, n: 8192, k: 3 },
  { m: 3, n: 5, k: 8192 },
]);
