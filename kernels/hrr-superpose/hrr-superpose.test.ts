import { expect, test } from "vitest";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { hrrSuperpose } from "./hrr-superpose.kernel.ts";

test("a wrong answer is told from a right one in few dimensions, too", () => {
  const worst = [1, 2, 3].map((dimension) =>
    hrrSuperpose.tolerance.absolute({ groups: 65_535, vectors: 4096, dimension }),
  );
  expect(Math.max(...worst)).toBeLessThan(0.01);
});

testKernel(
  hrrSuperpose,
  [
    { groups: 7, vectors: 5, dimension: 131 },
    { groups: 1, vectors: 1, dimension: 1 },
    { groups: 3, vectors: 8, dimension: 256 },
    { groups: 2, vectors: 3, dimension: 4099 },
    { groups: 1, vectors: 4096, dimension: 6 },
    { groups: 65_535, vectors: 2, dimension: 2 },
    { groups: 8191, vectors: 33, dimension: 1 },
  ],
  { "group-per-group": { lanes: 4 } },
);
