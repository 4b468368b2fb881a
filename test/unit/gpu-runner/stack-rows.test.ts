import { expect, it } from "vitest";
import { stackRows } from "../../../src/gpu-runner/serving/stack-rows.ts";
import { packStrings, type Tensor, typedView, unpackStrings } from "../../../src/protocol/tensor.ts";

function rows(...values: number[][]): Tensor {
  const bytes = new Uint8Array(Float32Array.from(values.flat()).buffer);
  return { name: "x", dtype: "float32", shape: [values.length, values[0]?.length ?? 0], bytes };
}

it("puts the rows of requests behind each other, tensor by tensor", () => {
  const text = (...strings: string[]): Tensor => ({
    name: "s",
    dtype: "string",
    shape: [strings.length],
    bytes: packStrings(strings),
  });
  const [x, s] = stackRows([
    [rows([1, 2]), text("a")],
    [rows([3, 4], [5, 6]), text("", "ccc")],
  ]);
  expect(x).toMatchObject({ name: "x", dtype: "float32", shape: [3, 2] });
  expect([...typedView(x!)]).toEqual([1, 2, 3, 4, 5, 6]);
  expect(s).toMatchObject({ name: "s", shape: [3] });
  expect(unpackStrings(s!.bytes)).toEqual(["a", "", "ccc"]);
});
