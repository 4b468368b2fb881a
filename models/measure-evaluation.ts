import type { HeldOut } from "../src/protocol/models/held-out-file.ts";
import { estimateTask, type TaskMetric, scoresBySample } from "../src/stats/score/task/task-metric.ts";
import type { TaskTensor } from "../src/stats/score/task/task-tensor.ts";
import { wilsonInterval } from "../src/stats/distribution/intervals.ts";
import type { Evaluation } from "./model-card.ts";

const LEVEL = 0.95;
const PLAN = { seed: 1, resamples: 2_000, work: 1e10 };

/** Evaluation for a card: a network's answers to its held-out part, and the baseline's. */
export function measureEvaluation(metric: TaskMetric, output: TaskTensor, heldOut: HeldOut): Evaluation {
  return {
    metric: `${metric} on the held-out part`,
    ...estimate(metric, output, heldOut),
    conditions: "the written file, ONNX Runtime CPU provider, float32",
    baseline: estimate(metric, heldOut.baseline, heldOut),
  };
}

function estimate(metric: TaskMetric, output: TaskTensor, { rows, target, inputs }: HeldOut) {
  const [input] = inputs.values();
  const scores = scoresBySample(metric, output, target);
  if (metric.endsWith("accuracy") && scores?.every((score) => score === 0 || score === 1) === true) {
    const count = scores.reduce((sum, score) => sum + score, 0);
    const interval = { level: LEVEL, ...wilsonInterval(count, rows), method: "Wilson score" };
    return { value: count / rows, interval, n: rows };
  }
  const { value, low, high } = estimateTask(metric, output, target, input!, PLAN);
  const method = `percentile bootstrap over samples, ${PLAN.resamples.toLocaleString("en")} resamples`;
  return { value, interval: { level: LEVEL, low, high, method }, n: rows };
}
