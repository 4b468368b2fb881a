import { testKernel } from "../../test/kernels/test-kernel.ts";
import { transpose } from "./transpose.kernel.ts";

testKernel(transpose, [
  { m: 67, n: 131 },
  { m: 1, n: 1 },
  { m: 1, n: 129 },
  { m: 65, n: 1 },
  { m: 3, n: 5 },
  { m: 64, n: 64 },
  { m: 17, n: 16 },
  { m: 65_536, n: 3 },
  { m: 2, n: 65_536 },
]);
