import { InferenceSession, Tensor } from "onnxruntime-node";
import { expect, test } from "vitest";
import { checkAgainstReference } from "../../../bench/check-against-reference.ts";
import type { KernelCase } from "../../../bench/kernel-contest/kernel-case.ts";
import { createOnnxOperation } from "../../../bench/kernel-contest/onnx-operations.ts";

const CASES: readonly Pick<KernelCase, "kernel" | "shape">[] = [
  { kernel: "gemm", shape: { m: 3, n: 5, k: 7 } },
  { kernel: "softmax", shape: { rows: 3, columns: 33 } },
  { kernel: "mlp", shape: { batch: 5, inputs: 7, hidden: 19, outputs: 3, layers: 3, activation: 2 } },
  { kernel: "mlp", shape: { batch: 2, inputs: 3, hidden: 1, outputs: 5, layers: 1, activation: 2 } },
  {
    kernel: "conv2d",
    shape: { batch: 2, height: 6, width: 5, channels: 3, filters: 7, kernel: 3, stride: 1 },
  },
];

test.each(CASES)("the ONNX of $kernel $shape computes what the kernel does", async ({ kernel, shape }) => {
  const input: KernelCase = { kernel, shape, mode: "stream", runs: 1 };
  const operation = createOnnxOperation(input);
  const session = await InferenceSession.create(operation.file, { executionProviders: ["cpu"] });
  const feeds = operation.feeds.map(({ name, values, shape: extents }) => [
    name,
    new Tensor("float32", values, extents),
  ]);
  const outputs = await session.run(Object.fromEntries(feeds));
  const output = operation.arrange(outputs[operation.output]?.data as Float32Array);
  await expect(checkAgainstReference(input, output)).resolves.toBeUndefined();
  output[0] = output[0]! + 1;
  await expect(checkAgainstReference(input, output)).rejects.toThrow("the reference says");
});

test("a kernel that ONNX has no operator for is refused", () => {
  const input: KernelCase = { kernel: "empty-dispatch", shape: {}, mode: "stream", runs: 1 };
  expect(() => createOnnxOperation(input)).toThrow("no operators for 'empty-dispatch'");
});
