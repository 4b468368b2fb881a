import { describe, expect, it } from "vitest";
import { estimateTask } from "../../../../src/stats/score/task/task-metric.ts";
import type { TaskTensor } from "../../../../src/stats/score/task/task-tensor.ts";

const tensor = (shape: number[], ...values: number[]): TaskTensor => ({ shape, values: Float32Array.from(values) });
const nothing = tensor([1, 0]);
const plan = { seed: 1, resamples: 2_000, work: 1e9 };

describe("an interval of a metric", () => {
  const rows = 400;
  const wave = Array.from({ length: rows }, (_, at) => Math.sin(at * 12.9898) * 43_758.5453);
  const noise = wave.map((value) => value - Math.floor(value));

  it("of a mean is as wide as the normal approximation says", () => {
    const [output, target] = [tensor([rows], ...noise), tensor([rows], ...noise.map(() => 0))];
    const { value, low, high } = estimateTask("mae", output, target, nothing, plan);
    const mean = noise.reduce((sum, each) => sum + each, 0) / rows;
    const error = Math.sqrt(noise.reduce((sum, each) => sum + (each - mean) ** 2, 0) / rows / rows);
    expect(value).toBeCloseTo(mean, 6);
    expect((high - low) / (2 * 1.96 * error)).toBeGreaterThan(0.9);
    expect((high - low) / (2 * 1.96 * error)).toBeLessThan(1.1);
    expect(low).toBeLessThan(value);
    expect(high).toBeGreaterThan(value);
  });

  it("of an area under the curve is as wide as Hanley and McNeil's error says", () => {
    const labels = noise.map((_, at) => at % 2);
    const scores = noise.map((each, at) => each + (at % 2) * 0.3);
    const { value, low, high } = estimateTask(
      "roc-auc",
      tensor([rows], ...scores),
      tensor([rows], ...labels),
      nothing,
      plan,
    );
    const [q1, q2] = [value / (2 - value), (2 * value ** 2) / (1 + value)];
    const of = rows / 2;
    const variance = (value * (1 - value) + (of - 1) * (q1 - value ** 2 + q2 - value ** 2)) / of ** 2;
    expect((high - low) / (2 * 1.96 * Math.sqrt(variance))).toBeGreaterThan(0.8);
    expect((high - low) / (2 * 1.96 * Math.sqrt(variance))).toBeLessThan(1.25);
  });

  it("is the same for the same seed and another for another", () => {
    const [output, target] = [tensor([rows], ...noise), tensor([rows], ...noise.map(() => 0))];
    const estimate = (seed: number) => estimateTask("mae", output, target, nothing, { ...plan, seed });
    expect(estimate(1)).toEqual(estimate(1));
    expect(estimate(1)).not.toEqual(estimate(2));
  });

  it("leaves out resamples that have no such metric", () => {
    const { low, high } = estimateTask("roc-auc", tensor([3], 1, 2, 3), tensor([3], 0, 0, 1), nothing, plan);
    expect([low, high]).toEqual([1, 1]);
  });
});
