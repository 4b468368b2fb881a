import { expect, it } from "vitest";
import { quantiseInt4 } from "../../../../src/gpu-runner/compression/quantise-int4.ts";
import { quantiseWeights } from "../../../../src/gpu-runner/compression/quantise-weights.ts";
import { describeComputation } from "../../../../src/gpu-runner/compression/variants/describe-computation.ts";
import { optimiseOnCpu } from "../../../../src/gpu-runner/devices/ort/optimised-graph.ts";
import { OrtBackend } from "../../../../src/gpu-runner/devices/ort/ort-backend.ts";
import { findWholeProducts, roundsActivations } from "../../../../src/gpu-runner/devices/ort/whole-products.ts";
import type { OnnxAttribute, OnnxModel, OnnxNode } from "../../../../src/onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../../src/onnx/write-model.ts";
import { roundHalfEven } from "../../../../src/gpu-runner/compression/quantise-linear.ts";
import type { Tensor } from "../../../../src/protocol/wire/tensor.ts";
import { sfc32 } from "../../../../src/stats/random/seeded.ts";

const [TOKENS, INPUTS, OUTPUTS] = [256, 100, 96];
const ORT = new OrtBackend("cpu");

function draw(count: number, seed: number): Float32Array<ArrayBuffer> {
  const next = sfc32(seed);
  return Float32Array.from({ length: count }, () => next(2 ** 31) / 2 ** 30 - 1);
}

function node(operator: string, inputs: readonly string[], output: string, transB = 0): OnnxNode {
  const attributes = new Map<string, OnnxAttribute>(transB === 0 ? [] : [["transB", { kind: "int", value: 1 }]]);
  return { name: output, operator, domain: "", inputs, outputs: [output], attributes };
}

/** y = x · w, for each row so many vectors that whole numbers pay. */
const tokens: OnnxModel = {
  irVersion: 8,
  opset: 17,
  domains: new Map(),
  name: "tokens",
  nodes: [node("MatMul", ["x", "w"], "y")],
  weights: new Map([["w", floatTensor("w", [INPUTS, OUTPUTS], draw(INPUTS * OUTPUTS, 1))]]),
  inputs: [{ name: "x", dtype: "float32", shape: ["rows", TOKENS, INPUTS] }],
  outputs: [{ name: "y", dtype: "float32", shape: ["rows", TOKENS, OUTPUTS] }],
};

/** y = x · wᵀ + b, for one vector each. */
const vector: OnnxModel = {
  ...tokens,
  nodes: [node("Gemm", ["x", "w", "b"], "y", 1)],
  weights: new Map([
    ["w", floatTensor("w", [OUTPUTS, INPUTS], draw(OUTPUTS * INPUTS, 2))],
    ["b", floatTensor("b", [OUTPUTS], draw(OUTPUTS, 3))],
  ]),
  inputs: [{ name: "x", dtype: "float32", shape: ["rows", INPUTS] }],
  outputs: [{ name: "y", dtype: "float32", shape: ["rows", OUTPUTS] }],
};

async function answer(model: OnnxModel, values: Float32Array<ArrayBuffer>): Promise<Float32Array> {
  const shape = model.inputs[0]!.shape.map((size) => (typeof size === "number" ? size : -1));
  const rows = values.length / shape.slice(1).reduce((product, size) => product * size, 1);
  const x: Tensor = { name: "x", dtype: "float32", shape: shape.with(0, rows), bytes: new Uint8Array(values.buffer) };
  await ORT.load("model", writeModel(model));
  const { bytes } = (await ORT.run("model", [x])).tensors[0]!;
  return new Float32Array(bytes.slice().buffer);
}

const operatorsOf = async (model: OnnxModel) =>
  (await optimiseOnCpu(writeModel(model))).nodes.map(({ operator }) => operator);

