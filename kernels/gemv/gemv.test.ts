import { testKernel } from "../../test/kernels/test-kernel.ts";
import { gemv } from "./gemv.kernel.ts";

testKernel(
  gemv,
  [
    { m: 135, k: 301 },
    { m: 1, k: 1 },
    { m: 1, k: 259 },
    { m: 129, k: 3 },
    { m: 64, k: 256 },
    { m: 65, k: 257 },
    { m: 65_535, k: 5 },
    { m: 3, k: 65_536 },
  ],
  { "row-per-group": { lanes: 16 } },
);
