import { expect, test } from "vitest";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { hrrProject } from "./hrr-project.kernel.ts";

test("a wrong answer is told from a right one in few dimensions, too", () => {
  const worst = [1, 2, 3].map((outputs) => hrrProject.tolerance.absolute({ rows: 65_535, inputs: 8192, outputs }));
  expect(Math.max(...worst)).toBeLessThan(0.01);
});

testKernel(
  hrrProject,
  [
    { rows: 7, inputs: 33, outputs: 70 },
    { rows: 1, inputs: 1, outputs: 1 },
    { rows: 5, inputs: 64, outputs: 128 },
    { rows: 2, inputs: 8192, outputs: 5 },
    { rows: 2, inputs: 5, outputs: 2051 },
    { rows: 65_535, inputs: 1, outputs: 3 },
    { rows: 8191, inputs: 33, outputs: 1 },
  ],
  { "row-per-group": { lanes: 4 } },
);
