import { testKernel } from "../../test/kernels/test-kernel.ts";
import { randomAccess } from "./random-access.kernel.ts";

testKernel(randomAccess, [
  { n: 1023, span: 4097 },
  { n: 1, span: 1 },
  { n: 65, span: 1 },
  { n: 1, span: 1023 },
  { n: 256, span: 64 },
  { n: 3, span: 2 ** 24 },
  // More groups than one dimension takes at 64 lanes.
  { n: 2 ** 23, span: 3 },
]);
