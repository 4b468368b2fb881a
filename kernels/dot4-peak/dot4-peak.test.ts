import { testKernel } from "../../test/kernels/test-kernel.ts";
import { dot4Peak } from "./dot4-peak.kernel.ts";

testKernel(dot4Peak, [
  { n: 1027, rounds: 3 },
  { n: 1, rounds: 1 },
  { n: 2048, rounds: 64 },
  { n: 65_537, rounds: 2 },
  { n: 3, rounds: 4096 },
]);
