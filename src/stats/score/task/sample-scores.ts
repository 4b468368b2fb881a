import { type CountedMetric, indexOfLargest, rowOf, type TaskTensor, widthOf } from "./task-tensor.ts";

/** A number for each sample, by the network's output and the target. */
export type SampleScore = (output: TaskTensor, target: TaskTensor, sample: number) => number;

/** Mean squared error from which on `scorePsnr` no longer grows: 100 dB. */
const LEAST_ERROR = 1e-10;

/** Share of correct answers of a sample, which may have one for each of several steps. */
export const scoreAccuracy: SampleScore = (output, target, sample) => {
  const [row, wanted] = [rowOf(output, sample), rowOf(target, sample)];
  const classes = output.shape.at(-1)!;
  assertWidth(output, target, classes);
  return meanOf(wanted.length, (step) => {
    const wantedClass = readClass(wanted[step]!, classes);
    return indexOfLargest(row.subarray(step * classes, (step + 1) * classes)) === wantedClass ? 1 : 0;
  });
};

export const scoreBinaryAccuracy: SampleScore = (output, target, sample) =>
  meanOfPairs(output, target, sample, (found, wanted) => (found > 0 === isYes(wanted) ? 1 : 0));

export const scoreAbsoluteError: SampleScore = (output, target, sample) =>
  meanOfPairs(output, target, sample, (found, wanted) => Math.abs(found - wanted));

export const scoreSquaredError: SampleScore = (output, target, sample) =>
  meanOfPairs(output, target, sample, (found, wanted) => (found - wanted) ** 2);

/** In dB, of numbers in 0..1. */
export const scorePsnr: SampleScore = (output, target, sample) =>
  -10 * Math.log10(Math.max(LEAST_ERROR, scoreSquaredError(output, target, sample)));

/** Intersection over union; 1 where both are empty. */
export const scoreOverlap: SampleScore = (output, target, sample) => {
  let [both, either] = [0, 0];
  meanOfPairs(output, target, sample, (found, wanted) => {
    if (found > 0 || isYes(wanted)) either++;
    if (found > 0 && isYes(wanted)) both++;
    return 0;
  });
  return either === 0 ? 1 : both / either;
};

/** Throws a RangeError where it is none of so many. */
function readClass(value: number, classes: number): number {
  if (!Number.isInteger(value) || value < 0 || value >= classes)
    throw new RangeError(`the target has a class ${value} and the output scores ${classes}`);
  return value;
}

/** Throws a RangeError where it is neither 0 nor 1. */
export function isYes(value: number): boolean {
  if (value !== 0 && value !== 1) throw new RangeError(`the target has ${value} where it is to be 0 or 1`);
  return value === 1;
}

/** Throws a RangeError where the output has not so many numbers for each of the target's. */
export function assertWidth(output: TaskTensor, target: TaskTensor, times = 1): void {
  if (widthOf(output) !== widthOf(target) * times)
    throw new RangeError(`an output [${output.shape.join(", ")}] has no target [${target.shape.join(", ")}]`);
}

function meanOfPairs(
  output: TaskTensor,
  target: TaskTensor,
  sample: number,
  score: (found: number, wanted: number) => number,
): number {
  assertWidth(output, target);
  const [row, wanted] = [rowOf(output, sample), rowOf(target, sample)];
  return meanOf(wanted.length, (index) => score(row[index]!, wanted[index]!));
}

function meanOf(count: number, score: (index: number) => number): number {
  let sum = 0;
  for (let index = 0; index < count; index++) sum += score(index);
  return sum / count;
}

/** Mean of F1 over the classes that occur, as an answer or as a target. */
export function countMacroF1(output: TaskTensor, target: TaskTensor): CountedMetric {
  const classes = output.shape.at(-1)!;
  assertWidth(output, target, classes);
  const wanted = Array.from(target.values, (value) => readClass(value, classes));
  const found = wanted.map((_, sample) => indexOfLargest(rowOf(output, sample)));
  return {
    cost: wanted.length,
    measure: (counts) => {
      const [hits, sizes] = [new Float64Array(classes), new Float64Array(classes)];
      for (const [sample, right] of wanted.entries()) {
        const [count, answer] = [counts[sample]!, found[sample]!];
        if (answer === right) hits[right]! += count;
        sizes[right]! += count;
        sizes[answer]! += count;
      }
      const scores = [...sizes.keys()].filter((at) => sizes[at]! > 0).map((at) => (2 * hits[at]!) / sizes[at]!);
      return scores.reduce((sum, score) => sum + score, 0) / scores.length;
    },
  };
}
