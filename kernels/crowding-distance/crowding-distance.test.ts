import { expect, test } from "vitest";
import { readReference } from "../../test/kernels/read-reference.ts";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { crowdingDistance } from "./crowding-distance.kernel.ts";
import { crowdingDistanceReference, END_DISTANCE } from "./crowding-distance.reference.ts";

test("is the gap between the neighbours in the front, by each objective", () => {
  const objectives = Float32Array.from(
    [
      [0, 10],
      [9, 0],
      [4, 6],
      [1, 8],
      [3, 7],
      [5, 5],
    ].flat(),
  );
  const rank = Int32Array.of(0, 0, 0, 0, 1, 1);
  const reference = crowdingDistanceReference({ objectives, rank }, { populations: 1, members: 6, objectives: 2 });
  const { distance } = readReference(reference);
  expect(distance?.map((each) => each === END_DISTANCE)).toEqual([true, true, false, false, true, true]);
  expect(distance?.[2]).toBeCloseTo((9 - 1) / 9 + (8 - 0) / 10, 12);
  expect(distance?.[3]).toBeCloseTo((4 - 0) / 9 + (10 - 6) / 10, 12);
});

test("of equals the first and the last are ends, and those between have no gap", () => {
  const objectives = Float32Array.of(1, 1, 1, 1);
  const rank = new Int32Array(4);
  const reference = crowdingDistanceReference({ objectives, rank }, { populations: 1, members: 4, objectives: 1 });
  expect(readReference(reference)).toEqual({ distance: [END_DISTANCE, 0, 0, END_DISTANCE] });
});

testKernel(crowdingDistance, [
  { populations: 3, members: 67, objectives: 3 },
  { populations: 1, members: 1, objectives: 1 },
  { populations: 2, members: 100, objectives: 1 },
  { populations: 1, members: 300, objectives: 16 },
  { populations: 1, members: 1024, objectives: 2 },
  { populations: 16_384, members: 2, objectives: 2 },
]);
