import { testKernel } from "../../test/kernels/test-kernel.ts";
import { mlp } from "./mlp.kernel.ts";

testKernel(mlp, [
  { batch: 5, inputs: 7, hidden: 19, outputs: 3, layers: 3, activation: 3 },
  { batch: 1, inputs: 1, hidden: 1, outputs: 1, layers: 1, activation: 1 },
  { batch: 1, inputs: 4, hidden: 16, outputs: 2, layers: 2, activation: 2 },
  { batch: 3, inputs: 65, hidden: 2, outputs: 66, layers: 2, activation: 2 },
  { batch: 4, inputs: 64, hidden: 128, outputs: 8, layers: 3, activation: 2 },
  { batch: 9, inputs: 3, hidden: 5, outputs: 4, layers: 8, activation: 3 },
  { batch: 2, inputs: 512, hidden: 512, outputs: 512, layers: 2, activation: 1 },
  { batch: 32_768, inputs: 2, hidden: 3, outputs: 1, layers: 2, activation: 2 },
]);
