import { describe, expect, it } from "vitest";
import { addToCurve } from "../../../../src/gpu-runner/training/train-policy.ts";
import type { CurvePoint } from "../../../../src/protocol/jobs/training.ts";

function draw(generations: number, most: number, judgedEvery = Infinity): CurvePoint[] {
  let curve: CurvePoint[] = [];
  for (let generation = 1; generation <= generations; generation++) {
    const fresh = generation % judgedEvery === 0 ? generation : null;
    curve = addToCurve(curve, { generation, steps: 10 * generation, best: generation, mean: 0, fresh }, most);
  }
  return curve;
}

describe("addToCurve", () => {
  it("keeps every generation while there is room", () => {
    expect(draw(8, 8).map(({ generation }) => generation)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it("keeps the last of every two, four, … then, and always the latest", () => {
    expect(draw(9, 8).map(({ generation }) => generation)).toEqual([2, 4, 6, 8, 9]);
    expect(draw(16, 8).map(({ generation }) => generation)).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
    expect(draw(17, 8).map(({ generation }) => generation)).toEqual([4, 8, 12, 16, 17]);
  });

  it("keeps the latest judgement of those that a point stands for", () => {
    expect(draw(16, 8, 5).map(({ fresh }) => fresh)).toEqual([null, null, 5, null, 10, null, null, 15]);
  });

  it.each([1, 7, 100, 1_000])("never has more than it may after %i generations", (generations) => {
    const curve = draw(generations, 10);
    expect(curve.length).toBeLessThanOrEqual(10);
    expect(curve.at(-1)).toMatchObject({ generation: generations });
  });
});
