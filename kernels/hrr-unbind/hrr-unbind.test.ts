import { testKernel } from "../../test/kernels/test-kernel.ts";
import { hrrUnbind } from "./hrr-unbind.kernel.ts";

// Binding has the same programs; what is not tested there is here.
testKernel(
  hrrUnbind,
  [
    { pairs: 3, dimension: 256 },
    { pairs: 5, dimension: 8 },
    { pairs: 2, dimension: 101 },
    { pairs: 2, dimension: 2048 },
    { pairs: 1, dimension: 4096 },
  ],
  { "in-workgroup": { lanes: 4 } },
);
