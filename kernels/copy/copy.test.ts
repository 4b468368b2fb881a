import { testKernel } from "../../test/kernels/test-kernel.ts";
import { copy } from "./copy.kernel.ts";

// The last but one needs more groups than one dimension takes at 32 lanes.
testKernel(copy, [{ n: 1023 }, { n: 1 }, { n: 4 }, { n: 65_537 }, { n: 65_536 * 32 * 4 }, { n: 2 ** 25 }]);
