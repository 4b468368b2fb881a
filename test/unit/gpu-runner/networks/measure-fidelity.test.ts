import { describe, expect, it } from "vitest";
import { measureFidelity } from "../../../../src/gpu-runner/networks/compare-outputs.ts";
import { packStrings, type Tensor } from "../../../../src/protocol/wire/tensor.ts";

function floats(name: string, ...values: number[]): Tensor {
  return { name, dtype: "float32", shape: [values.length], bytes: new Uint8Array(Float32Array.from(values).buffer) };
}

it("counts the answers whose largest element stands where the original's does", () => {
  const originals = [[floats("y", 1, 2)], [floats("y", 3, 2)], [floats("y", -1, -2)], [floats("y", 0, 9)]];
  const answers = [[floats("y", 5, 6)], [floats("y", 2, 3)], [floats("y", -5, -6)], [floats("y", 9, 0)]];
  expect(measureFidelity(originals, originals)).toBe(1);
  expect(measureFidelity(originals, answers)).toBe(0.5);
});

it("wants every output of an answer right, by its name", () => {
  const originals = [[floats("a", 1, 2), floats("b", 2, 1)]];
  expect(measureFidelity(originals, [[floats("b", 9, 8), floats("a", 3, 4)]])).toBe(1);
  expect(measureFidelity(originals, [[floats("a", 3, 4), floats("b", 8, 9)]])).toBe(0);
  expect(measureFidelity(originals, [[floats("a", 3, 4)]])).toBe(0);
});

describe("an output of one number, which is always the largest", () => {
  const each = (...values: number[]) => values.map((value) => [floats("y", value)]);

  it("counts by 1 less the relative error", () => {
    expect(measureFidelity(each(3, -4), each(3.03, -4.04))).toBeCloseTo(0.99, 6);
    expect(measureFidelity(each(3, -4), each(-3, 4))).toBe(0);
    expect(measureFidelity(each(3, -4), each(3, Number.NaN))).toBe(0);
    expect(measureFidelity(each(0, 0), each(0, 1))).toBe(0);
    expect(measureFidelity(each(0, 0), each(0, 0))).toBe(1);
  });

  it("counts as equal within what backends may differ by", () => {
    expect(measureFidelity(each(3, -4), each(3.0003, -4.0004))).toBe(1);
  });

  it("counts beside the others, and the worst of them decides", () => {
    const originals = [1, 2].map((value) => [floats("policy", 1, 2), floats("value", value)]);
    const answers = [1, 2].map((value) => [floats("policy", 1, 2), floats("value", 1.1 * value)]);
    expect(measureFidelity(originals, answers)).toBeCloseTo(0.9, 6);
    const half = answers.map((tensors, index) => [floats("policy", index, 0.5), tensors[1]!]);
    expect(measureFidelity(originals, half)).toBe(0.5);
  });

  it("is right or wrong as a whole number", () => {
    const labels = (...values: number[]) =>
      values.map((value): Tensor[] => [
        { name: "label", dtype: "int64", shape: [1], bytes: new Uint8Array(BigInt64Array.of(BigInt(value)).buffer) },
      ]);
    expect(measureFidelity(labels(1, 2, 3, 4), labels(1, 2, 3, 5))).toBe(0.75);
  });
});

it("compares strings as a whole", () => {
  const text = (...strings: string[]): Tensor => ({
    name: "y",
    dtype: "string",
    shape: [strings.length],
    bytes: packStrings(strings),
  });
  expect(measureFidelity([[text("a", "b")], [text("a", "b")]], [[text("a", "b")], [text("a", "c")]])).toBe(0.5);
});
