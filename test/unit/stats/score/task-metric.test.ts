import { describe, expect, it } from "vitest";
import {
  isHigherBetter,
  isTaskMetric,
  measureTask,
  scoresBySample,
  TASK_METRICS,
  type TaskMetric,
} from "../../../../src/stats/score/task/task-metric.ts";
import {
  countAreaUnderCurve,
  countVerificationAuc,
  MAX_VERIFIED_SAMPLES,
} from "../../../../src/stats/score/task/area-under-curve.ts";
import { MAX_EDIT_STEPS } from "../../../../src/stats/score/task/count-character-accuracy.ts";
import { countDetectionF1, MAX_BOX_PAIRS } from "../../../../src/stats/score/task/count-detection-f1.ts";
import { countMacroF1 } from "../../../../src/stats/score/task/sample-scores.ts";
import type { TaskTensor } from "../../../../src/stats/score/task/task-tensor.ts";
import { fc } from "../../property.ts";

const tensor = (shape: number[], ...values: number[]): TaskTensor => ({ shape, values: Float32Array.from(values) });
const nothing = tensor([1, 0]);
const measure = (metric: TaskMetric, output: TaskTensor, target: TaskTensor, input = nothing) =>
  measureTask(metric, output, target, input);

/** The rows of a tensor in another order, or several times. */
function pick({ shape, values }: TaskTensor, rows: readonly number[]): TaskTensor {
  const width = values.length / shape[0]!;
  return tensor(
    [rows.length, ...shape.slice(1)],
    ...rows.flatMap((row) => [...values.subarray(row * width, (row + 1) * width)]),
  );
}

function countRows(rows: readonly number[], samples: number): Uint32Array {
  const counts = new Uint32Array(samples);
  for (const row of rows) counts[row]!++;
  return counts;
}

const small = fc.integer({ min: -3, max: 3 });
const label = fc.constantFrom(0, 1);

