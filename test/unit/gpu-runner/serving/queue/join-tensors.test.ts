import { describe, expect, it } from "vitest";
import {
  hasRows,
  joinTensors,
  rowShapeOf,
  rowsOf,
  splitRows,
} from "../../../../../src/gpu-runner/serving/queue/join-tensors.ts";
import { DTYPE_BYTES, type FixedDType, packStrings, type Tensor } from "../../../../../src/protocol/wire/tensor.ts";
import { fc } from "../../../property.ts";

const anyDType = fc.constantFrom(...(Object.keys(DTYPE_BYTES) as FixedDType[]), "string" as const);

function fill(name: string, dtype: Tensor["dtype"], shape: number[], seed: number): Tensor {
  const elements = shape.reduce((product, size) => product * size, 1);
  if (dtype === "string") {
    const strings = Array.from({ length: elements }, (_, index) => "é".repeat((seed + index) % 5));
    return { name, dtype, shape, bytes: packStrings(strings) };
  }
  const bytes = Uint8Array.from({ length: elements * DTYPE_BYTES[dtype] }, (_, index) => seed + index * 7);
  return { name, dtype, shape, bytes };
}

const anyRequests = fc
  .record({
    inputs: fc.array(fc.record({ dtype: anyDType, rest: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    rows: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 }),
  })
  .map(({ inputs, rows }) =>
    rows.map((each, seed) => inputs.map(({ dtype, rest }, index) => fill(`i${index}`, dtype, [each, ...rest], seed))),
  );

describe("requests that are joined", () => {
  it("are the same when they are split again", () => {
    fc.assert(
      fc.property(anyRequests, (requests) => {
        const rows = requests.map((tensors) => rowsOf(tensors)!);
        expect(new Set(requests.map(rowShapeOf)).size).toBe(1);
        const joined = joinTensors(requests);
        expect(rowsOf(joined)).toBe(rows.reduce((sum, each) => sum + each, 0));
        expect(splitRows(joined, rows)).toEqual(requests);
      }),
    );
  });

  it("may name their tensors in any order", () => {
    const [x, y] = [fill("x", "int8", [1, 2], 1), fill("y", "int8", [1], 2)];
    expect(rowShapeOf([x, y])).toBe(rowShapeOf([y, x]));
    expect(
      joinTensors([
        [x, y],
        [y, x],
      ]),
    ).toMatchObject([
      { name: "x", shape: [2, 2], bytes: Uint8Array.of(1, 8, 1, 8) },
      { name: "y", shape: [2], bytes: Uint8Array.of(2, 2) },
    ]);
  });

  it("are alike in names, types and all dimensions but the first", () => {
    const of = (name: string, dtype: "int8" | "uint8", shape: number[]) => rowShapeOf([fill(name, dtype, shape, 0)]);
    expect(of("x", "int8", [1, 2])).toBe(of("x", "int8", [5, 2]));
    for (const other of [
      of("y", "int8", [1, 2]),
      of("x", "uint8", [1, 2]),
      of("x", "int8", [1, 3]),
      of("x", "int8", [1]),
    ]) {
      expect(other).not.toBe(of("x", "int8", [1, 2]));
    }
  });
});

describe("rows", () => {
  it("are what all tensors have as their first dimension", () => {
    expect(rowsOf([fill("x", "int8", [3, 2], 0), fill("y", "int8", [3], 0)])).toBe(3);
    expect(rowsOf([fill("x", "int8", [3, 2], 0), fill("y", "int8", [2], 0)])).toBeNull();
    expect(rowsOf([fill("x", "int8", [], 0)])).toBeNull();
    expect(rowsOf([fill("x", "int8", [0, 2], 0)])).toBeNull();
    expect(rowsOf([])).toBeNull();
  });

  it("are there where every first dimension is free, in and out", () => {
    const spec = (shape: number[]) => ({ name: "x", dtype: "float32" as const, shape });
    expect(hasRows({ inputs: [spec([-1, 2])], outputs: [spec([-1])] })).toBe(true);
    expect(hasRows({ inputs: [spec([1, 2])], outputs: [spec([-1])] })).toBe(false);
    expect(hasRows({ inputs: [spec([-1])], outputs: [spec([1, -1])] })).toBe(false);
    expect(hasRows({ inputs: [spec([-1]), spec([])], outputs: [spec([-1])] })).toBe(false);
    expect(hasRows({ inputs: [], outputs: [] })).toBe(false);
  });

  it("are not found in outputs that have others", () => {
    expect(splitRows([fill("x", "int8", [3], 0)], [1, 1])).toBeNull();
    expect(splitRows([fill("x", "int8", [], 0)], [1])).toBeNull();
    expect(splitRows([{ name: "x", dtype: "int8", shape: [2], bytes: new Uint8Array(1) }], [1, 1])).toBeNull();
  });
});
