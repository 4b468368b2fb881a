import { test } from "vitest";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;
const half = floatTensor("half", [], Float32Array.of(0.5));

test("a transformer's block of two heads", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("LayerNormalization", ["x", "g", "b"], ["n"], { axis: -1 }),
        node("MatMul", ["n", "w"], ["qkv"]),
        node("Split", ["qkv", "lengths"], ["q", "k", "v"], { axis: 2 }),
        ...["q", "k", "v"].flatMap((name) => [
          node("Reshape", [name, "heads"], [`${name}h`]),
          node("Transpose", [`${name}h`], [`${name}t`], { perm: name === "k" ? [0, 2, 3, 1] : [0, 2, 1, 3] }),
        ]),
        node("MatMul", ["qt", "kt"], ["s"]),
        node("Mul", ["s", "half"], ["scaled"]),
        node("Where", ["mask", "scaled", "low"], ["masked"]),
        node("Softmax", ["masked"], ["p"], { axis: -1 }),
        node("MatMul", ["p", "vt"], ["o"]),
        node("Transpose", ["o"], ["ot"], { perm: [0, 2, 1, 3] }),
        node("Reshape", ["ot", "flat"], ["of"]),
        node("MatMul", ["of", "u"], ["om"]),
        node("Add", ["om", "x"], ["r"]),
        node("MatMul", ["r", "f"], ["h"]),
        node("Gelu", ["h"], ["e"]),
        node("MatMul", ["e", "d"], ["m"]),
        node("Add", ["m", "r"], ["y"]),
      ],
      {
        x: [5, 8],
        y: [5, 8],
        opset: 20,
        tensors: [
          weights("g", [8]),
          weights("b", [8], 2),
          weights("w", [8, 24], 3),
          integerTensor("lengths", [8, 8, 8]),
          integerTensor("heads", [0, 0, 2, 4]),
          half,
          {
            name: "mask",
            dtype: "bool",
            dims: [5, 5],
            bytes: Uint8Array.from({ length: 25 }, (_, at) => Number(at % 5 <= at / 5)),
          },
          floatTensor("low", [], Float32Array.of(-1e9)),
          integerTensor("flat", [0, 0, 8]),
          weights("u", [8, 8], 4),
          weights("f", [8, 16], 5),
          weights("d", [16, 8], 6),
        ],
      },
    ),
  ),
);

test("products of activations with repeated matrices, vectors and by letters", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("Transpose", ["x"], ["t"], { perm: [0, 1, 3, 2] }),
        node("MatMul", ["x", "t"], ["a"]),
        node("MatMul", ["a", "w"], ["b"]),
        node("MatMul", ["v", "b"], ["c"]),
        node("Einsum", ["x", "b"], ["e"], { equation: "bhij,bhik->bjhk" }),
        node("Einsum", ["e"], ["s"], { equation: "bjhk->bhj" }),
        node("Concat", ["c", "s"], ["y"], { axis: 2 }),
      ],
      { x: [3, 5, 7], y: [3, 13], tensors: [weights("w", [3, 5, 6]), weights("v", [5], 2)] },
    ),
  ),
);

test("normalisations of every kind", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("InstanceNormalization", ["x", "s", "z"], ["i"]),
        node("GroupNormalization", ["i", "s", "z"], ["g"], { num_groups: 2 }),
        node("MeanVarianceNormalization", ["g"], ["m"], { axes: [2, 3] }),
        node("LpNormalization", ["m"], ["l"], { axis: 1, p: 1 }),
        node("LayerNormalization", ["l", "k"], ["n"], { axis: 2 }),
        node("LpNormalization", ["n"], ["y"], { axis: -1 }),
      ],
      {
        x: [4, 3, 5],
        y: [4, 3, 5],
        opset: 21,
        tensors: [weights("s", [4]), weights("z", [4], 2), weights("k", [3, 5], 3)],
      },
    ),
    { tolerance: 1e-3 },
  ),
);

test("lines brought to a root mean square of 1", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network([node("RMSNormalization", ["x", "k"], ["y"], { axis: 1 })], {
      x: [3, 5],
      y: [3, 5],
      opset: 23,
      tensors: [weights("k", [3, 5])],
    }),
  ),
);

test("copies: tiles, borders, parts, choices by computed places, and blocks", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("Pad", ["x", "pads"], ["p1"], { mode: "reflect" }),
        node("Pad", ["p1", "pads"], ["p2"], { mode: "edge" }),
        node("Pad", ["p2", "cut", "half"], ["p3"]),
        node("Tile", ["p3", "times"], ["t"]),
        node("ArgMax", ["t"], ["places"], { axis: 3, keepdims: 0 }),
        node("Gather", ["table", "places"], ["looked"]),
        node("GatherElements", ["t", "chosen"], ["e"], { axis: 3 }),
        node("Expand", ["half", "size"], ["filled"]),
        node("Concat", ["looked", "e", "filled"], ["c"], { axis: 3 }),
        node("SpaceToDepth", ["c"], ["d"], { blocksize: 2 }),
        node("DepthToSpace", ["d"], ["y"], { blocksize: 2, mode: "CRD" }),
      ],
      {
        x: [2, 3, 5],
        y: [4, 6, 6],
        rows: 1,
        tensors: [
          half,
          integerTensor("pads", [0, 0, 1, 2, 0, 0, 0, 1]),
          integerTensor("cut", [0, 0, 0, -1, 0, 0, 1, 1]),
          integerTensor("times", [1, 2, 1, 1]),
          weights("table", [12, 3]),
          {
            ...integerTensor(
              "chosen",
              Array.from({ length: 48 }, (_, at) => (at * 5) % 11),
            ),
            dims: [1, 4, 6, 2],
          },
          integerTensor("size", [1, 4, 6, 1]),
        ],
      },
    ),
    { rows: [1] },
  ),
);

test("pictures resized by any factor", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("Resize", ["x", "", "", "sizes"], ["a"], { mode: "linear" }),
        node("Resize", ["a", "", "", "small"], ["b"], {
          mode: "linear",
          coordinate_transformation_mode: "align_corners",
        }),
        node("Resize", ["b", "", "", "sizes"], ["y"], {
          mode: "nearest",
          coordinate_transformation_mode: "asymmetric",
          nearest_mode: "round_prefer_ceil",
        }),
      ],
      {
        x: [2, 5, 6],
        y: [2, 7, 9],
        rows: 1,
        opset: 18,
        tensors: [integerTensor("sizes", [1, 2, 7, 9]), integerTensor("small", [1, 2, 4, 5])],
      },
    ),
    { rows: [1] },
  ),
);
