import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { quantiseInt4 } from "../../../../src/gpu-runner/compression/quantise-int4.ts";
import { quantiseWeights } from "../../../../src/gpu-runner/compression/quantise-weights.ts";
import { openSessionFile, OrtBackend, prepareExact } from "../../../../src/gpu-runner/devices/ort/ort-backend.ts";
import type { OnnxTensor } from "../../../../src/onnx/onnx-model.ts";
import { readModel } from "../../../../src/onnx/read-model.ts";
import { floatTensor } from "../../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../../src/onnx/write-model.ts";
import { createSeededInputs } from "../../../../src/protocol/models/model-inputs.ts";

const models = new URL("../../../../models/lenet5/", import.meta.url);
const own = readFileSync(new URL("lenet5.onnx", models));
const NODE = { name: "", domain: "", attributes: new Map() };
const integers = (name: string, dims: number[]): OnnxTensor => ({
  name,
  dtype: "int8",
  dims,
  bytes: Uint8Array.from({ length: dims.reduce((size, each) => size * each, 1) }, (_, at) => at),
});
const weightsOnly = writeModel(quantiseWeights(readModel(own)).model);

it("weights that are only stored as whole numbers become floats when they are loaded", async () => {
  expect((await openSessionFile(weightsOnly)).options).toMatchObject({
    extra: { session: { disable_quant_qdq: "1" } },
  });
  expect((await openSessionFile(own)).options).not.toHaveProperty("extra");
});

it("products of 8 bits are exact, or else as the runtime has them by default", async () => {
  const file = fileURLToPath(new URL("lenet5-int8.onnx", models));
  const { options, other } = await openSessionFile(file);
  expect(options).toMatchObject({ extra: { session: { x64quantprecision: "1" } } });
  expect(other).toMatchObject({ model: file });
  expect(other!.options).not.toHaveProperty("extra");
});

it("each use of 8-bit numbers has a tensor of its own then, and weights by channel have zero points", () => {
  const [weights, zero] = [integers("w", [2, 2]), integers("z", [1])];
  const scale = { ...floatTensor("s", [2], Float32Array.of(1, 2)) };
  const dequantise = (...inputs: string[]) => ({
    ...NODE,
    operator: "DequantizeLinear",
    inputs,
    outputs: [inputs.join()],
  });
  const nodes = [
    { ...NODE, operator: "QuantizeLinear", inputs: ["x", "s", "z"], outputs: ["q"] },
    dequantise("w", "s", "z"),
    dequantise("w", "s"),
  ];
  const tensors = new Map([weights, zero, scale].map((tensor) => [tensor.name, tensor]));
  const exact = prepareExact({ ...readModel(own), nodes, weights: tensors })!;
  const used = exact.nodes.flatMap(({ inputs }) =>
    inputs.filter((input) => exact.weights.get(input)?.dtype === "int8"),
  );
  expect(new Set(used).size).toBe(used.length);
  const [, , last] = exact.nodes;
  expect(exact.weights.get(last!.inputs[0]!)).toMatchObject({ dims: [2, 2], bytes: weights.bytes });
  expect(exact.weights.get(last!.inputs[2]!)).toMatchObject({ dims: [2], bytes: new Uint8Array(2) });
  expect(prepareExact(readModel(own))).toBeNull();
});

it("a file that cannot be written in whole numbers keeps its own, and its options", async () => {
  const four = writeModel(quantiseInt4(readModel(own), { blockSize: 32 }).model);
  expect((await openSessionFile(four)).model).not.toBe(four);
  // A function of its own, field 25 of the file, without content.
  const withFunction = Uint8Array.of(...four, 0xca, 0x01, 0);
  const { model, options } = await openSessionFile(withFunction);
  expect(model).toBe(withFunction);
  expect(options).toMatchObject({ extra: { session: { disable_quant_qdq: "1" } } });
});

it("what cannot be read is left to the runtime to refuse", async () => {
  for (const file of [Uint8Array.of(1, 2, 3), "/nowhere.onnx"]) {
    expect((await openSessionFile(file)).options).not.toHaveProperty("extra");
  }
  await expect(new OrtBackend("cpu").load("none", "/nowhere.onnx")).rejects.toThrow("cannot load the model");
});

it("they answer as the floats do that they stand for, but for their rounding", async () => {
  const ort = new OrtBackend("cpu");
  const inputs = createSeededInputs([{ name: "image", dtype: "float32", shape: [-1, 1, 28, 28] }], 1);
  const answer = async (file: Uint8Array) => {
    await ort.load("model", file);
    const [logits] = (await ort.run("model", inputs)).tensors;
    return new Float32Array(new Uint8Array(logits!.bytes).buffer);
  };
  const [floats, stored] = [await answer(own), await answer(weightsOnly)];
  const largest = Math.max(...floats.map(Math.abs));
  const error = Math.max(...floats.map((value, at) => Math.abs(value - stored[at]!))) / largest;
  expect(error).toBeGreaterThan(0);
  expect(error).toBeLessThan(0.02);
});
