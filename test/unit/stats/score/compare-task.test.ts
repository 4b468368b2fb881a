import { describe, expect, it } from "vitest";
import { compareTask, estimateTask, measureTask } from "../../../../src/stats/score/task/task-metric.ts";

const PLAN = { seed: 3, resamples: 1_000, work: 1e8 };
const ROWS = 60;
const tensor = (values: readonly number[], width = 1) => ({
  shape: width === 1 ? [values.length] : [values.length / width, width],
  values: Float32Array.from(values),
});
const target = tensor(Array.from({ length: ROWS }, (_, row) => row % 7));
/** Answers whose error grows with the row, and by so much more. */
const answers = (more: number) => tensor(Array.from(target.values, (value, row) => value + row / 10 + more));

describe("two networks on the same samples", () => {
  it("have the values that each has by itself, and their difference", () => {
    const [a, b] = [answers(0), answers(0.5)];
    const compared = compareTask("mae", { a, b }, target, target, PLAN);
    expect(compared.a).toBe(measureTask("mae", a, target, target));
    expect(compared.b).toBe(measureTask("mae", b, target, target));
    expect(compared.difference.value).toBe(compared.b - compared.a);
  });

  it("differ with the doubt of their difference alone, which is far less than that of either", () => {
    const { difference } = compareTask("mae", { a: answers(0), b: answers(0.5) }, target, target, PLAN);
    expect(difference.value).toBeCloseTo(0.5, 5);
    expect(difference.high - difference.low).toBeLessThan(1e-5);
    const alone = estimateTask("mae", answers(0.5), target, target, PLAN);
    expect(alone.high - alone.low).toBeGreaterThan(0.1);
  });

  it("have bounds on either side where some samples are better and some worse", () => {
    const b = tensor(Array.from(answers(0).values, (value, row) => value + (row % 2 === 0 ? 1 : -1) * (row / 10)));
    const { difference } = compareTask("mae", { a: answers(0), b }, target, target, PLAN);
    expect(difference.low).toBeLessThan(difference.value);
    expect(difference.high).toBeGreaterThan(difference.value);
    expect(compareTask("mae", { a: answers(0), b }, target, target, PLAN).difference).toEqual(difference);
  });

  it("cannot be held against each other where the metric is not defined", () => {
    const yes = tensor(Array.from({ length: ROWS }, () => 1));
    expect(() => compareTask("roc-auc", { a: yes, b: yes }, yes, yes, PLAN)).toThrow(RangeError);
    expect(() => compareTask("mae", { a: yes, b: tensor([1, 2]) }, yes, yes, PLAN)).toThrow(RangeError);
  });
});
