import { testKernel } from "../../test/kernels/test-kernel.ts";
import { matmulBiasActivation } from "./matmul-bias-activation.kernel.ts";

testKernel(matmulBiasActivation, [
  { m: 37, n: 67, k: 29, activation: 2 },
  { m: 37, n: 67, k: 29, activation: 1 },
  { m: 37, n: 67, k: 29, activation: 3 },
  { m: 37, n: 67, k: 29, activation: 4 },
  { m: 37, n: 67, k: 29, activation: 5 },
  { m: 1, n: 1, k: 1, activation: 2 },
  { m: 1, n: 129, k: 5, activation: 4 },
  { m: 65, n: 1, k: 127, activation: 2 },
  { m: 64, n: 64, k: 64, activation: 3 },
  { m: 8192, n: 3, k: 2, activation: 5 },
  { m: 2, n: 8192, k: 3, activation: 1 },
  { m: 3, n: 5, k: 8192, activation: 4 },
]);
