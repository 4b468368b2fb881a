import { describe, expect, it } from "vitest";
import { extremeError, maxRelativeError } from "../../../../src/gpu-runner/networks/compare-outputs.ts";
import { createExtremeInputs, createSeededInputs } from "../../../../src/protocol/models/model-inputs.ts";
import { packStrings, type Tensor, typedView } from "../../../../src/protocol/wire/tensor.ts";
import { anyTensor } from "../../protocol/arbitraries.ts";
import { fc } from "../../property.ts";

const floats = (values: number[], name = "y"): Tensor => ({
  name,
  dtype: "float32",
  shape: [values.length],
  bytes: new Uint8Array(Float32Array.from(values).buffer),
});

describe("the difference of outputs", () => {
  it("is none between equal ones, of any type", () => {
    fc.assert(
      fc.property(anyTensor, (tensor) => {
        expect(maxRelativeError([tensor], [tensor])).toBe(0);
      }),
    );
  });

  it("of strings is none or infinite", () => {
    const strings = (...values: string[]): Tensor => ({
      name: "y",
      dtype: "string",
      shape: [values.length],
      bytes: packStrings(values),
    });
    expect(maxRelativeError([strings("a", "b")], [strings("a", "b")])).toBe(0);
    expect(maxRelativeError([strings("a", "b")], [strings("a", "c")])).toBe(Number.POSITIVE_INFINITY);
  });

  it("is relative to the largest of the reference, tensor by tensor", () => {
    expect(maxRelativeError([floats([1, -4])], [floats([2, -4])])).toBe(0.25);
    expect(maxRelativeError([floats([100], "a"), floats([1], "b")], [floats([1.5], "b"), floats([100], "a")])).toBe(
      0.5,
    );
    expect(maxRelativeError([floats([0])], [floats([1])])).toBeGreaterThan(1e100);
  });

  it("is infinite where they cannot be compared", () => {
    const reference = [floats([1, 2])];
    for (const wrong of [
      [],
      [floats([1, 2], "z")],
      [floats([1])],
      [{ ...floats([1, 2]), dtype: "int32" as const }],
      [floats([1, Number.NaN])],
      [floats([Number.POSITIVE_INFINITY, 2])],
    ]) {
      expect(maxRelativeError(reference, wrong)).toBe(Number.POSITIVE_INFINITY);
    }
  });

  it("leaves out elements that are the same without being a number", () => {
    const reference = [floats([Number.NaN, Number.NEGATIVE_INFINITY, 2])];
    expect(maxRelativeError(reference, [floats([Number.NaN, Number.NEGATIVE_INFINITY, 3])])).toBe(0.5);
    for (const wrong of [
      [Number.NaN, Number.POSITIVE_INFINITY, 2],
      [0, Number.NEGATIVE_INFINITY, 2],
    ])
      expect(maxRelativeError(reference, [floats(wrong)])).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("the difference at extremes", () => {
  it("is infinite where a number stands for none", () => {
    const reference = [floats([Number.NaN, 1, Number.NEGATIVE_INFINITY])];
    expect(extremeError(reference, reference)).toBe(0);
    expect(extremeError(reference, [floats([Number.NaN, 1.5, Number.NaN])])).toBe(0.5);
    expect(extremeError(reference, [floats([0, 1, Number.NEGATIVE_INFINITY])])).toBe(Number.POSITIVE_INFINITY);
    expect(extremeError(reference, [floats([Number.NaN, 1, -3e38])])).toBe(Number.POSITIVE_INFINITY);
    expect(extremeError(reference, [])).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("seeded inputs", () => {
  const specs = [
    { name: "x", dtype: "float32" as const, shape: [-1, 50] },
    { name: "n", dtype: "int64" as const, shape: [40] },
    { name: "b", dtype: "bool" as const, shape: [40] },
  ];

  it("are the same for the same seed, and fill free dimensions with one", () => {
    const inputs = createSeededInputs(specs, 7);
    expect(createSeededInputs(specs, 7)).toEqual(inputs);
    expect(createSeededInputs(specs, 8)).not.toEqual(inputs);
    expect(inputs.map(({ shape }) => shape)).toEqual([[1, 50], [40], [40]]);
  });

  it("lie in [0, 1) for floats, and are 0 or 1 else", () => {
    const [x, n, b] = createSeededInputs(specs, 3).map((tensor) =>
      Array.from(typedView(tensor) as ArrayLike<number | bigint>, Number),
    );
    expect(x?.every((value) => value >= 0 && value < 1)).toBe(true);
    expect(new Set(x).size).toBeGreaterThan(40);
    for (const whole of [n, b]) expect(new Set(whole)).toEqual(new Set([0, 1]));
  });

  it("have extremes: negative and large ones, and one of each tensor that is no number", () => {
    const sets = createExtremeInputs(specs, 5).map(([x, n]) => {
      const [values, whole] = [x, n].map((tensor) => Array.from(typedView(tensor!) as ArrayLike<number>, Number));
      expect(new Set(whole)).toEqual(new Set([0, 1]));
      return values!;
    });
    const none = sets.map((values) => values.filter((value) => !Number.isFinite(value)));
    expect(none).toEqual([[], [], [Number.NaN], [Number.POSITIVE_INFINITY], [Number.NEGATIVE_INFINITY]]);
    expect(Math.min(...sets[0]!)).toBeLessThan(-2);
    expect(Math.max(...sets[1]!)).toBeGreaterThan(500);
  });
});
