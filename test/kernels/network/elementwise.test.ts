import { expect, test } from "vitest";
import type { OnnxNode, OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;
const NON_FINITE = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const NUMBERS = [-2, -0.5, 0, 0.5, 2, 1e30, -1e30, 30, -30];
const GIVEN = [...NON_FINITE, ...NUMBERS];

const scalar = (name: string, value: number) => floatTensor(name, [], Float32Array.of(value));

/** A network that joins the outputs of several nodes; those that are no floats are cast to floats. */
function joined(nodes: readonly OnnxNode[], size: number, tensors: readonly OnnxTensor[] = [], opset = 20) {
  const cast = nodes.map(({ outputs }, at) => node("Cast", outputs, [`f${at}`], { to: 1 }));
  const names = cast.flatMap(({ outputs }) => outputs);
  const all = [...nodes, ...cast, node("Concat", names, ["y"], { axis: 1 })];
  return network(all, { x: [size], y: [size * nodes.length], tensors, opset });
}

function unary(operators: string): OnnxNode[] {
  return operators.split(" ").map((operator, at) => node(operator, ["x"], [`u${at}`]));
}

const COMMON = "Relu LeakyRelu Sigmoid HardSigmoid Tanh Sqrt Exp Log Neg Abs HardSwish Elu Softplus Reciprocal";
const SELDOM = "Erf Mish Selu Celu Softsign Floor Ceil Round Sign IsNaN IsInf Gelu";

test.each([COMMON, SELDOM])("%s, of numbers and of those that are none", { timeout: TIMEOUT_MS }, (operators) =>
  expectModel(joined(unary(operators), GIVEN.length), { given: GIVEN, rows: [1, 3] }),
);

test("half goes to even, and each limit of Clip is optional", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    joined(
      [
        node("Round", ["x"], ["r"]),
        node("Clip", ["x", "", "one"], ["high"]),
        node("Clip", ["x", "one"], ["low"]),
        node("ThresholdedRelu", ["x"], ["t"], { alpha: 0.5 }, ["alpha"]),
        node("Gelu", ["x"], ["g"], { approximate: "tanh" }),
        node("IsInf", ["x"], ["i"], { detect_negative: 0 }),
        node("Celu", ["x"], ["c"], { alpha: 2 }, ["alpha"]),
      ],
      6,
      [scalar("one", 1)],
    ),
    { given: [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5] },
  ),
);

test("functions of angles and areas", { timeout: TIMEOUT_MS }, () =>
  expectModel(joined(unary("Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Atanh"), 9), {
    given: [-0.99, -0.7, -0.3, -1e-3, 0, 1e-3, 0.2, 0.6, 0.95],
  }),
);

test("functions of two, with NaN and infinity on either side", { timeout: TIMEOUT_MS }, () => {
  const tensors = [0.5, 2, Number.NaN, Number.POSITIVE_INFINITY].map((value, at) => scalar(`c${at}`, value));
  const operators = "Max Min Add Mul Sub Equal Greater Less GreaterOrEqual LessOrEqual".split(" ");
  const nodes = operators.flatMap((operator) =>
    tensors.flatMap(({ name }, at) => [
      node(operator, ["x", name], [`${operator}${at}`]),
      node(operator, [name, "x"], [`${operator}${at}b`]),
    ]),
  );
  return expectModel(joined(nodes, GIVEN.length, tensors), { given: GIVEN, rows: [1] });
});

test("powers as in C", { timeout: TIMEOUT_MS }, () => {
  const tensors = [0.5, 2, 3, -1, 0, Number.NaN].map((value, at) => scalar(`c${at}`, value));
  const nodes = tensors.flatMap(({ name }, at) => [
    node("Pow", ["x", name], [`p${at}`]),
    node("Pow", [name, "x"], [`p${at}b`]),
  ]);
  return expectModel(joined(nodes, 9, tensors), { given: [-2, -0.5, 0.5, 2, 3, -3, ...NON_FINITE], rows: [1] });
});