describe("metrics of hand-made answers", () => {
  it("are the share of right classes, step by step where there are steps", () => {
    const scores = tensor([3, 2], 1, 2, 5, 1, 0, 3);
    expect(measure("accuracy", scores, tensor([3], 1, 0, 0))).toBeCloseTo(2 / 3, 12);
    const steps = tensor([1, 3, 2], 1, 2, 5, 1, 0, 3);
    expect(measure("accuracy", steps, tensor([1, 3], 1, 1, 1))).toBeCloseTo(2 / 3, 12);
    expect(measure("accuracy", tensor([1, 2], 0, 1), tensor([4], 1, 1, 0, 1))).toBe(0.75);
  });

  it("are the share of right answers above 0", () => {
    expect(measure("binary-accuracy", tensor([2, 2], 0, 0.1, -1, 2), tensor([2, 2], 0, 1, 1, 1))).toBe(0.75);
  });

  it("are the mean of F1 over the classes that occur", () => {
    const found = tensor([4, 3], 9, 0, 0, 9, 0, 0, 0, 9, 0, 0, 9, 0);
    // Class 0: one hit of two found and one wanted; class 1: two hits of two found and three wanted; class 2: none.
    expect(measure("macro-f1", found, tensor([4], 0, 1, 1, 1))).toBeCloseTo((2 / 3 + 4 / 5) / 2, 12);
    expect(measure("macro-f1", found, tensor([4], 0, 2, 1, 1))).toBeCloseTo((2 / 3 + 1 + 0) / 3, 12);
  });

  it("are errors as they are defined", () => {
    const [output, target] = [tensor([2, 2], 1, 2, 3, 4), tensor([2, 2], 1, 0, 3, 8)];
    expect(measure("mae", output, target)).toBe(1.5);
    expect(measure("rmse", output, target)).toBeCloseTo(Math.sqrt(5), 12);
  });

  it("are decibels, 100 at most, and the mean of them over samples", () => {
    const target = tensor([2, 1, 1, 2], 0, 0, 0, 0);
    expect(measure("psnr", tensor([2, 1, 1, 2], 0.1, 0.1, 0.01, 0.01), target)).toBeCloseTo((20 + 40) / 2, 4);
    expect(measure("psnr", target, target)).toBeCloseTo(100, 9);
  });

  it("are intersection over union, 1 where there is nothing to find and nothing found", () => {
    const output = tensor([3, 1, 1, 4], 1, 1, -1, -1, 1, 0, 0, 0, -1, -1, -1, -1);
    const target = tensor([3, 1, 1, 4], 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0);
    expect(measure("iou", output, target)).toBeCloseTo((1 / 3 + 1 + 1) / 3, 12);
  });

  it("are the area under the ROC curve, ties by half", () => {
    expect(measure("roc-auc", tensor([5], 1, 2, 3, 3, 4), tensor([5], 0, 0, 0, 1, 1))).toBeCloseTo(5.5 / 6, 12);
    expect(measure("roc-auc", tensor([1, 1], 0), tensor([4], 0, 1, 0, 1))).toBe(0.5);
  });

  it("hold a reconstruction against the input", () => {
    const input = tensor([3, 2], 0, 0, 1, 1, 2, 2);
    const output = tensor([3, 2], 0, 0, 1, 2, 2, 5);
    expect(measure("reconstruction-auc", output, tensor([3], 0, 1, 1), input)).toBe(1);
    expect(measure("reconstruction-auc", output, tensor([3], 1, 0, 0), input)).toBe(0);
  });

  it("hold embeddings against each other by their directions", () => {
    const embeddings = tensor([4, 2], 1, 0, 5, 0.1, 0, 1, 0.1, 9);
    expect(measure("verification-auc", embeddings, tensor([4], 7, 7, 3, 3))).toBe(1);
    expect(measure("verification-auc", tensor([1, 2], 0, 0), tensor([4], 7, 7, 3, 3))).toBe(0.5);
  });

  it("read characters greedily: repeats merged unless a blank parts them", () => {
    const scored = (...symbols: number[]) =>
      tensor([1, symbols.length, 3], ...symbols.flatMap((symbol) => [0, 1, 2].map((at) => (at === symbol ? 1 : 0))));
    expect(measure("character-accuracy", scored(0, 1, 1, 0, 1, 2, 2), tensor([1, 4], 1, 1, 2, 0))).toBe(1);
    // "12" for "112": one of three is missing.
    expect(measure("character-accuracy", scored(0, 1, 1, 1, 1, 2, 2), tensor([1, 4], 1, 1, 2, 0))).toBeCloseTo(
      2 / 3,
      12,
    );
    expect(measure("character-accuracy", scored(0, 0, 0, 0, 0, 0, 0), tensor([1, 4], 1, 1, 2, 0))).toBe(0);
  });

  it("find boxes: the highest score first, what overlaps it is the same box", () => {
    // Two rows of one column: a box in the middle of each cell, 0.4 wide and high in shares of the picture.
    const grid = (above: number, below: number, y = 0.5) =>
      tensor([1, 5, 2, 1], above, below, 0.5, 0.5, 0.5, y, 0.4, 0.4, 0.4, 0.4);
    const boxes = tensor([1, 2, 4], 0.5, 0.25, 0.4, 0.4, 0.5, 0.75, 0.4, 0.4);
    const one = tensor([1, 2, 4], 0.5, 0.25, 0.4, 0.4, 0, 0, 0, 0);
    expect(measure("detection-f1", grid(1, 2), boxes)).toBe(1);
    expect(measure("detection-f1", grid(1, -2), boxes)).toBeCloseTo(2 / 3, 12);
    expect(measure("detection-f1", grid(1, 2), one)).toBeCloseTo(2 / 3, 12);
    // The lower cell's box moved up by 0.5 less 0.1: they overlap by three quarters of each, 0.6 of both together.
    expect(measure("detection-f1", grid(2, 1, -0.3), one)).toBe(1);
    expect(measure("detection-f1", grid(-1, -1), boxes)).toBe(0);
  });
});

