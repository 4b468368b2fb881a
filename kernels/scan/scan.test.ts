import { testKernel } from "../../test/kernels/test-kernel.ts";
import { scan } from "./scan.kernel.ts";

testKernel(scan, [{ n: 65_539 }, { n: 1 }, { n: 2 }, { n: 5 }, { n: 63 }, { n: 1024 }, { n: 16_385 }, { n: 2 ** 25 }], {
  "share-per-group": { lanes: 4 },
});
