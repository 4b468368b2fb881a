import { test } from "vitest";
import type { OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from "../../../src/onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;
const MICROSOFT = new Map([["com.microsoft", 1]]);

const microsoft = (...operator: Parameters<typeof node>): OnnxNode => ({ ...node(...operator), domain: "com.microsoft" });

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
        node("Attention", ["q", "k", "v", "", "pk", "pv"], ["y", "nk", "nv"], { is_causal: 1, softcap: 2, scale: 0.7 }, [
          "softcap",
          "scale",
        ]),
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
      [{ name: "mask", dtype: "bool", dims: [4, 4], bytes: Uint8Array.from({ length: 16 }, (_, at) => Number(at % 3 < 2)) }],
    ),
  ),
);

test("com.microsoft's MultiHeadAttention with biases, padding and a cache", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    model(
      [
        microsoft("MultiHeadAttention", ["q", "k", "v", "bias", "", "added", "pk", "pv"], ["a", "nk", "nv"], { num_heads: 2 }),
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
        floatTensor("cos", [9, 4], Float32Array.from({ length: 36 }, (_, at) => Math.cos(at / 7))),
        floatTensor("sin", [9, 4], Float32Array.from({ length: 36 }, (_, at) => Math.sin(at / 7))),
        { ...integerTensor("places", [4, 0, 8]), dims: [1, 3] },
        integerTensor("offset", [2]),
        integerTensor("split", [0, 0, 2, 8]),
      ],
    ),
    { rows: [1] },
  ),
);
