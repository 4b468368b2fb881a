import { testKernel } from "../../test/kernels/test-kernel.ts";
import { triad } from "./triad.kernel.ts";

// The last but one needs more groups than one dimension takes at 32 lanes; the last is the limit.
testKernel(triad, [{ n: 1023 }, { n: 1 }, { n: 3 }, { n: 4 }, { n: 257 }, { n: 65_537 }, { n: 2 ** 25 }]);
