import { describe, expect, it } from "vitest";
import { distillationLoss } from "../../../../../src/gpu-runner/compression/distillation/distillation-loss.ts";

const student = Float64Array.of(1, 2, 3, 0.5, 0.5, 0);
const teacher = [1, 3, 2, 2, 0, -1];
const weights = { temperature: 2, alpha: 0.5 };

describe("distillationLoss", () => {
  it("is the loss of the definition", () => {
    expect(distillationLoss(student, teacher, [2, 0], 3, weights).loss).toBeCloseTo(0.592_170_07, 8);
  });

  it.for([
    ["with labels", [2, 0]],
    ["without labels", null],
  ] as const)("has the gradient that differences show, %s", ([, labels]) => {
    const { gradient } = distillationLoss(student, teacher, labels, 3, weights);
    for (const [at, slope] of gradient.entries()) {
      const lossAt = (value: number) => distillationLoss(student.with(at, value), teacher, labels, 3, weights).loss;
      const step = 1e-5;
      expect(slope).toBeCloseTo((lossAt(student[at]! + step) - lossAt(student[at]! - step)) / (2 * step), 9);
    }
  });

  it("is nothing where the student answers like the teacher and has no labels", () => {
    const { loss, gradient } = distillationLoss(Float64Array.from(teacher), teacher, null, 3, weights);
    expect(loss).toBe(0);
    expect([...gradient]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("takes logits that are far apart", () => {
    const { loss } = distillationLoss(Float64Array.of(1000, 0), [1000, 0], [0], 2, weights);
    expect(loss).toBe(0);
    expect(distillationLoss(Float64Array.of(0, 1), [0, -Infinity], null, 2, weights).loss).toBeCloseTo(
      4 * Math.log(1 + Math.exp(0.5)),
      10,
    );
  });
});
