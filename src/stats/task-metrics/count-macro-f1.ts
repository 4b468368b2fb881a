import type { CountedMetric } from "./counted-metric.ts";
import { assertWidth, readClass } from "./sample-scores.ts";
import { indexOfLargest, rowOf, type TaskTensor } from "./task-tensor.ts";

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
