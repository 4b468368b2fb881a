import { describe, expect, it } from "vitest";
import {
  countMeasuredElements,
  countRowElements,
  countRows,
  countSizes,
  createSeededInputs,
  matchInputs,
} from "../../../src/protocol/models/model-inputs.ts";
import type { TensorSpec } from "../../../src/protocol/models/model.ts";
import { type TensorHeader, typedView } from "../../../src/protocol/wire/tensor.ts";

const specs: TensorSpec[] = [
  { name: "image", dtype: "float32", shape: [-1, 2, 2] },
  { name: "scale", dtype: "int64", shape: [] },
];
const image: TensorHeader = { name: "image", dtype: "float32", shape: [3, 2, 2] };
const scale: TensorHeader = { name: "scale", dtype: "int64", shape: [] };
const errors = (...tensors: TensorHeader[]) => matchInputs(specs, tensors, (name) => `#/${name}`);

describe("the inputs of a request", () => {
  it("fit with any size of a free dimension, in any order", () => {
    expect(errors(image, scale)).toEqual([]);
    expect(errors(scale, { ...image, shape: [1, 2, 2] })).toEqual([]);
  });

  it.each<[string, TensorHeader[], string, string]>([
    ["missing", [image], "#/scale", "lacks the input scale, int64 []"],
    [
      "unknown",
      [image, scale, { ...scale, name: "more" }],
      "#/more",
      "is not an input of the model, which takes image, scale",
    ],
    ["of another type", [{ ...image, dtype: "uint8" }, scale], "#/image", "must be float32, not uint8"],
    ["of another rank", [{ ...image, shape: [2, 2] }, scale], "#/image", "must have the shape [-1, 2, 2], not [2, 2]"],
    [
      "of another size",
      [{ ...image, shape: [1, 2, 3] }, scale],
      "#/image",
      "must have the shape [-1, 2, 2], not [1, 2, 3]",
    ],
    ["empty", [{ ...image, shape: [0, 2, 2] }, scale], "#/image", "must have at least one row"],
    ["twice", [image, scale, image], "#/", "two tensors have the same name"],
  ])("that are %s are named", (_, tensors, pointer, message) => {
    expect(errors(...tensors)).toEqual([{ pointer, message }]);
  });

  it("may have free sizes of 0 besides their rows, as a decoder's cache before the first token", () => {
    const past = { name: "past", dtype: "float32" as const, shape: [-1, 2, -1, 4] };
    const given = (shape: number[]) => matchInputs([past], [{ ...past, shape }], (name) => `#/${name}`);
    expect(given([3, 2, 0, 4])).toEqual([]);
    expect(given([0, 2, 3, 4])).toEqual([{ pointer: "#/past", message: "must have at least one row" }]);
  });

  it("are all named at once", () => {
    expect(errors({ ...image, name: "other" }).map(({ pointer }) => pointer)).toEqual([
      "#/image",
      "#/scale",
      "#/other",
    ]);
  });
});

describe("inputs for measuring", () => {
  const picture: TensorSpec = {
    name: "picture",
    dtype: "float32",
    shape: [-1, 3, -1, -1],
    shapes: [
      [1, 3, 8, 4],
      [1, 3, 16, 8],
    ],
  };
  const rate: TensorSpec = { name: "rate", dtype: "int64", shape: [], values: [8_000, 16_000] };
  const shapesAt = (size: number) => createSeededInputs([picture, rate], 1, size).map(({ shape }) => shape);

  it("have the shapes of their size, or the last that there is", () => {
    expect([0, 1, 2].map(shapesAt)).toEqual([
      [[1, 3, 8, 4], []],
      [[1, 3, 16, 8], []],
      [[1, 3, 16, 8], []],
    ]);
    expect(countSizes([picture, rate])).toBe(2);
    expect([0, 1].map((size) => countMeasuredElements([picture, rate], size))).toEqual([97, 385]);
  });

  it("have the numbers that were given", () => {
    const rates = Array.from({ length: 64 }, (_, seed) => typedView(createSeededInputs([rate], seed)[0]!)[0]);
    expect(new Set(rates)).toEqual(new Set([8_000n, 16_000n]));
  });

  it("are the same as ever where nothing is given", () => {
    const [drawn] = createSeededInputs([{ name: "x", dtype: "float32", shape: [-1, 2] }], 1);
    expect(drawn?.shape).toEqual([1, 2]);
    expect([...typedView(drawn!)]).toEqual([0.6270739436149597, 0.002735721180215478]);
  });

  it("count the elements of one row, where rows are free", () => {
    const tensors = [
      { ...picture, shape: [5, 3, 8, 4] },
      { ...rate, shape: [] },
    ];
    expect(countRowElements([picture, rate], tensors)).toBe(97);
  });
});

describe("the rows of a request", () => {
  const tensor = (name: string, shape: number[]) => ({ name, dtype: "float32" as const, shape });

  it("are the first size of an input where the model leaves it free", () => {
    expect(countRows([tensor("x", [-1, 4])], [tensor("x", [7, 4])])).toBe(7);
    expect(countRows([tensor("fixed", [3]), tensor("x", [-1])], [tensor("x", [2]), tensor("fixed", [3])])).toBe(2);
    expect(countRows([tensor("x", [1, 4])], [tensor("x", [1, 4])])).toBe(1);
    expect(countRows([tensor("x", [])], [tensor("x", [])])).toBe(1);
  });
});
