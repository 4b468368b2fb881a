import { testKernel } from "../../test/kernels/test-kernel.ts";
import { fmaPeak } from "./fma-peak.kernel.ts";

testKernel(fmaPeak, [
  { n: 1027, rounds: 3 },
  { n: 1, rounds: 1 },
  { n: 4096, rounds: 64 },
  { n: 65_537, rounds: 5 },
  { n: 3, rounds: 4096 },
  { n: 65_535 * 32 * 4, rounds: 1 },
]);
