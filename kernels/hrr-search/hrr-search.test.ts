import { testKernel } from "../../test/kernels/test-kernel.ts";
import { hrrSearch } from "./hrr-search.kernel.ts";

testKernel(
  hrrSearch,
  [
    { queries: 5, items: 37, dimension: 131 },
    { queries: 1, items: 1, dimension: 1 },
    { queries: 4, items: 64, dimension: 256 },
    { queries: 2, items: 3, dimension: 8192 },
    { queries: 256, items: 9, dimension: 6 },
    { queries: 1, items: 65_535, dimension: 3 },
  ],
  { "item-per-group": { lanes: 4 } },
);
