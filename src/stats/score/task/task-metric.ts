import {
  type BootstrapEstimate,
  type BootstrapPlan,
  countResamples,
  percentileBounds,
} from "../../distribution/intervals.ts";
import { sfc32 } from "../../random/seeded.ts";
import { countAreaUnderCurve, countVerificationAuc } from "./area-under-curve.ts";
import { countCharacterAccuracy } from "./count-character-accuracy.ts";
import { countDetectionF1 } from "./count-detection-f1.ts";
import {
  assertWidth,
  countMacroF1,
  isYes,
  type SampleScore,
  scoreAbsoluteError,
  scoreAccuracy,
  scoreBinaryAccuracy,
  scoreOverlap,
  scorePsnr,
  scoreSquaredError,
} from "./sample-scores.ts";
import { type CountedMetric, countRatio, rowOf, type TaskTensor, widthOf } from "./task-tensor.ts";

/** Metrics that are means over samples. */
const MEANS = {
  accuracy: scoreAccuracy,
  "binary-accuracy": scoreBinaryAccuracy,
  mae: scoreAbsoluteError,
  psnr: scorePsnr,
  iou: scoreOverlap,
} as const satisfies Record<string, SampleScore>;

type Counter = (output: TaskTensor, target: TaskTensor, input: TaskTensor) => CountedMetric;

/** Metrics of all samples together. */
const OTHERS = {
  "macro-f1": countMacroF1,
  "roc-auc": countRocAuc,
  "reconstruction-auc": countReconstructionAuc,
  "verification-auc": countVerificationAuc,
  rmse: countRootOfMean,
  "character-accuracy": countCharacterAccuracy,
  "detection-f1": countDetectionF1,
} as const satisfies Record<string, Counter>;

/** Quality metrics of a network's answers; models/README.md defines each. */
export type TaskMetric = keyof typeof MEANS | keyof typeof OTHERS;
export const TASK_METRICS: readonly TaskMetric[] = [...keysOf(MEANS), ...keysOf(OTHERS)];

const LOWER_IS_BETTER: ReadonlySet<TaskMetric> = new Set(["mae", "rmse"]);

/** Whether it is one of `TASK_METRICS`. */
export function isTaskMetric(name: string): name is TaskMetric {
  return (TASK_METRICS as readonly string[]).includes(name);
}

/** Errors are better when they are lower, all else when it is higher. */
export function isHigherBetter(metric: TaskMetric): boolean {
  return !LOWER_IS_BETTER.has(metric);
}

/**
 * The metric of a network's output, whose first dimension counts samples, as does the target's; an output of one row
 * is the answer to every sample. `input` is the network's own, which only a reconstruction is held against. Throws a
 * RangeError where shapes do not go together, numbers are not finite or classes are none, and where the metric is not
 * defined, as is a ROC curve over samples of one kind.
 */
export function measureTask(metric: TaskMetric, output: TaskTensor, target: TaskTensor, input: TaskTensor): number {
  return measureOnce(metric, countTask(metric, output, target, input), target);
}

/**
 * The same with the interval of a percentile bootstrap over samples: as many as there are, drawn with replacement.
 * Resamples for which the metric is not defined are left out.
 */
export function estimateTask(
  metric: TaskMetric,
  output: TaskTensor,
  target: TaskTensor,
  input: TaskTensor,
  plan: BootstrapPlan,
): BootstrapEstimate {
  const counted = countTask(metric, output, target, input);
  const value = measureOnce(metric, counted, target);
  const draw = sfc32(plan.seed);
  const counts = new Uint32Array(target.shape[0]!);
  const resampled = Float64Array.from({ length: countResamples(plan, counts.length + counted.cost) }, () => {
    counts.fill(0);
    for (let drawn = 0; drawn < counts.length; drawn++) counts[draw(counts.length)]!++;
    return counted.measure(counts);
  });
  return { value, ...percentileBounds(resampled.filter((each) => !Number.isNaN(each))) };
}

/** One score for each sample where the metric is their mean, else null. Throws as `measureTask` does. */
export function scoresBySample(metric: TaskMetric, output: TaskTensor, target: TaskTensor): Float64Array | null {
  if (!isMean(metric)) return null;
  assertSound(output, target);
  const score = MEANS[metric];
  return Float64Array.from({ length: target.shape[0]! }, (_, sample) => score(output, target, sample));
}

/** The metric of these answers, ready to be measured on resamples. Throws as `measureTask` does. */
function countTask(metric: TaskMetric, output: TaskTensor, target: TaskTensor, input: TaskTensor): CountedMetric {
  assertSound(output, target);
  if (!isMean(metric)) return OTHERS[metric](output, target, input);
  const scores = scoresBySample(metric, output, target)!;
  return countRatio(scores, new Float64Array(scores.length).fill(1));
}

function measureOnce(metric: TaskMetric, counted: CountedMetric, target: TaskTensor): number {
  const value = counted.measure(new Uint8Array(target.shape[0]!).fill(1));
  if (Number.isNaN(value)) throw new RangeError(`there is no ${metric} of these samples`);
  return value;
}

function countRootOfMean(output: TaskTensor, target: TaskTensor): CountedMetric {
  const squares = Float64Array.from({ length: target.shape[0]! }, (_, at) => scoreSquaredError(output, target, at));
  const mean = countRatio(squares, new Float64Array(squares.length).fill(1));
  return { cost: mean.cost, measure: (counts) => Math.sqrt(mean.measure(counts)) };
}

/** One score for each sample. */
function countRocAuc(output: TaskTensor, target: TaskTensor): CountedMetric {
  assertWidth(output, target);
  return countBySample(target, (sample) => rowOf(output, sample)[0]!);
}

/** A sample's score is how far the output is from the input. */
function countReconstructionAuc(output: TaskTensor, target: TaskTensor, input: TaskTensor): CountedMetric {
  return countBySample(target, (sample) => scoreSquaredError(output, input, sample));
}

function countBySample(target: TaskTensor, scoreOf: (sample: number) => number): CountedMetric {
  if (widthOf(target) !== 1) throw new RangeError("a ROC curve takes one 0 or 1 for each sample");
  const scores = Float64Array.from({ length: target.shape[0]! }, (_, sample) => scoreOf(sample));
  const isPositive = (sample: number) => isYes(target.values[sample]!);
  return countAreaUnderCurve(scores, isPositive, (sample, counts) => counts[sample]!);
}

function assertSound(output: TaskTensor, target: TaskTensor): void {
  const [rows, samples] = [output.shape[0], target.shape[0]];
  if (samples === undefined || samples === 0 || (rows !== samples && rows !== 1))
    throw new RangeError(`an output of ${rows} rows is no answer to ${samples} samples`);
  if (!output.values.every(Number.isFinite)) throw new RangeError("the output has numbers that are not finite");
}

function isMean(metric: TaskMetric): metric is keyof typeof MEANS {
  return metric in MEANS;
}

function keysOf<T extends object>(table: T): (keyof T)[] {
  return Object.keys(table) as (keyof T)[];
}

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
 * Compares the answers of network b with those of a by a metric. The interval is a percentile bootstrap over samples,
 * the same for both sides, so that a sample's difficulty adds no doubt; resamples without a defined metric are left
 * out. Throws as `measureTask` does.
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
