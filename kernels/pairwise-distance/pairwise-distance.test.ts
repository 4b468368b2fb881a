import { expect, test } from "vitest";
import { readReference } from "../../test/kernels/read-reference.ts";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { pairwiseDistance } from "./pairwise-distance.kernel.ts";
import { pairwiseDistanceReference } from "./pairwise-distance.reference.ts";

test("is the mean over pairs, each counted once", () => {
  const population = Float32Array.of(0, 0, /* */ 3, 4, /* */ 0, 1);
  const { diversity } = readReference(pairwiseDistanceReference({ population }, { members: 3, genes: 2 }));
  expect(diversity?.[0]).toBeCloseTo((5 + 1 + Math.sqrt(18)) / 3, 12);
});

testKernel(pairwiseDistance, [
  { members: 67, genes: 37 },
  { members: 1, genes: 1 },
  { members: 2, genes: 5 },
  { members: 4, genes: 1024 },
  { members: 1024, genes: 3 },
]);
