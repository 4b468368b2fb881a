import { testKernel } from "../../test/kernels/test-kernel.ts";
import { stridedAccess } from "./strided-access.kernel.ts";

testKernel(stridedAccess, [
  { n: 1023, stride: 7 },
  { n: 1, stride: 1 },
  { n: 1, stride: 32 },
  { n: 65, stride: 2 },
  { n: 256, stride: 16 },
  { n: 2 ** 20, stride: 32 },
]);
