import { testKernel } from "../../test/kernels/test-kernel.ts";
import { hrrProject } from "./hrr-project.kernel.ts";

testKernel(
  hrrProject,
  [
    { rows: 7, inputs: 33, outputs: 70 },
    { rows: 1, inputs: 1, outputs: 1 },
    { rows: 5, inputs: 64, outputs: 128 },
    { rows: 2, inputs: 8192, outputs: 5 },
    { rows: 2, inputs: 5, outputs: 2051 },
    { rows: 65_535, inputs: 1, outputs: 3 },
  ],
  { "row-per-group": { lanes: 4 } },
);
