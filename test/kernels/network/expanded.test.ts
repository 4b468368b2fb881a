import { expect, test } from "vitest";
import { planNetwork } from "../../../src/gpu-runner/networks/plan-network.ts";
import type { OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from "../../../src/onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;
const MICROSOFT = new Map([["com.microsoft", 1]]);

const microsoft = (...operator: Parameters<typeof node>): OnnxNode => ({
  ...node(...operator),
  domain: "com.microsoft",
});

/** A value of float32 whose first axis is the batch's. */
const float = (name: string, ...shape: readonly number[]): OnnxValue => ({
  name,
  dtype: "float32",
  shape: ["batch", ...shape],
});

function model(
  nodes: readonly OnnxNode[],
  inputs: readonly OnnxValue[],
  outputs: readonly OnnxValue[],
  tensors: readonly OnnxTensor[] = [],
): OnnxModel {
  return { ...network(nodes, { x: [], y: [], tensors, opset: 23 }), domains: MICROSOFT, inputs, outputs };
}

test("Attention of grouped heads with a mask, as one tensor each", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    model(
      [node("Attention", ["q", "k", "v", "mask"], ["y"], { q_num_heads: 4, kv_num_heads: 2 })],
      [float("q", 3, 16), float("k", 5, 8), float("v", 5, 12)],
      [float("y", 3, 24)],
      [weights("mask", [3, 5])],
    ),
  ),
);

test("Attention by heads behind a cache, capped", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    model(
      [
        node(
          "Attention",
          ["q", "k", "v", "", "pk", "pv"],
          ["y", "nk", "nv"],
          { is_causal: 1, softcap: 2, scale: 0.7 },
          ["softcap", "scale"],
        ),
      ],
      [float("q", 2, 3, 4), float("k", 2, 3, 4), float("v", 2, 3, 6), float("pk", 2, 4, 4), float("pv", 2, 4, 6)],
      [float("y", 2, 3, 6), float("nk", 2, 7, 4), float("nv", 2, 7, 6)],
    ),
  ),
);

test("Attention that keeps keys by a list of truths", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    model(
      [node("Attention", ["q", "q", "q", "mask"], ["y"])],
      [float("q", 2, 4, 4)],
      [float("y", 2, 4, 4)],
      [
        {
          name: "mask",
          dtype: "bool",
          dims: [4, 4],
          bytes: Uint8Array.from({ length: 16 }, (_, at) => Number(at % 3 < 2)),
        },
      ],
    ),
  ),
);

test("com.microsoft's MultiHeadAttention with biases, padding and a cache", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    model(
      [
        microsoft("MultiHeadAttention", ["q", "k", "v", "bias", "", "added", "pk", "pv"], ["a", "nk", "nv"], {
          num_heads: 2,
        }),
        microsoft("MultiHeadAttention", ["a", "k", "v", "", "padding"], ["y"], { num_heads: 2 }),
      ],
      [float("q", 3, 8), float("k", 3, 8), float("v", 3, 8), float("pk", 2, 2, 4), float("pv", 2, 2, 4)],
      [float("y", 3, 8), float("nk", 2, 5, 4), float("nv", 2, 5, 4)],
      [
        weights("bias", [24]),
        weights("added", [1, 2, 3, 5], 2),
        { name: "padding", dtype: "int32", dims: [1, 3], bytes: new Uint8Array(Int32Array.of(1, 1, 0).buffer) },
      ],
    ),
    { rows: [1] },
  ),
);

test("com.microsoft's Attention over its own projections", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    model(
      [microsoft("Attention", ["x", "w", "b"], ["y"], { num_heads: 2, unidirectional: 1 })],
      [float("x", 5, 8)],
      [float("y", 5, 8)],
      [weights("w", [8, 24]), weights("b", [24], 2)],
    ),
  ),
);

