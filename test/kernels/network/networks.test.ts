import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { openAdapters } from "../open-adapters.ts";
import { expectFile, expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;

test("lenet5 answers as the CPU provider does", { timeout: TIMEOUT_MS }, () => expectFile("lenet5/lenet5.onnx"));

// A level of the outputs' grid is a hundredth of their range.
test("so does its int8 form, but for one level", { timeout: TIMEOUT_MS }, () =>
  expectFile("lenet5/lenet5-int8.onnx", { tolerance: 0.02 }),
);

test("a residual network of strided, grouped and depthwise convolutions", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("Conv", ["x", "w1", "b1"], ["c1"], { kernel_shape: [3, 3], pads: [1, 1, 1, 1], strides: [2, 2] }),
        node("Relu", ["c1"], ["r1"]),
        node("Conv", ["r1", "w2"], ["c2"], { kernel_shape: [3, 3], pads: [1, 1, 1, 1], group: 6 }),
        node("Conv", ["c2", "w3"], ["c3"], { kernel_shape: [1, 1], group: 2 }),
        node("Add", ["r1", "c3"], ["a"]),
        node("Clip", ["a", "low", "high"], ["r2"]),
        node("Concat", ["r2", "c2"], ["cat"], { axis: 1 }),
        node("AveragePool", ["cat"], ["p"], { kernel_shape: [2, 2], strides: [1, 1], pads: [0, 0, 1, 1] }),
        node("GlobalAveragePool", ["p"], ["g"]),
        node("Flatten", ["g"], ["f"]),
        node("Gemm", ["f", "w4", "b4"], ["d"], { transB: 1 }),
        node("Softmax", ["d"], ["y"], { axis: -1 }),
      ],
      {
        x: [3, 9, 7],
        y: [5],
        tensors: [
          weights("w1", [6, 3, 3, 3]),
          weights("b1", [6], 2),
          weights("w2", [6, 1, 3, 3], 3),
          weights("w3", [6, 3, 1, 1], 4),
          weights("low", [], 9),
          { ...weights("high", [], 5), bytes: new Uint8Array(Float32Array.of(2).buffer) },
          weights("w4", [5, 12], 6),
          weights("b4", [5], 7),
        ],
      },
    ),
  ),
);

test.each(["GRU", "LSTM"])("%s over a sequence", { timeout: TIMEOUT_MS }, (operator) => {
  const gates = operator === "GRU" ? 3 : 4;
  const attributes = { hidden_size: 5, ...(operator === "GRU" && { linear_before_reset: 1 }) };
  return expectModel(
    network(
      [
        node("Transpose", ["x"], ["t"], { perm: [1, 0, 2] }),
        node(operator, ["t", "w", "r", "b"], ["s", "last"], attributes),
        node("Squeeze", ["last", "axis"], ["h"]),
        node("MatMul", ["h", "o"], ["m"]),
        node("Tanh", ["m"], ["y"]),
      ],
      {
        x: [6, 3],
        y: [2],
        tensors: [
          weights("w", [1, gates * 5, 3]),
          weights("r", [1, gates * 5, 5], 2),
          weights("b", [1, 2 * gates * 5], 3),
          { name: "axis", dtype: "int64", dims: [1], bytes: new Uint8Array(8) },
          weights("o", [5, 2], 4),
        ],
      },
    ),
  );
});

test("a request of NaN leaves nothing to the next one", { timeout: TIMEOUT_MS }, async () => {
  const file = await readFile(new URL("../../../models/lenet5/lenet5.onnx", import.meta.url));
  const filled = (value: number) => {
    const bytes = new Uint8Array(new Float32Array(3 * 784).fill(value).buffer);
    return [{ name: "image", dtype: "float32" as const, shape: [3, 1, 28, 28], bytes }];
  };
  for (const adapter of await openAdapters()) {
    await adapter.loadModel({ modelKey: "storm", read: async () => file });
    const ask = async (value: number) => (await adapter.infer("storm", filled(value), { requestId: "req" })).tensors;
    const before = await ask(0.5);
    await ask(Number.NaN);
    await ask(Number.POSITIVE_INFINITY);
    expect(await ask(0.5)).toEqual(before);
    await adapter.unloadModel("storm");
  }
});

test("what it does not know is refused by name", { timeout: TIMEOUT_MS }, async () => {
  const file = writeModel(network([node("NonZero", ["x"], ["y"])], { x: [3], y: [3] }));
  for (const adapter of await openAdapters()) {
    await expect(adapter.loadModel({ modelKey: "unknown", read: async () => file })).rejects.toMatchObject({
      problem: { code: "invalid-model", detail: expect.stringContaining("NonZero") },
    });
  }
});
