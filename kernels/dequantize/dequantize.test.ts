import { testKernel } from "../../test/kernels/test-kernel.ts";
import { dequantize } from "./dequantize.kernel.ts";

testKernel(dequantize, [
  { channels: 6, length: 135 },
  { channels: 1, length: 1 },
  { channels: 2, length: 17 },
  { channels: 3, length: 16 },
  { channels: 5, length: 515 },
  { channels: 65_535, length: 3 },
  { channels: 2, length: 2 ** 19 },
]);
