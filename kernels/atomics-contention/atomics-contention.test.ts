import { testKernel } from "../../test/kernels/test-kernel.ts";
import { atomicsContention } from "./atomics-contention.kernel.ts";

testKernel(atomicsContention, [
  { n: 65_539, counters: 37 },
  { n: 1, counters: 1 },
  { n: 3, counters: 16 },
  { n: 100_000, counters: 1 },
  { n: 4097, counters: 17 },
  { n: 3, counters: 2 ** 19 },
  { n: 2 ** 24, counters: 8 },
]);
