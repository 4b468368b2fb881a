import { testKernel } from "../../test/kernels/test-kernel.ts";
import { emptyDispatch } from "./empty-dispatch.kernel.ts";

testKernel(emptyDispatch, [{ groups: 3 }, { groups: 1 }, { groups: 257 }, { groups: 65_535 }]);
