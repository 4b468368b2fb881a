import { describe, expect, it } from "vitest";
import { fuseGelu } from "../../../src/gpu-runner/networks/fuse-gelu.ts";
import { planNetwork } from "../../../src/gpu-runner/networks/plan-network.ts";
import { Tiling, PLAIN } from "../../../src/protocol/models/network-layout.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import type { OnnxModel } from "../../../src/onnx/onnx-model.ts";
import { expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;

/** Kinds of the operators that the catalogue would compute. */
const tilesOf = (model: OnnxModel) =>
  planNetwork(model).operators.flatMap(({ tile }) => (tile?.isHeavy ? [`${tile.kind} ${tile.isAligned}`] : []));

async function expectTiled(model: OnnxModel, kinds: readonly string[], rows: readonly number[] = [1, 3]) {
  expect(tilesOf(model)).toEqual(kinds);
  for (const tiling of Tiling.options)
    await expectModel(model, { rows, layout: { ...PLAIN, lanes: 4, spreadFrom: 30_000, tiling } });
}

describe("the catalogue's tiles give the answers of the CPU provider", { timeout: TIMEOUT_MS }, () => {
  it.each([
    { filters: 132, kind: "dense true" },
    { filters: 134, kind: "dense false" },
  ])("for tokens through a layer of $filters, with bias, Relu and what is added", ({ filters, kind }) =>
    expectTiled(
      network(
        [
          node("MatMul", ["x", "w"], ["m"]),
          node("Add", ["m", "b"], ["h"]),
          node("Relu", ["h"], ["r"]),
          node("MatMul", ["r", "o"], ["p"]),
          node("Add", ["p", "r"], ["y"]),
        ],
        {
          x: [129, 132],
          y: [129, filters],
          tensors: [weights("w", [132, filters]), weights("b", [filters], 2), weights("o", [filters, filters], 3)],
        },
      ),
      // Rows of 134 numbers do not begin at vectors of four, so the second layer stays in the one program.
      filters === 132 ? [kind, kind] : [kind],
    ),
  );

  it("for scores and values of two heads", () =>
    expectTiled(
      network(
        [
          node("Reshape", ["x", "heads"], ["h"]),
          node("Transpose", ["h"], ["q"], { perm: [0, 2, 1, 3] }),
          node("Transpose", ["h"], ["k"], { perm: [0, 2, 3, 1] }),
          node("MatMul", ["q", "k"], ["s"]),
          node("Mul", ["s", "scale"], ["scaled"]),
          node("Softmax", ["scaled"], ["p"], { axis: -1 }),
          node("MatMul", ["p", "q"], ["o"]),
          node("Transpose", ["o"], ["t"], { perm: [0, 2, 1, 3] }),
          node("Reshape", ["t", "flat"], ["y"]),
        ],
        {
          x: [204, 64],
          y: [204, 64],
          tensors: [
            integerTensor("heads", [0, 204, 2, 32]),
            integerTensor("flat", [0, 204, 64]),
            floatTensor("scale", [], Float32Array.of(0.2)),
          ],
        },
      ),
      ["product true", "product true"],
    ));

  it.each([
    { x: [8, 33, 31], w: [45, 8, 3, 3], y: [45, 33, 31], attributes: { pads: [2, 2, 2, 2], dilations: [2, 2] } },
    { x: [7, 41, 40], w: [46, 7, 5, 4], y: [46, 20, 20], attributes: { pads: [1, 1, 2, 2], strides: [2, 2] } },
    { x: [6, 900], w: [45, 6, 9], y: [45, 900], attributes: { pads: [4, 4] } },
  ])("for a convolution of $x by $w", ({ x, w, y, attributes }) =>
    expectTiled(
      network(
        [node("Conv", ["x", "w", "b"], ["c"], { kernel_shape: w.slice(2), ...attributes }), node("Relu", ["c"], ["y"])],
        { x, y, tensors: [weights("w", w), weights("b", [w[0]!], 2)] },
      ),
      ["convolve false"],
    ),
  );
});

it("leaves small operators to the one program", () => {
  const small = network([node("MatMul", ["x", "w"], ["y"])], {
    x: [64, 8],
    y: [64, 8],
    tensors: [weights("w", [8, 8])],
  });
  expect(tilesOf(small)).toEqual([]);
});

describe("Gelu by its definition", { timeout: TIMEOUT_MS }, () => {
  const scalar = (name: string, value: number) => floatTensor(name, [], Float32Array.of(value));
  const tensors = [scalar("root", Math.SQRT2), scalar("one", 1), scalar("half", 0.5), scalar("inverse", Math.SQRT1_2)];

  it.each([
    {
      form: "halved at the end",
      nodes: [
        node("Div", ["x", "root"], ["d"]),
        node("Erf", ["d"], ["e"]),
        node("Add", ["e", "one"], ["s"]),
        node("Mul", ["x", "s"], ["m"]),
        node("Mul", ["m", "half"], ["y"]),
      ],
    },
    {
      form: "halved at the start",
      nodes: [
        node("Mul", ["inverse", "x"], ["d"]),
        node("Erf", ["d"], ["e"]),
        node("Add", ["one", "e"], ["s"]),
        node("Mul", ["x", "half"], ["h"]),
        node("Mul", ["h", "s"], ["y"]),
      ],
    },
  ])("is one operator, $form", async ({ nodes }) => {
    const model = network(nodes, { x: [9], y: [9], tensors });
    // Of the load, the function and the store.
    expect(planNetwork(model).operators).toHaveLength(3);
    await expectModel(model);
  });

  it("stays as it is where another operator reads a part of it", async () => {
    const nodes = [
      node("Div", ["x", "root"], ["d"]),
      node("Erf", ["d"], ["e"]),
      node("Add", ["e", "one"], ["s"]),
      node("Mul", ["x", "s"], ["m"]),
      node("Mul", ["m", "half"], ["g"]),
      node("Sub", ["g", "e"], ["y"]),
    ];
    await expectModel(network(nodes, { x: [9], y: [9], tensors }));
  });

  it("stays as it is where an operator is of another domain or a number has more axes", () => {
    const nodes = [
      node("Div", ["x", "root"], ["d"]),
      node("Erf", ["d"], ["e"]),
      node("Add", ["e", "one"], ["s"]),
      node("Mul", ["x", "s"], ["m"]),
      node("Mul", ["m", "half"], ["y"]),
    ];
    const form = { x: [9], y: [9], tensors };
    const isFused = (model: OnnxModel) => fuseGelu(model) !== model;
    expect(isFused(network(nodes, form))).toBe(true);
    for (const at of nodes.keys()) {
      const foreign = nodes.with(at, { ...nodes[at]!, domain: "com.example" });
      expect(isFused(network(foreign, form))).toBe(false);
    }
    const wide = tensors.map((tensor) => ({ ...tensor, dims: [1, 1, 1] }));
    expect(isFused(network(nodes, { ...form, tensors: wide }))).toBe(false);
  });
});