function largestError(found: Float32Array, wanted: ArrayLike<number>): number {
  const size = Array.from(wanted).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return found.reduce((most, value, at) => Math.max(most, Math.abs(value - wanted[at]!)), 0) / size;
}

/** Activations as they are rounded: each vector by its largest magnitude. */
function roundVectors(values: Float32Array): Float32Array {
  return values.map((value, at) => {
    const from = at - (at % INPUTS);
    const largest = values.subarray(from, from + INPUTS).reduce((most, each) => Math.max(most, Math.abs(each)), 0);
    const scale = largest / 127 || 1;
    return roundHalfEven(value / scale) * scale;
  });
}

/** Products with the weights that a variant's file stands for. */
async function multiply(variant: OnnxModel, values: Float32Array): Promise<number[]> {
  const product = findWholeProducts(variant)[0]!;
  const answers: number[] = [];
  for (let from = 0; from < values.length; from += INPUTS) {
    for (let output = 0; output < OUTPUTS; output++) {
      let sum = 0;
      for (let input = 0; input < INPUTS; input++)
        sum += values[from + input]! * product.weightAt(output, input) * product.scaleAt(output, input);
      answers.push(sum);
    }
  }
  return answers;
}

it("int8 weights without a node behind them are multiplied in whole numbers, by activations rounded by row", async () => {
  const { model } = quantiseWeights(tokens, "dynamic");
  expect(await operatorsOf(model)).toContain("MatMulInteger");
  const values = draw(2 * TOKENS * INPUTS, 4);
  // A vector of zeros, which has no scale, and one that is far larger than the others.
  values.fill(0, 0, INPUTS);
  for (let at = INPUTS; at < 2 * INPUTS; at++) values[at]! *= 1_000;
  const found = await answer(model, values);
  expect(largestError(found, await multiply(model, roundVectors(values)))).toBeLessThan(1e-5);
  expect(found.subarray(0, OUTPUTS).every((each) => each === 0)).toBe(true);
  // Rows of a batch do not change each other.
  const half = TOKENS * INPUTS;
  const alone = [await answer(model, values.slice(0, half)), await answer(model, values.slice(half))];
  expect(found).toEqual(Float32Array.from(alone.flatMap((part) => [...part])));
});

it.each([32, 128] as const)("int4 weights in blocks of %s are multiplied in whole numbers", async (blockSize) => {
  const { model } = quantiseInt4(tokens, { blockSize });
  expect(await operatorsOf(model)).toContain("MatMulNBits");
  const values = draw(TOKENS * INPUTS, 5);
  const found = await answer(model, values);
  const wanted = await multiply(model, values);
  // The runtime rounds activations to 8 bits in blocks of its own.
  expect(largestError(found, wanted)).toBeGreaterThan(1e-6);
  expect(largestError(found, wanted)).toBeLessThan(0.01);
});

it("a Gemm keeps its bias, and products too small to pay stay in float32", async () => {
  const values = draw(3 * INPUTS, 6);
  const bias = floatsOf(vector.weights.get("b")!);
  const [small, four] = [quantiseWeights(vector, "dynamic").model, quantiseInt4(vector, { blockSize: 32 }).model];
  for (const [model, operator, most] of [
    [small, "Gemm", 1e-5],
    [four, "MatMulNBits", 0.01],
  ] as const) {
    expect(await operatorsOf(model)).toContain(operator);
    const wanted = (await multiply(model, values)).map((value, at) => value + bias[at % OUTPUTS]!);
    expect(largestError(await answer(model, values), wanted)).toBeLessThan(most);
  }
});

