import { testKernel } from "../../test/kernels/test-kernel.ts";
import { argmax } from "./argmax.kernel.ts";

testKernel(argmax, [{ n: 65_539 }, { n: 1 }, { n: 2 }, { n: 5 }, { n: 63 }, { n: 64 }, { n: 16_385 }, { n: 2 ** 25 }]);