test("what com.microsoft's attention is not computed with is refused by its name", () => {
  const plan = (operator: OnnxNode) => () => {
    const inputs = [...new Set(operator.inputs)].filter((name) => name.length === 1).map((name) => float(name, 5, 8));
    const tensors = [
      weights("weights", [8, 24]),
      weights("bias", [24]),
      weights("cosines", [5, 4]),
      weights("sines", [5, 4]),
      { ...integerTensor("places", [0]), dims: [1] },
      integerTensor("length", [3]),
    ];
    return planNetwork(model([operator], inputs, [float("y", 5, 8)], tensors));
  };
  const heads = { num_heads: 2 };
  expect(plan(microsoft("Attention", ["x", "weights", "bias"], ["y"], heads))).not.toThrow();
  const attention = microsoft("Attention", ["x", "weights", "bias"], ["y"], { ...heads, do_rotary: 1 });
  expect(plan(attention)).toThrow("do_rotary");
  const operands = ["q", "k", "v", "", "", "", "", ""];
  expect(plan(microsoft("MultiHeadAttention", operands, ["y"], heads))).not.toThrow();
  const cached = (...more: string[]) => plan(microsoft("MultiHeadAttention", [...operands, ...more], ["y"], heads));
  expect(cached("length")).toThrow("past_sequence_length");
  expect(cached("", "length")).toThrow("cache_indirection");
  const rotary = (attributes: Record<string, number>) =>
    plan(microsoft("RotaryEmbedding", ["x", "places", "cosines", "sines"], ["y"], attributes, ["scale"]));
  expect(rotary({ scale: 1 })).not.toThrow();
  expect(rotary({ scale: 0.5 })).toThrow("scale 0.5");
  expect(rotary({ is_packed_batching: 1 })).toThrow("is_packed_batching");
});

test("what optimisers put in the place of sums, normalisations and activations", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    model(
      [
        microsoft("SkipLayerNormalization", ["x", "x", "g", "b", "c"], ["s", "", "", "r"]),
        microsoft("BiasGelu", ["s", "b"], ["e"]),
        microsoft("SkipSimplifiedLayerNormalization", ["e", "r", "g"], ["m"]),
        microsoft("FastGelu", ["m", "c"], ["f"]),
        microsoft("QuickGelu", ["f"], ["h"], { alpha: 1.5 }, ["alpha"]),
        microsoft("Gelu", ["h"], ["i"]),
        node("SimplifiedLayerNormalization", ["i", "g"], ["n"], { axis: -1 }),
        microsoft("FusedMatMul", ["n", "x"], ["y"], { transB: 1, alpha: 0.5 }, ["alpha"]),
      ],
      [float("x", 5, 8)],
      [float("y", 5, 5)],
      [weights("g", [8]), weights("b", [8], 2), weights("c", [8], 3)],
    ),
  ),
);

test("embeddings by rotation, of both domains", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    model(
      [
        node("RotaryEmbedding", ["x", "cos", "sin", "places"], ["a"], { num_heads: 2 }),
        node("RotaryEmbedding", ["a", "cos", "sin", "places"], ["b"], { num_heads: 2, interleaved: 1 }),
        node("Reshape", ["b", "split"], ["c"]),
        node("Transpose", ["c"], ["d"], { perm: [0, 2, 1, 3] }),
        microsoft("RotaryEmbedding", ["d", "offset", "cos", "sin"], ["y"]),
      ],
      [float("x", 3, 16)],
      [float("y", 2, 3, 8)],
      [
        floatTensor(
          "cos",
          [9, 4],
          Float32Array.from({ length: 36 }, (_, at) => Math.cos(at / 7)),
        ),
        floatTensor(
          "sin",
          [9, 4],
          Float32Array.from({ length: 36 }, (_, at) => Math.sin(at / 7)),
        ),
        { ...integerTensor("places", [4, 0, 8]), dims: [1, 3] },
        integerTensor("offset", [2]),
        integerTensor("split", [0, 0, 2, 8]),
      ],
    ),
    { rows: [1] },
  ),
);

