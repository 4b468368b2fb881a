import { PLAIN } from "../../../src/protocol/models/network-layout.ts";
import { describe, expect, it } from "vitest";
import { planNetwork } from "../../../src/gpu-runner/networks/plan-network.ts";
import { type Entry, scheduleOperators } from "../../../src/gpu-runner/networks/schedule-operators.ts";
import type { OnnxModel, OnnxNode, OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;
const WIDE = { ...PLAIN, lanes: 4, spreadFrom: 30_000, lineLanes: 8, hasAttention: true };
const LOW = floatTensor("low", [], Float32Array.of(Number.NEGATIVE_INFINITY));

const countSteps = (model: OnnxModel, entry: Entry) =>
  scheduleOperators(planNetwork(model).operators, WIDE).filter((dispatch) => dispatch.entry === entry).length;

/** Compares answers in the wide layout, in which so many steps have this program. */
async function expectSteps(model: OnnxModel, entry: Entry, steps: number, options = {}) {
  expect(countSteps(model, entry)).toBe(steps);
  await expectModel(model, { rows: [1, 3], layout: WIDE, ...options });
}

describe("a workgroup for each long line gives the answers of the CPU provider", { timeout: TIMEOUT_MS }, () => {
  it("for shares, along neighbouring places and others", () =>
    expectSteps(
      network(
        [
          node("Softmax", ["x"], ["s"], { axis: -1 }),
          node("LogSoftmax", ["s"], ["l"], { axis: 1 }),
          node("Tanh", ["l"], ["y"]),
        ],
        { x: [35, 70], y: [35, 70] },
      ),
      "run_lines",
      2,
    ));

  it.each([
    { given: [Number.NaN, 1, 2, Number.NEGATIVE_INFINITY] },
    { given: [1, Number.POSITIVE_INFINITY, 2] },
    { given: [Number.NEGATIVE_INFINITY] },
    { given: [-3e38, 3e38, 0, Number.NEGATIVE_INFINITY] },
  ])("for shares of $given", ({ given }) =>
    expectSteps(network([node("Softmax", ["x"], ["y"])], { x: [2, 36], y: [2, 36] }), "run_lines", 1, { given }),
  );

  it("for normalisations", () =>
    expectSteps(
      network(
        [
          node("InstanceNormalization", ["x", "s", "z"], ["i"]),
          node("GroupNormalization", ["i", "s", "z"], ["g"], { num_groups: 2 }),
          node("MeanVarianceNormalization", ["g"], ["m"], { axes: [2, 3] }),
          node("LpNormalization", ["m"], ["l"], { axis: 2, p: 1 }),
          node("LayerNormalization", ["l", "k", "b"], ["n"], { axis: 2 }),
          node("RMSNormalization", ["n", "k"], ["r"], { axis: 2 }),
          node("LpNormalization", ["r"], ["y"], { axis: 2 }),
        ],
        {
          x: [4, 33, 3],
          y: [4, 33, 3],
          opset: 23,
          tensors: [weights("s", [4]), weights("z", [4], 2), weights("k", [33, 3], 3), weights("b", [33, 3], 4)],
        },
      ),
      "run_lines",
      7,
      { tolerance: 1e-3 },
    ));

  const reductions = [
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceSum",
    "ReduceSumSquare",
  ];
  const reduced = (operators: readonly string[]) =>
    network(
      [
        ...operators.map((operator) => node(operator, ["x"], [operator], { axes: [1, 3], keepdims: 1 })),
        node("Concat", operators, ["y"], { axis: 1 }),
      ],
      { x: [7, 2, 9], y: [operators.length, 2, 1], opset: 11 },
    );

  it("for reductions over several axes", () => expectSteps(reduced(reductions), "run_lines", reductions.length));

  it("for extremes of lines with infinities", () => {
    const given = [1, Number.NEGATIVE_INFINITY, ...Array.from({ length: 40 }, (_, at) => at % 7)];
    return expectSteps(reduced(["ReduceMax", "ReduceMin"]), "run_lines", 2, { given });
  });

  it("for the first and the last place of extremes", () => {
    const ends = ["ArgMax", "ArgMin"].flatMap((operator) =>
      [0, 1].map((last) => node(operator, ["x"], [`${operator}${last}`], { axis: 2, select_last_index: last })),
    );
    const names = ends.map(({ outputs: [name] }) => name!);
    return expectSteps(
      network([...ends, node("Concat", names, ["y"], { axis: 2 })], { x: [3, 41], y: [3, 4], dtype: "int64" }),
      "run_lines",
      4,
      { step: 0.5 },
    );
  });

  it("but not for short lines and products of all elements", () => {
    const short = network([node("Softmax", ["x"], ["y"])], { x: [31], y: [31] });
    const product = network([node("ReduceProd", ["x"], ["y"], { axes: [1] })], { x: [40], y: [1], opset: 11 });
    expect([short, product].map((model) => countSteps(model, "run_lines"))).toEqual([0, 0]);
  });
});

const TOKENS = 21;
const KEPT = TOKENS * TOKENS;

/** Tokens' shares `p` of each other, and what follows from them. */
function sharesTo(more: readonly OnnxNode[]): OnnxModel {
  return network(
    [
      node("Transpose", ["x"], ["k"], { perm: [0, 2, 1] }),
      node("MatMul", ["x", "k"], ["s"]),
      node("Softmax", ["s"], ["p"], { axis: 2 }),
      ...more,
    ],
    { x: [TOKENS, 4], y: [TOKENS, TOKENS], tensors: [weights("w", [4, TOKENS])] },
  );
}

/** Two heads of x attend to themselves; `between` makes `p` of the products `s`. */
function attention(
  between: readonly OnnxNode[],
  tensors: readonly OnnxTensor[] = [],
  { size = 4, more = [] as readonly OnnxNode[], turned = [0, 2, 3, 1] } = {},
): OnnxModel {
  return network(
    [
      node("Reshape", ["x", "heads"], ["h"]),
      node("Transpose", ["h"], ["q"], { perm: [0, 2, 1, 3] }),
      node("Transpose", ["h"], ["k"], { perm: turned }),
      node("MatMul", ["q", "k"], ["s"]),
      ...between,
      node("MatMul", ["p", "q"], ["o"]),
      node("Transpose", ["o"], ["t"], { perm: [0, 2, 1, 3] }),
      node("Reshape", ["t", "flat"], [more.length === 0 ? "y" : "f"]),
      ...more,
    ],
    {
      x: [TOKENS, 2 * size],
      y: [TOKENS, 2 * size],
      tensors: [
        integerTensor("heads", [0, TOKENS, 2, size]),
        integerTensor("flat", [0, TOKENS, 2 * size]),
        floatTensor("scale", [], Float32Array.of(1.7)),
        LOW,
        ...tensors,
      ],
    },
  );
}

const softmax = node("Softmax", ["m"], ["p"], { axis: -1 });
const scaled = node("Mul", ["s", "scale"], ["m"]);
const all = integerTensor("all", [1, 2, 3]);
const causal: OnnxTensor = {
  name: "mask",
  dtype: "bool",
  dims: [TOKENS, TOKENS],
  bytes: Uint8Array.from({ length: KEPT }, (_, at) => Number(at % TOKENS <= at / TOKENS)),
};

describe("attention in one step gives the answers of the CPU provider", { timeout: TIMEOUT_MS }, () => {
  it.each([
    { form: "that is scaled", between: [scaled, softmax] },
    { form: "of heads wider than a tile", between: [node("Div", ["s", "scale"], ["m"]), softmax], size: 70 },
    { form: "with bounded scores", between: [node("Tanh", ["s"], ["b"]), node("Mul", ["b", "scale"], ["m"]), softmax] },
    {
      form: "with an added mask",
      between: [scaled, node("Add", ["m", "added"], ["a"]), { ...softmax, inputs: ["a"] }],
      tensors: [weights("added", [2, 1, TOKENS])],
    },
    {
      form: "with a chosen mask",
      between: [scaled, node("Where", ["mask", "m", "low"], ["w"]), { ...softmax, inputs: ["w"] }],
      tensors: [causal],
    },
    {
      form: "with a mask of what is hidden",
      between: [
        scaled,
        node("Not", ["mask"], ["n"]),
        node("Where", ["n", "low", "m"], ["w"]),
        { ...softmax, inputs: ["w"] },
      ],
      tensors: [causal],
    },
  ])("$form", ({ between, tensors = [], size = 4 }) => expectSteps(attention(between, tensors, { size }), "attend", 1));

  it("without shares where a row is masked as a whole, and with NaN where a score is infinite", async () => {
    const hidden = floatTensor(
      "added",
      [TOKENS, TOKENS],
      Float32Array.from({ length: KEPT }, (_, at) => {
        if (Math.floor(at / TOKENS) === 2) return Number.NEGATIVE_INFINITY;
        // A tile of keys may be masked before others are not.
        if (Math.floor(at / TOKENS) === 3) return at % TOKENS < 18 ? Number.NEGATIVE_INFINITY : 0;
        return at === 5 * TOKENS + 19 ? Number.POSITIVE_INFINITY : -3e38 * Number(at % 5 === 0);
      }),
    );
    const model = attention([node("Add", ["s", "added"], ["m"]), softmax], [hidden]);
    const given = Array.from({ length: 53 }, (_, at) => Math.sin(at));
    await expectSteps(model, "attend", 1, { given });
  });

  it.each([
    {
      form: "scores have another reader",
      model: attention(
        [scaled, softmax, node("ReduceSum", ["m", "all"], ["sum"])],
        [all, integerTensor("one", [0, 1, 1])],
        {
          more: [node("Reshape", ["sum", "one"], ["factor"]), node("Mul", ["f", "factor"], ["y"])],
        },
      ),
    },
    {
      form: "shares run along the queries",
      model: attention([scaled, { ...softmax, attributes: node("", [], [], { axis: 2 }).attributes }]),
    },
    {
      form: "a score is also the other operand",
      model: attention([node("Mul", ["s", "s"], ["m"]), softmax]),
    },
    {
      form: "scores are turned before",
      model: attention([node("Transpose", ["s"], ["m"], { perm: [0, 1, 3, 2] }), softmax]),
    },
    {
      form: "shares are logarithms",
      model: attention([scaled, { ...softmax, operator: "LogSoftmax" }]),
    },
    { form: "shares are also the values", model: sharesTo([node("MatMul", ["p", "p"], ["y"])]) },
    {
      form: "shares are also added",
      model: sharesTo([
        node("MatMul", ["x", "w"], ["v"]),
        node("MatMul", ["p", "v"], ["o"]),
        node("Add", ["o", "p"], ["y"]),
      ]),
    },
  ])("and is several steps where $form", ({ model }) => expectSteps(model, "attend", 0));

  it.each([
    { attributes: { q_num_heads: 4, kv_num_heads: 2 }, inputs: ["x", "x2", "x2"] },
    { attributes: { q_num_heads: 4, kv_num_heads: 4, is_causal: 1, softcap: 2 }, inputs: ["x", "x", "x"] },
  ])("as an operator with $attributes", ({ attributes, inputs }) =>
    expectSteps(
      network(
        [node("Slice", ["x", "from", "to", "axes"], ["x2"]), node("Attention", inputs, ["y"], attributes, ["softcap"])],
        {
          x: [TOKENS, 24],
          y: [TOKENS, 24],
          opset: 23,
          tensors: [integerTensor("from", [0]), integerTensor("to", [12]), integerTensor("axes", [2])],
        },
      ),
      "attend",
      1,
    ),
  );
});
