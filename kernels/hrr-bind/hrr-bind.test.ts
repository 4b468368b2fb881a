import { testKernel } from "../../test/kernels/test-kernel.ts";
import { hrrBind } from "./hrr-bind.kernel.ts";

testKernel(
  hrrBind,
  [
    { pairs: 3, dimension: 256 },
    { pairs: 1, dimension: 1 },
    { pairs: 5, dimension: 4 },
    { pairs: 3, dimension: 100 },
    { pairs: 1, dimension: 8191 },
    { pairs: 1, dimension: 8192 },
    { pairs: 65_535, dimension: 2 },
  ],
  { "in-workgroup": { lanes: 4 } },
);
