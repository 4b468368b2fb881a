import { describe, expect, it } from "vitest";
import { checkDeclared, declareSizes, type DeclaredSizes } from "../../../../src/edge/models/declare-sizes.ts";
import type { TensorSpec } from "../../../../src/protocol/models/model.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";

const image: TensorSpec = { name: "image", dtype: "float32", shape: [-1, 3, -1, -1] };
const rate: TensorSpec = { name: "rate", dtype: "int64", shape: [] };

function messageOf(declared: DeclaredSizes): string | undefined {
  try {
    declareSizes([image, rate], declared);
    return undefined;
  } catch (error) {
    return error instanceof ProblemError ? error.problem.errors?.[0]?.message : String(error);
  }
}

describe("sizes that an uploader declares", () => {
  it("stand with the inputs", () => {
    const shapes = [
      [1, 3, 128, 128],
      [1, 3, 384, 384],
    ];
    const declared = { shapes: { image: shapes }, values: { rate: [16_000] } };
    expect(declareSizes([image, rate], declared)).toEqual([
      { ...image, shapes },
      { ...rate, values: [16_000] },
    ]);
    expect(declareSizes([image, rate], {})).toEqual([image, rate]);
  });

  it.each<[string, DeclaredSizes, string]>([
    ["of no input", { shapes: { picture: [[1]] } }, "names picture, but the inputs are image, rate"],
    ["of no input's numbers", { values: { constructor: [1] } }, "names constructor"],
    ["of another rank", { shapes: { image: [[1, 3, 8]] } }, "has [1, 3, 8] for image, which takes [-1, 3, -1, -1]"],
    ["of another fixed size", { shapes: { image: [[1, 4, 8, 8]] } }, "which takes [-1, 3, -1, -1]"],
    ["of nothing", { shapes: { image: [[1, 3, 0, 8]] } }, "which takes"],
    ["of more rows than one", { shapes: { image: [[2, 3, 8, 8]] } }, "counts the rows of a request, and must be 1"],
    ["of more than a request has room for", { shapes: { image: [[1, 3, 4_096, 4_096]] } }, "bytes, and a request may"],
  ])("are refused where they are %s", (_, declared, message) => {
    expect(messageOf(declared)).toContain(message);
  });

  it("are refused where only all inputs together are more than a request has room for", () => {
    const names = ["a", "b", "c", "d"];
    const inputs = names.map((name): TensorSpec => ({ name, dtype: "float32", shape: [-1, -1] }));
    const each = LIMITS.inferBodyBytes / 4 / names.length;
    const shapesOf = (size: number) => ({ shapes: Object.fromEntries(names.map((name) => [name, [[1, size]]])) });
    expect(checkDeclared(inputs, shapesOf(each))).toEqual([]);
    expect(checkDeclared(inputs, shapesOf(each + 1))).toMatchObject([
      { pointer: "query/shapes", message: expect.stringContaining(`and a request may have ${LIMITS.inferBodyBytes}`) },
    ]);
  });
});