test("sums, means and extremes of several, and slopes by channel", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    joined(
      [
        node("Sum", ["x", "w", "x"], ["s"]),
        node("Mean", ["x", "w", "v"], ["m"]),
        node("Max", ["w", "x", "v"], ["h"]),
        node("Min", ["x"], ["l"]),
        node("PRelu", ["x", "v"], ["p"]),
        node("Mod", ["x", "v"], ["r"], { fmod: 1 }),
      ],
      5,
      [weights("w", [5]), weights("v", [5], 2)],
    ),
  ),
);

test("logic, choices and casts", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    joined(
      [
        node("Greater", ["x", "zero"], ["g"]),
        node("Less", ["x", "half"], ["l"]),
        node("And", ["g", "l"], ["a"]),
        node("Or", ["g", "l"], ["o"]),
        node("Xor", ["g", "l"], ["e"]),
        node("Not", ["g"], ["n"]),
        node("Where", ["a", "x", "w"], ["c"]),
        node("Where", ["n", "half", "x"], ["d"]),
        node("Cast", ["x"], ["b"], { to: 9 }),
        node("Mul", ["x", "ten"], ["t"]),
        node("Cast", ["t"], ["i"], { to: 6 }),
        node("Div", ["i", "three"], ["q"]),
        node("Mod", ["i", "three"], ["m"]),
        node("Cast", ["x"], ["f"], { to: 10 }),
      ],
      7,
      [
        scalar("zero", 0),
        scalar("half", 0.5),
        scalar("ten", 10),
        { name: "three", dtype: "int32", dims: [], bytes: new Uint8Array(Int32Array.of(3).buffer) },
        weights("w", [7], 3),
      ],
    ),
  ),
);

/** Over three axes, along the last of which there are three numbers. */
test.each(["Softmax", "LogSoftmax", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL1", "ReduceProd"])(
  "%s of NaN and infinity",
  { timeout: TIMEOUT_MS },
  (operator) => {
    const isReduction = operator.startsWith("Reduce");
    const attributes = isReduction ? { axes: [2], keepdims: 0 } : { axis: 2 };
    return expectModel(
      network([node(operator, ["x"], ["y"], attributes)], { x: [4, 3], y: isReduction ? [4] : [4, 3] }),
      // ONNX Runtime's extremes drop NaN where it does not come first.
      { given: [...NON_FINITE, 1, 2, 3, 1, 2, Number.NEGATIVE_INFINITY, Number.NaN, 0.25, 0.5], rows: [1] },
    );
  },
);

test("reductions, places of extremes and running sums", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        ...["ReduceProd", "ReduceL1", "ReduceSumSquare", "ReduceLogSumExp"].map((operator, at) =>
          node(operator, ["x"], [`r${at}`], { axes: [1, 3], keepdims: 1 }),
        ),
        node("Abs", ["x"], ["positive"]),
        node("ReduceLogSum", ["positive"], ["r4"], { axes: [1, 3], keepdims: 1 }),
        node("Sum", ["r0", "r1", "r2", "r3", "r4"], ["sum"]),
        node("ArgMax", ["x"], ["places"], { axis: 3, keepdims: 1 }),
        node("Cast", ["places"], ["large"], { to: 1 }),
        node("ArgMin", ["x"], ["small"], { axis: 3, keepdims: 1, select_last_index: 1 }),
        node("Cast", ["small"], ["least"], { to: 1 }),
        node("Mul", ["least", "large"], ["both"]),
        node("CumSum", ["x", "axis"], ["running"], { exclusive: 1, reverse: 1 }),
        node("Mul", ["running", "both"], ["scaled"]),
        node("Add", ["scaled", "sum"], ["y"]),
      ],
      {
        x: [2, 3, 4],
        y: [2, 3, 4],
        tensors: [{ ...integerTensor("axis", [2]), dims: [] }],
      },
    ),
  ),
);

test("whole numbers that float32 does not hold are refused", { timeout: TIMEOUT_MS }, async () => {
  const plain = network([node("Add", ["x", "x"], ["y"])], { x: [3], y: [3], dtype: "int64" });
  const model = { ...plain, inputs: [{ name: "x", dtype: "int64", shape: ["batch", 3] }] } as const;
  const asked = expectModel(model, { given: [1, 2, 2 ** 24 + 2] });
  await expect(asked).rejects.toMatchObject({ problem: { code: "invalid-request" } });
});
