import { fc } from "../property.ts";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { type DType, JsonTensor, tensorFromJson, tensorToJson, typedView } from "../../../src/protocol/wire/tensor.ts";
import { anyTensor } from "./arbitraries.ts";

const read = (json: object) => tensorFromJson("x", JsonTensor.parse(json));
const message = (json: object) => {
  const result = read(json);
  return result.ok ? null : result.message;
};

/** Flat data as nested rows of a shape. */
function nest(data: readonly unknown[], [size = 0, ...inner]: readonly number[]): unknown[] {
  if (inner.length === 0) return [...data];
  const rowLength = data.length / size;
  return Array.from({ length: size }, (_, row) => nest(data.slice(row * rowLength, (row + 1) * rowLength), inner));
}

const finite = anyTensor.filter(
  (tensor) =>
    tensor.dtype === "string" ||
    Array.from(typedView(tensor) as ArrayLike<number | bigint>).every((value) =>
      typeof value === "bigint" ? Number.isSafeInteger(Number(value)) : Number.isFinite(value) && !Object.is(value, -0),
    ),
);

describe("a tensor as JSON", () => {
  it("comes back the same through text, flat or nested, for every type", () => {
    fc.assert(
      fc.property(finite, (tensor) => {
        const json = JsonTensor.parse(JSON.parse(JSON.stringify(tensorToJson(tensor))));
        expect(tensorFromJson(tensor.name, json)).toEqual({ ok: true, tensor });
        if (tensor.shape.length === 0 || tensor.shape.includes(0)) return;
        const nested = { dtype: tensor.dtype, data: nest(json.data, tensor.shape) };
        expect(tensorFromJson(tensor.name, JsonTensor.parse(nested))).toEqual({ ok: true, tensor });
      }),
    );
  });

  it("takes its shape from the nesting, and refuses another one", () => {
    expect(
      read({
        data: [
          [1, 2, 3],
          [4, 5, 6],
        ],
      }),
    ).toMatchObject({ ok: true, tensor: { dtype: "float32", shape: [2, 3] } });
    expect(read({ data: [1, 2, 3, 4], shape: [2, 2] })).toMatchObject({ ok: true, tensor: { shape: [2, 2] } });
    expect(read({ data: [7], shape: [] })).toMatchObject({ ok: true, tensor: { shape: [] } });
    expect(
      message({
        data: [
          [1, 2],
          [3, 4],
        ],
        shape: [4],
      }),
    ).toContain("nested as [2, 2]");
    expect(message({ data: [1, 2, 3], shape: [2, 2] })).toContain("wants 4 elements, data has 3");
  });

  it("is evenly nested and no deeper than a tensor may be", () => {
    for (const data of [
      [[1], [2, 3]],
      [[1], 2],
      [1, [2]],
      [[[1]], [2]],
    ])
      expect(message({ data })).toContain("evenly");
    const deep = (levels: number): unknown[] => (levels === 1 ? [1] : [deep(levels - 1)]);
    expect(message({ data: deep(LIMITS.tensorRank) })).toBeNull();
    expect(message({ data: deep(LIMITS.tensorRank + 1) })).toContain("evenly");
  });

  it.each<[DType, unknown[], unknown[]]>([
    ["int8", [-128, 127, 0], [-129, 128, 0.5, "1", null, true]],
    ["uint8", [0, 255], [-1, 256, 1.5]],
    ["int32", [-(2 ** 31), 2 ** 31 - 1], [2 ** 31, -(2 ** 31) - 1, 0.1]],
    ["int64", [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER], [2 ** 53, 1.5]],
    ["bool", [true, false, 0, 1], [2, "true", null]],
    ["int16", [-32_768, 32_767], [32_768, 0.5]],
    ["uint16", [0, 65_535], [65_536, -1]],
    ["uint32", [0, 2 ** 32 - 1], [2 ** 32, -1]],
    ["uint64", [0, Number.MAX_SAFE_INTEGER], [-1, 2 ** 53]],
    ["float16", [0, -1.5, 65_504], [65_520, "1"]],
    ["string", ["", "a", "é\0"], [1, null, true]],
    ["float32", [0, -1.5, 3e38], [1e39, -1e39, "1", null, true, Number.NaN, Number.POSITIVE_INFINITY]],
    ["float16", [0, -1.5, 65_504], [65_520, -1e39, "1", null, true, Number.NaN]],
    ["float64", [1e300], ["1", null, Number.NaN, Number.NEGATIVE_INFINITY]],
  ])("of %s holds what the type can hold", (dtype, good, bad) => {
    expect(message({ dtype, data: good })).toBeNull();
    for (const value of bad)
      expect(message({ dtype, data: [good[0], value] }), String(value)).toBe(`element 1 is not a ${dtype}`);
  });

  it("can be viewed where its bytes are not aligned", () => {
    const bytes = new Uint8Array(9).subarray(1);
    new DataView(bytes.buffer, 1).setFloat64(0, 2.5, true);
    expect([...typedView({ name: "x", dtype: "float64", shape: [1], bytes })]).toEqual([2.5]);
  });
});
