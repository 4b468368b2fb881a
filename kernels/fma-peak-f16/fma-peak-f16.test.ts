import { testKernel } from "../../test/kernels/test-kernel.ts";
import { fmaPeakF16 } from "./fma-peak-f16.kernel.ts";

testKernel(fmaPeakF16, [
  { n: 1027, rounds: 3 },
  { n: 1, rounds: 1 },
  { n: 4096, rounds: 64 },
  { n: 65_537, rounds: 1 },
  { n: 3, rounds: 4096 },
  { n: 65_535 * 32 * 8, rounds: 1 },
]);