it("a file that asks for float32, or says how activations are rounded, is left alone", () => {
  const { model } = quantiseWeights(tokens, "dynamic");
  expect(findWholeProducts(model)).toHaveLength(1);
  expect(findWholeProducts(quantiseWeights(tokens).model)).toEqual([]);
  expect(findWholeProducts({ ...model, nodes: [...model.nodes, node("QuantizeLinear", ["y", "s"], "q")] })).toEqual([]);
  const [widen, ...rest] = model.nodes;
  const zero = { name: "z", dtype: "int8", dims: [OUTPUTS], bytes: new Uint8Array(OUTPUTS) } as const;
  const withZero = (bytes: Uint8Array): OnnxModel => ({
    ...model,
    nodes: [{ ...widen!, inputs: [...widen!.inputs, "z"] }, ...rest],
    weights: new Map([...model.weights, ["z", { ...zero, bytes }]]),
  });
  expect(findWholeProducts(withZero(zero.bytes))).toHaveLength(1);
  expect(findWholeProducts(withZero(zero.bytes.with(3, 1)))).toEqual([]);
});

it("products of the same whole numbers by other scales have weights of their own", async () => {
  const { model } = quantiseWeights(tokens, "dynamic");
  const [widen, product] = model.nodes as [OnnxNode, OnnxNode];
  const scale = model.weights.get(widen.inputs[1]!)!;
  const twice = floatTensor(
    "twice",
    scale.dims,
    Float32Array.from(floatsOf(scale), (each) => 2 * each),
  );
  const both: OnnxModel = {
    ...model,
    nodes: [
      widen,
      { ...product, outputs: ["once"] },
      { ...widen, inputs: [widen.inputs[0]!, "twice"], outputs: ["wide"] },
      { ...product, inputs: ["x", "wide"], outputs: ["double"] },
      node("Sub", ["double", "once"], "y"),
    ],
    weights: new Map([...model.weights, ["twice", twice]]),
  };
  const values = draw(TOKENS * INPUTS, 7);
  expect(largestError(await answer(both, values), await answer(model, values))).toBeLessThan(1e-5);
});

it("blocks are those that every provider takes", () => {
  const { model } = quantiseInt4(tokens, { blockSize: 128 });
  const withBlock = (value: number): OnnxModel => ({
    ...model,
    nodes: model.nodes.map((each) =>
      each.operator === "DequantizeLinear"
        ? { ...each, attributes: new Map([...each.attributes, ["block_size", { kind: "int", value }]]) }
        : each,
    ),
  });
  expect([128, 256, 512, 2 ** 26].map((size) => findWholeProducts(withBlock(size)).length)).toEqual([1, 1, 0, 0]);
});

it("activations are rounded only where a provider computes in whole numbers", () => {
  expect(roundsActivations(quantiseWeights(tokens, "dynamic").model)).toBe(true);
  expect(roundsActivations(quantiseInt4(vector, { blockSize: 32 }).model)).toBe(true);
  expect(roundsActivations(quantiseWeights(vector, "dynamic").model)).toBe(false);
});

it("each backend's computation of a file is described", async () => {
  const describe = (model: OnnxModel) => describeComputation(writeModel(model));
  expect(await describe(quantiseWeights(tokens, "dynamic").model)).toMatchObject([
    { backend: "ort-cpu", layers: 1, wholeLayers: 1, how: "1 MatMulInteger in whole numbers" },
    { backend: "ort-webgpu", layers: 1, wholeLayers: 1, how: "1 MatMulNBits in whole numbers" },
    {
      backend: "wgsl",
      layers: 1,
      wholeLayers: 1,
      how: "float32, or 1 in whole numbers on devices that are faster so; int8 weights stay packed and are unpacked where used",
    },
  ]);
  const [cpu] = await describe(quantiseWeights(tokens).model);
  expect(cpu).toEqual({
    backend: "ort-cpu",
    layers: 1,
    wholeLayers: 0,
    how: "1 MatMul in float32: weights are widened once, at loading",
  });
  const nodes = [node("MatMul", ["x", "w"], "v"), node("Bernoulli", ["v"], "y")];
  const [, , wgsl] = await describe({ ...tokens, nodes });
  expect(wgsl).toMatchObject({ backend: "wgsl", layers: 0, how: expect.stringContaining("Bernoulli") });
});
