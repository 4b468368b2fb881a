import { describe, expect, it } from "vitest";
import { fillRow, readNumbers, settleShape, toTensor } from "../../../src/dashboard/models/input-tensor.ts";
import { typedView } from "../../../src/protocol/wire/tensor.ts";

const spec = { name: "x", dtype: "float32" as const, shape: [-1, 2, 2] };

describe("numbers as an input", () => {
  it.each(["1, 2, 3, 4", "1 2\n3 4", "[1, 2, 3, 4]", "[[[1, 2], [3, 4]]]"])("are read from %j", (text) => {
    const read = readNumbers(spec, text);
    expect(read.ok && [...typedView(read.tensor)]).toEqual([1, 2, 3, 4]);
    expect(read.ok && read.tensor.shape).toEqual([1, 2, 2]);
  });

  it("may be several rows where the first size is free", () => {
    const read = readNumbers(spec, "1,2,3,4,5,6,7,8");
    expect(read.ok && read.tensor.shape).toEqual([2, 2, 2]);
  });

  it.each([
    ["1, 2, 3", "4 numbers a row are wanted, these are 3"],
    ["", "4 numbers a row are wanted, these are 0"],
    ["1, 2, x, 4", "element 2 is not a float32"],
    ["[1, 2", "this is neither JSON nor a list of numbers"],
  ])("that do not fit are refused with the reason: %j", (text, message) => {
    expect(readNumbers(spec, text)).toEqual({ ok: false, message });
  });

  it("must be exactly as many as a fixed shape has", () => {
    expect(toTensor({ ...spec, shape: [1, 2] }, [1, 2, 3, 4])).toMatchObject({ ok: false });
    expect(settleShape([-1, -1, 3], 6)).toEqual([2, 1, 3]);
  });

  it.each(["float32", "float16", "uint8", "int64", "bool"] as const)("fill a row of %s that is taken", (dtype) => {
    for (const fill of ["zeros", "random"] as const) {
      const row = fillRow({ ...spec, dtype }, fill);
      expect(row).toHaveLength(4);
      expect(toTensor({ ...spec, dtype }, row).ok).toBe(true);
    }
  });
});
