import { test } from "vitest";
import type { OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;

interface Convolution {
  readonly x: readonly number[];
  readonly w: readonly number[];
  readonly y: readonly number[];
  readonly attributes?: Readonly<Record<string, number | readonly number[]>>;
}

test.each<Convolution>([
  { x: [1, 1], w: [1, 1, 1], y: [1, 1] },
  { x: [5, 17], w: [7, 5, 5], y: [7, 9], attributes: { pads: [2, 2], strides: [2] } },
  { x: [4, 11], w: [3, 4, 3], y: [3, 9], attributes: { dilations: [2], pads: [2, 0] } },
  { x: [1, 5, 6], w: [5, 1, 2, 3], y: [5, 4, 4] },
  { x: [6, 4, 4], w: [10, 3, 3, 3], y: [10, 4, 4], attributes: { group: 2, pads: [1, 1, 1, 1] } },
  { x: [3, 4, 5], w: [6, 1, 3, 3], y: [6, 2, 3], attributes: { group: 3, pads: [1, 1, 1, 1], strides: [2, 2] } },
])("a convolution of $x by $w", { timeout: TIMEOUT_MS }, ({ x, w, y, attributes = {} }) =>
  expectModel(
    network([node("Conv", ["x", "w", "b"], ["y"], { kernel_shape: w.slice(2), ...attributes })], {
      x,
      y,
      tensors: [weights("w", w), weights("b", [w[0]!], 2)],
    }),
  ),
);

test.each<Convolution>([
  { x: [3, 4, 5], w: [3, 2, 4, 4], y: [2, 8, 10], attributes: { pads: [1, 1, 1, 1], strides: [2, 2] } },
  { x: [4, 6], w: [4, 3, 5], y: [3, 18], attributes: { pads: [1, 1], strides: [3] } },
  {
    x: [2, 3, 4],
    w: [2, 9, 3, 2],
    y: [9, 6, 12],
    attributes: { pads: [1, 0, 0, 0], strides: [2, 3], output_padding: [0, 1] },
  },
  { x: [2, 4, 4], w: [2, 5, 3, 3], y: [5, 7, 7], attributes: { pads: [1, 1, 1, 1], strides: [2, 2] } },
  { x: [4, 3, 3], w: [4, 1, 2, 2], y: [2, 6, 6], attributes: { group: 2, strides: [2, 2] } },
  { x: [1, 3, 3], w: [1, 2, 2, 2], y: [2, 6, 6], attributes: { strides: [2, 2] } },
])("a transposed convolution of $x by $w", { timeout: TIMEOUT_MS }, ({ x, w, y, attributes = {} }) =>
  expectModel(
    network([node("ConvTranspose", ["x", "w", "b"], ["y"], { kernel_shape: w.slice(2), ...attributes })], {
      x,
      y,
      tensors: [weights("w", w), weights("b", [y[0]!], 2)],
    }),
  ),
);

test("transposed convolutions, and pictures made larger", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("ConvTranspose", ["x", "w", "b"], ["t"], { kernel_shape: [2, 2], strides: [2, 2] }),
        node("Resize", ["t", "", "scales"], ["u"], {
          mode: "nearest",
          coordinate_transformation_mode: "asymmetric",
          nearest_mode: "floor",
        }),
        node("LeakyRelu", ["u"], ["l"], { alpha: 0.1 }, ["alpha"]),
        node("MaxPool", ["l"], ["y"], { kernel_shape: [3, 3], strides: [2, 2], ceil_mode: 1 }),
      ],
      {
        x: [3, 3, 2],
        y: [2, 9, 6],
        tensors: [
          weights("w", [3, 2, 2, 2]),
          weights("b", [2], 2),
          floatTensor("scales", [4], Float32Array.of(1, 1, 3, 3)),
        ],
      },
    ),
  ),
);

test("movement and arithmetic with broadcasting", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("Transpose", ["x"], ["t"], { perm: [0, 2, 1] }),
        node("Slice", ["t", "starts", "ends", "axes", "steps"], ["s"]),
        node("Gather", ["t", "places"], ["g"], { axis: 1 }),
        node("ReduceMean", ["x"], ["m"], { axes: [1, 2], keepdims: 1 }),
        node("Sub", ["s", "m"], ["d"]),
        node("Pow", ["d", "two"], ["p"]),
        node("Mul", ["p", "g"], ["q"]),
        node("Div", ["one", "q"], ["i"]),
        node("Sigmoid", ["i"], ["v"]),
        node("Concat", ["v", "d"], ["c"], { axis: -1 }),
        node("HardSigmoid", ["c"], ["h"], { alpha: 0.3, beta: 0.4 }, ["alpha", "beta"]),
        node("Softmax", ["h"], ["y"], { axis: 1 }),
      ],
      {
        x: [3, 7],
        y: [3, 6],
        tensors: [
          integerTensor("starts", [5]),
          integerTensor("ends", [-8]),
          integerTensor("axes", [1]),
          integerTensor("steps", [-2]),
          integerTensor("places", [6, 0, 1]),
          floatTensor("two", [], Float32Array.of(2)),
          floatTensor("one", [1], Float32Array.of(1)),
        ],
      },
    ),
    { tolerance: 1e-3 },
  ),
);

/** int4 as ONNX has it: the lower half of a byte first. */
function int4Tensor(name: string, dims: readonly number[]): OnnxTensor {
  const size = dims.reduce((product, each) => product * each, 1);
  return { name, dtype: "int4", dims, bytes: Uint8Array.from({ length: Math.ceil(size / 2) }, (_, at) => at * 37) };
}