describe("metrics held against their plain definition", () => {
  it("the area under the curve counts pairs, each as often as it was drawn", () => {
    const samples = fc.array(fc.tuple(small, label, fc.integer({ min: 0, max: 3 })), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(samples, (drawn) => {
        const rows = drawn.flatMap(([score, kind, count]) => Array.from({ length: count }, () => ({ score, kind })));
        let [sum, pairs] = [0, 0];
        for (const a of rows.filter(({ kind }) => kind === 1)) {
          for (const b of rows.filter(({ kind }) => kind === 0)) {
            pairs++;
            sum += a.score > b.score ? 1 : a.score === b.score ? 0.5 : 0;
          }
        }
        const scores = Float64Array.from(drawn, ([score]) => score);
        const counted = countAreaUnderCurve(
          scores,
          (at) => drawn[at]![1] === 1,
          (at, counts) => counts[at]!,
        );
        const area = counted.measure(drawn.map(([, , count]) => count));
        if (pairs === 0) expect(area).toBeNaN();
        else expect(area).toBeCloseTo(sum / pairs, 12);
      }),
    );
  });

  it("F1 of a resample is F1 of the rows that were drawn", () => {
    const drawing = fc.array(fc.nat(5), { minLength: 6, maxLength: 6 });
    const answers = fc.array(small, { minLength: 18, maxLength: 18 });
    const targets = fc.array(fc.nat(2), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(drawing, answers, targets, (rows, values, classes) => {
        const [output, target] = [tensor([6, 3], ...values), tensor([6], ...classes)];
        const whole = measure("macro-f1", pick(output, rows), pick(target, rows));
        expect(countMacroF1(output, target).measure(countRows(rows, 6))).toBeCloseTo(whole, 12);
      }),
    );
  });

  it("a pair of one sample with itself is none, in a resample neither", () => {
    const [output, target] = [tensor([3, 2], 1, 0, 0, 1, 1, 1), tensor([3], 1, 2, 1)];
    // The pairs are 0-1, 0-2 and 1-2; drawn twice, a sample has each of its pairs twice.
    const counted = countVerificationAuc(output, target);
    expect(counted.measure([1, 1, 1])).toBeCloseTo(0.75, 6);
    expect(counted.measure([2, 1, 1])).toBeCloseTo((2 * 2 + 1 * 2 * 0.5) / (2 * 3), 6);
    expect(counted.measure([3, 0, 0])).toBeNaN();
  });

  it("a metric of boxes of a resample is that of the rows that were drawn", () => {
    const cell = fc.tuple(small, ...[0, 1, 2, 3].map(() => fc.double({ min: 0.1, max: 0.9, noNaN: true })));
    const drawing = fc.array(fc.nat(2), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(cell, { minLength: 3, maxLength: 3 }), drawing, (cells, rows) => {
        const output = tensor([3, 5, 1, 1], ...cells.flat());
        const target = tensor(
          [3, 1, 4],
          ...cells.flatMap(([, x, y, width, height]) => [x!, y!, width! / 1.5, height!]),
        );
        const counted = countDetectionF1(output, target).measure(countRows(rows, 3));
        const plain = countDetectionF1(pick(output, rows), pick(target, rows)).measure([1, 1, 1]);
        expect(counted).toBeCloseTo(plain, 12);
      }),
    );
  });

  it("edits are those of the recursive definition", () => {
    const edits = (a: readonly number[], b: readonly number[]): number => {
      if (a.length === 0 || b.length === 0) return a.length + b.length;
      const change = a[0] === b[0] ? 0 : 1;
      return Math.min(edits(a.slice(1), b) + 1, edits(a, b.slice(1)) + 1, edits(a.slice(1), b.slice(1)) + change);
    };
    const word = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(word, word, (found, wanted) => {
        // A blank behind each symbol, so that repeats stay.
        const steps = found.flatMap((symbol) => [symbol, 0]);
        const output = tensor(
          [1, steps.length, 4],
          ...steps.flatMap((symbol) => [0, 1, 2, 3].map((at) => (at === symbol ? 1 : 0))),
        );
        const target = tensor([1, wanted.length], ...wanted);
        const expected = 1 - edits(found, wanted) / wanted.length;
        expect(measure("character-accuracy", output, target)).toBeCloseTo(expected, 12);
      }),
    );
  });

  it("does not change with the order of samples", () => {
    const rows = [3, 0, 2, 1];
    const cases: [TaskMetric, TaskTensor, TaskTensor][] = [
      ["accuracy", tensor([4, 2], 1, 2, 3, 1, 2, 2, 0, 1), tensor([4], 1, 1, 0, 0)],
      ["macro-f1", tensor([4, 2], 1, 2, 3, 1, 2, 2, 0, 1), tensor([4], 1, 1, 0, 0)],
      ["roc-auc", tensor([4], 1, 3, 2, 3), tensor([4], 0, 1, 1, 0)],
      ["verification-auc", tensor([4, 2], 1, 2, 3, 1, 2, 2, 0, 1), tensor([4], 1, 1, 0, 0)],
      ["psnr", tensor([4, 1], 0.1, 0.2, 0.3, 0.4), tensor([4, 1], 0, 0, 0, 0)],
    ];
    for (const [metric, output, target] of cases)
      expect(measure(metric, pick(output, rows), pick(target, rows))).toBeCloseTo(measure(metric, output, target), 12);
  });
});

