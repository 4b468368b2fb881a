import { expect, it } from "vitest";
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

it("compares strings as a whole", () => {
  const text = (...strings: string[]): Tensor => ({
    name: "y",
    dtype: "string",
    shape: [strings.length],
    bytes: packStrings(strings),
  });
  expect(measureFidelity([[text("a", "b")], [text("a", "b")]], [[text("a", "b")], [text("a", "c")]])).toBe(0.5);
});
