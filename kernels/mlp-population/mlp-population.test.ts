import { testKernel } from "../../test/kernels/test-kernel.ts";
import { mlpPopulation } from "./mlp-population.kernel.ts";

testKernel(mlpPopulation, [
  { members: 5, samples: 3, inputs: 7, hidden: 19, outputs: 3, layers: 3, activation: 3 },
  { members: 1, samples: 1, inputs: 1, hidden: 1, outputs: 1, layers: 1, activation: 1 },
  { members: 1, samples: 9, inputs: 4, hidden: 16, outputs: 2, layers: 2, activation: 2 },
  { members: 33, samples: 1, inputs: 65, hidden: 2, outputs: 66, layers: 2, activation: 2 },
  { members: 16, samples: 4, inputs: 8, hidden: 32, outputs: 4, layers: 3, activation: 2 },
  { members: 9, samples: 2, inputs: 3, hidden: 5, outputs: 4, layers: 8, activation: 3 },
  { members: 2, samples: 1, inputs: 512, hidden: 512, outputs: 512, layers: 2, activation: 1 },
  { members: 2, samples: 1024, inputs: 3, hidden: 5, outputs: 1, layers: 2, activation: 2 },
  { members: 65_535, samples: 1, inputs: 2, hidden: 3, outputs: 1, layers: 2, activation: 2 },
]);
