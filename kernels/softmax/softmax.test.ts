import { testKernel } from "../../test/kernels/test-kernel.ts";
import { softmax } from "./softmax.kernel.ts";

testKernel(
  softmax,
  [
    { rows: 37, columns: 9001 },
    { rows: 37, columns: 131 },
    { rows: 1, columns: 1 },
    { rows: 1, columns: 1023 },
    { rows: 129, columns: 3 },
    { rows: 16, columns: 64 },
    { rows: 9, columns: 257 },
    { rows: 65_535, columns: 2 },
    { rows: 2, columns: 65_536 },
  ],
  { "row-per-group": { lanes: 4 } },
);
