import { describe, expect, it } from "vitest";
import { readOutput } from "../../../src/dashboard/models/read-output.ts";
import { type DType, type Tensor, tensorFromJson } from "../../../src/protocol/wire/tensor.ts";

function tensor(shape: number[], data: unknown[], dtype: DType = "float32"): Tensor {
  const read = tensorFromJson("y", { dtype, shape, data });
  if (!read.ok) throw new Error(read.message);
  return read.tensor;
}

describe("an output", () => {
  it("that is a vector is its highest classes", () => {
    const shown = readOutput(tensor([1, 12], [0, 5, 1, 9, 2, 3, 4, 6, 7, 8, 10, 11]));
    expect(shown.kind === "classes" && shown.classes.map(({ index }) => index)).toEqual([
      11, 10, 3, 9, 8, 7, 1, 6, 5, 4,
    ]);
  });

  it("of the size of a picture is one", () => {
    expect(
      readOutput(
        tensor(
          [1, 1, 8, 8],
          Array.from({ length: 64 }, () => 0),
        ),
      ),
    ).toMatchObject({ kind: "picture" });
  });

  it("that is something else is listed with the place of every value", () => {
    const shown = readOutput(tensor([1, 2, 2], [1, 2, 3, 4]));
    expect(shown).toEqual({
      kind: "values",
      left: 0,
      values: [
        { place: "0, 0", value: 1 },
        { place: "0, 1", value: 2 },
        { place: "1, 0", value: 3 },
        { place: "1, 1", value: 4 },
      ],
    });
    expect(readOutput(tensor([1, 2], ["yes", "no"], "string"))).toMatchObject({ kind: "values" });
    expect(readOutput(tensor([1], [7]))).toMatchObject({ values: [{ place: "–", value: 7 }] });
  });

  it("is cut where it is long, and says how much is left", () => {
    const shown = readOutput(
      tensor(
        [2, 50],
        Array.from({ length: 100 }, (_, place) => place),
      ),
    );
    expect(shown).toMatchObject({ kind: "values", left: 36 });
  });
});