/** Every weight between -127 and 127. */
function int8Tensor(name: string, dims: readonly number[]): OnnxTensor {
  const size = dims.reduce((product, each) => product * each, 1);
  const levels = Int8Array.from({ length: size }, (_, at) => ((at * 71) % 255) - 127);
  return { name, dtype: "int8", dims, bytes: new Uint8Array(levels.buffer) };
}

/** Scales between 0.01 and 0.03. */
function scales(name: string, dims: readonly number[]): OnnxTensor {
  const size = dims.reduce((product, each) => product * each, 1);
  return floatTensor(
    name,
    dims,
    Float32Array.from({ length: size }, (_, at) => 0.01 + 0.02 * ((at % 5) / 5)),
  );
}

test("weights of 8 bits by channel and of 4 bits by block, packed as they are", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("DequantizeLinear", ["w8", "s8"], ["w1"], { axis: 0 }),
        node("Conv", ["x", "w1"], ["c"], { kernel_shape: [3] }),
        node("DequantizeLinear", ["e8", "f8"], ["w2"], { axis: 0 }),
        node("Conv", ["c", "w2"], ["e"], { kernel_shape: [3], group: 5 }),
        node("Flatten", ["e"], ["f"]),
        node("DequantizeLinear", ["w4", "s4"], ["w3"], { axis: 1, block_size: 32 }),
        node("Gemm", ["f", "w3"], ["y"], { transB: 1 }),
      ],
      {
        x: [2, 17],
        y: [3],
        opset: 21,
        tensors: [
          int8Tensor("w8", [5, 2, 3]),
          scales("s8", [5]),
          int8Tensor("e8", [5, 1, 3]),
          scales("f8", [5]),
          int4Tensor("w4", [3, 65]),
          scales("s4", [3, 3]),
        ],
      },
    ),
    // ONNX Runtime multiplies 4-bit weights by activations that it rounds to 8 bits.
    { tolerance: 0.01 },
  ),
);

test("rounding to a grid: half to even, and saturating", { timeout: TIMEOUT_MS }, () => {
  const grid = ["scale", "zero"];
  return expectModel(
    network(
      [
        node("QuantizeLinear", ["x", ...grid], ["q"]),
        node("DequantizeLinear", ["q", ...grid], ["d"]),
        node("Mul", ["d", "three"], ["y"]),
      ],
      {
        x: [64],
        y: [64],
        tensors: [
          floatTensor("scale", [], Float32Array.of(1 / 64)),
          { name: "zero", dtype: "int8", dims: [], bytes: Uint8Array.of(90) },
          floatTensor("three", [], Float32Array.of(3)),
        ],
      },
    ),
    // Every other input is half-way between two levels, and those above 37/64 are beyond the last one.
    { tolerance: 1e-6, step: 1 / 128 },
  );
});

test("levels of a grid come out as whole numbers", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network([node("QuantizeLinear", ["x", "scale", "zero"], ["y"])], {
      x: [64],
      y: [64],
      dtype: "uint8",
      tensors: [
        floatTensor("scale", [], Float32Array.of(1 / 64)),
        { name: "zero", dtype: "uint8", dims: [], bytes: Uint8Array.of(100) },
      ],
    }),
    { tolerance: 1e-6, step: 1 / 128 },
  ),
);

test("tokens and their places choose rows of tables", { timeout: TIMEOUT_MS }, () => {
  const nodes = [
    node("Gather", ["words", "x"], ["w"]),
    node("Shape", ["x"], ["s"]),
    node("Gather", ["s", "one"], ["length"]),
    node("Squeeze", ["length"], ["count"]),
    node("Range", ["zero", "count", "step"], ["places"]),
    node("Gather", ["table", "places"], ["p"]),
    node("Add", ["w", "p"], ["a"]),
    node("Slice", ["s", "zeros", "one"], ["rows"]),
    node("Concat", ["rows", "rest"], ["shape"], { axis: 0 }),
    node("ConstantOfShape", ["shape"], ["first"]),
    node("Concat", ["first", "a"], ["y"], { axis: 1 }),
  ];
  const scalar = (name: string, value: number) => ({ ...integerTensor(name, [value]), dims: [] });
  const tensors = [
    weights("words", [11, 6]),
    weights("table", [7, 6], 2),
    integerTensor("one", [1]),
    integerTensor("zeros", [0]),
    integerTensor("rest", [2, 6]),
    scalar("zero", 0),
    scalar("step", 1),
  ];
  const plain = network(nodes, { x: [5], y: [7, 6], tensors });
  const model = { ...plain, inputs: [{ name: "x", dtype: "int64", shape: ["batch", 5] }] } as const;
  return expectModel(model, { given: [0, 3, 10, 1, 2, 7] });
});

test("Softmax before opset 13 takes all axes from its own on", { timeout: TIMEOUT_MS }, () =>
  expectModel(network([node("Softmax", ["x"], ["y"])], { x: [3, 4], y: [3, 4], opset: 11 })),
);

test("networks that mix rows are planned for each number of them", { timeout: TIMEOUT_MS }, async () => {
  const mixing = network([node("ReduceMean", ["x"], ["m"], { axes: [0] }), node("Sub", ["x", "m"], ["y"])], {
    x: [3],
    y: [3],
  });
  const product = network([node("Transpose", ["x"], ["t"]), node("MatMul", ["t", "x"], ["y"])], { x: [3], y: [3] });
  const running = network([node("CumSum", ["x", "axis"], ["y"])], {
    x: [3],
    y: [3],
    tensors: [{ ...integerTensor("axis", [0]), dims: [] }],
  });
  for (const model of [mixing, product, running]) await expectModel(model);
});