const bytes = (
  name: string,
  values: readonly number[],
  dtype: "uint8" | "int8" = "uint8",
  dims: readonly number[] = [],
): OnnxTensor => ({
  name,
  dtype,
  dims,
  bytes: Uint8Array.from(values),
});
const scales = (...names: readonly (readonly [string, number])[]) =>
  names.map(([name, value]) => floatTensor(name, [], Float32Array.of(value)));
const levels = (name: string, dims: readonly number[]) =>
  bytes(
    name,
    Array.from({ length: dims.reduce((product, size) => product * size, 1) }, (_, at) => (at * 37) % 256),
    "int8",
    dims,
  );

test("products of whole numbers that were quantised by their own range", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    {
      ...model(
        [
          node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
          node("MatMulInteger", ["q", "w", "z"], ["p"]),
          node("Cast", ["p"], ["f"], { to: 1 }),
          node("Mul", ["f", "s"], ["a"]),
          node("Reshape", ["a", "picture"], ["r"]),
          node("DynamicQuantizeLinear", ["r"], ["rq", "rs", "rz"]),
          node("ConvInteger", ["rq", "k", "rz"], ["c"], { pads: [1, 1, 1, 1] }),
          node("Cast", ["c"], ["cf"], { to: 1 }),
          node("Mul", ["cf", "rs"], ["y"]),
        ],
        [float("x", 4, 8)],
        [float("y", 3, 4, 6)],
        [levels("w", [8, 6]), levels("k", [3, 1, 3, 3]), integerTensor("picture", [-1, 1, 4, 6])],
      ),
    },
    { rows: [1, 2], tolerance: 1e-2 },
  ),
);

test("quantised networks in which each operator has the grids of its operands", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    model(
      [
        node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        node("QLinearConv", ["q", "xs", "xz", "k", "ks", "kz", "cs", "cz", "b"], ["c"], { pads: [1, 1, 1, 1] }),
        microsoft("QLinearLeakyRelu", ["c", "cs", "cz", "ls", "cz"], ["l"], { alpha: 0.1 }, ["alpha"]),
        microsoft("QLinearAdd", ["l", "ls", "cz", "c", "cs", "cz", "as", "cz"], ["a"]),
        microsoft("QLinearConcat", ["ms", "cz", "a", "as", "cz", "l", "ls", "cz"], ["m"], { axis: 1 }),
        microsoft("QLinearGlobalAveragePool", ["m", "ms", "cz", "ps", "cz"], ["p"], { channels_last: 0 }),
        node("Flatten", ["p"], ["f"]),
        node("QLinearMatMul", ["f", "ps", "cz", "w", "ks", "kz", "gs", "cz"], ["g"]),
        microsoft("QGemm", ["g", "gs", "cz", "v", "ks", "kz", "vb", "os", "cz"], ["o"]),
        microsoft("QLinearSigmoid", ["o", "os", "cz", "ss", "xz"], ["s"]),
        microsoft("QLinearMul", ["s", "ss", "xz", "o", "os", "cz", "ts", "cz"], ["t"]),
        node("DequantizeLinear", ["t", "ts", "cz"], ["y"]),
      ],
      [float("x", 2, 5, 6)],
      [float("y", 4)],
      [
        ...scales(["xs", 1 / 100], ["ks", 1 / 500], ["cs", 1 / 60], ["ls", 1 / 70], ["as", 1 / 40]),
        ...scales(["ms", 1 / 40], ["ps", 1 / 80], ["gs", 1 / 200], ["os", 1 / 200], ["ss", 1 / 255], ["ts", 1 / 400]),
        bytes("xz", [128]),
        bytes("cz", [120]),
        bytes("kz", [0], "int8"),
        levels("k", [3, 2, 3, 3]),
        levels("w", [6, 5]),
        levels("v", [5, 4]),
        { name: "b", dtype: "int32", dims: [3], bytes: new Uint8Array(Int32Array.of(900, -400, 0).buffer) },
        { name: "vb", dtype: "int32", dims: [4], bytes: new Uint8Array(Int32Array.of(90, -40, 0, 7).buffer) },
      ],
    ),
    { tolerance: 2e-2 },
  ),
);