describe("what cannot be measured", () => {
  it.each<[string, TaskMetric, TaskTensor, TaskTensor, string]>([
    [
      "another number of samples",
      "accuracy",
      tensor([2, 2], 1, 2, 3, 4),
      tensor([3], 0, 0, 0),
      "2 rows is no answer to 3",
    ],
    ["a class too many", "accuracy", tensor([1, 2], 1, 2), tensor([1], 2), "class 2 and the output scores 2"],
    ["half a class", "macro-f1", tensor([1, 2], 1, 2), tensor([1], 0.5), "class 0.5"],
    ["another width", "mae", tensor([1, 2], 1, 2), tensor([1, 3], 1, 2, 3), "[1, 2] has no target [1, 3]"],
    ["neither yes nor no", "iou", tensor([1, 2], 1, 2), tensor([1, 2], 1, 2), "2 where it is to be 0 or 1"],
    ["numbers that are none", "mae", tensor([1, 1], Number.NaN), tensor([1, 1], 1), "not finite"],
    ["samples of one kind", "roc-auc", tensor([2], 1, 2), tensor([2], 1, 1), "there is no roc-auc"],
    [
      "boxes of another form",
      "detection-f1",
      tensor([1, 4, 1, 1], 1, 2, 3, 4),
      tensor([1, 1, 4], 0, 0, 0, 0),
      "[n, 5,",
    ],
    ["characters of another form", "character-accuracy", tensor([1, 4], 1, 2, 3, 4), tensor([1, 1], 1), "[n, steps,"],
  ])("%s", (_, metric, output, target, message) => {
    expect(() => measure(metric, output, target)).toThrow(RangeError);
    expect(() => measure(metric, output, target)).toThrow(message);
  });

  it("more samples than pairs are made of", () => {
    const samples = MAX_VERIFIED_SAMPLES + 1;
    const [output, target] = [tensor([1, 1], 1), { shape: [samples], values: new Float32Array(samples) }];
    expect(() => measure("verification-auc", output, target)).toThrow(`at most ${MAX_VERIFIED_SAMPLES} samples`);
  });
});

describe("an answer to many samples that would take too long to compare", () => {
  it.each<[string, TaskMetric, TaskTensor, TaskTensor, number]>([
    [
      "boxes of a large grid",
      "detection-f1",
      { shape: [1, 5, 256, 256], values: new Float32Array(5 * 65_536).fill(1) },
      tensor([1, 1, 4], 0, 0, 0, 0),
      MAX_BOX_PAIRS,
    ],
    [
      "long texts",
      "character-accuracy",
      { shape: [1, 32_768, 2], values: new Float32Array(65_536) },
      { shape: [2, 32_768], values: new Float32Array(65_536).fill(1) },
      MAX_EDIT_STEPS,
    ],
  ])("is refused for %s", (_, metric, output, target, limit) => {
    expect(() => measure(metric, output, target)).toThrow(`at most ${limit} `);
  });
});

describe("the names of metrics", () => {
  it("are those of models/README.md, and errors alone are better when they are lower", () => {
    expect(TASK_METRICS.toSorted()).toEqual([
      "accuracy",
      "binary-accuracy",
      "character-accuracy",
      "detection-f1",
      "iou",
      "macro-f1",
      "mae",
      "psnr",
      "reconstruction-auc",
      "rmse",
      "roc-auc",
      "verification-auc",
    ]);
    expect(TASK_METRICS.filter((metric) => !isHigherBetter(metric)).toSorted()).toEqual(["mae", "rmse"]);
    expect(["accuracy", "toString", "bleu"].map(isTaskMetric)).toEqual([true, false, false]);
  });

  it("that are means have a score for each sample, the others none", () => {
    const scores = scoresBySample("accuracy", tensor([2, 2], 1, 2, 3, 1), tensor([2], 1, 1));
    expect(scores).toEqual(Float64Array.of(1, 0));
    expect(scoresBySample("roc-auc", tensor([2], 1, 2), tensor([2], 0, 1))).toBeNull();
  });
});
