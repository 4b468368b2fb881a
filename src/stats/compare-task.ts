import { type BootstrapEstimate, type BootstrapPlan, countResamples, percentileBounds } from "./bootstrap-interval.ts";
import { sfc32 } from "./sfc32.ts";
import { countTask, type TaskMetric } from "./task-metric.ts";
import type { TaskTensor } from "./task-metrics/task-tensor.ts";

/** The answers of two networks to the same samples. */
export interface TaskAnswers {
  readonly a: TaskTensor;
  readonly b: TaskTensor;
}

/** The metric of both, and how far b is above a. */
export interface TaskComparison {
  readonly a: number;
  readonly b: number;
  readonly difference: BootstrapEstimate;
}

/**
 * Holds the answers of network b against those of a by a metric. The interval is that of a percentile bootstrap over
 * samples of which both sides take the same, so that what makes a sample hard for both is no part of the doubt; resamples
 * for which the metric is not defined are left out. Throws as `measureTask` does.
 */
export function compareTask(
  metric: TaskMetric,
  { a, b }: TaskAnswers,
  target: TaskTensor,
  input: TaskTensor,
  plan: BootstrapPlan,
): TaskComparison {
  const sides = [a, b].map((output) => countTask(metric, output, target, input));
  const samples = target.shape[0]!;
  const measure = (counts: ArrayLike<number>) => sides.map((side) => side.measure(counts)) as [number, number];
  const [whole, other] = measure(new Uint8Array(samples).fill(1));
  if (Number.isNaN(whole) || Number.isNaN(other)) throw new RangeError(`there is no ${metric} of these samples`);
  const draw = sfc32(plan.seed);
  const counts = new Uint32Array(samples);
  const cost = sides.reduce((sum, side) => sum + side.cost, samples);
  const resampled = Float64Array.from({ length: countResamples(plan, cost) }, () => {
    counts.fill(0);
    for (let drawn = 0; drawn < samples; drawn++) counts[draw(samples)]!++;
    const [ofA, ofB] = measure(counts);
    return ofB - ofA;
  });
  const bounds = percentileBounds(resampled.filter((each) => !Number.isNaN(each)));
  return { a: whole, b: other, difference: { value: other - whole, ...bounds } };
}
