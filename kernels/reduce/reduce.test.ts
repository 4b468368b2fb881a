import { expect, test } from "vitest";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { reduce } from "./reduce.kernel.ts";

test("inputs do not drift, so that the largest sums are exact in f32", () => {
  const { values } = reduce.generate({ n: 2 ** 20 }, 1) as { values: Float32Array };
  // Seven deviations of a random walk; with a mean of −½ it would be 2¹⁹.
  expect(Math.abs(values.reduce((sum, value) => sum + value, 0))).toBeLessThan(2 ** 15);
});

testKernel(reduce, [{ n: 65_539 }, { n: 1 }, { n: 2 }, { n: 5 }, { n: 63 }, { n: 64 }, { n: 16_385 }, { n: 2 ** 25 }]);
