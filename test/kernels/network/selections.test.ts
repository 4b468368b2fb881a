import { expect, test } from "vitest";
import { planNetwork } from "../../../src/gpu-runner/networks/plan-network.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;

test("the largest and smallest of lines, and what lies at their places", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("TopK", ["x", "three"], ["best", "places"], { axis: 1 }),
        node("TopK", ["x", "two"], ["least", "lowest"], { axis: -1, largest: 0 }),
        node("GatherElements", ["least", "places"], ["looked"], { axis: 1 }),
        node("Concat", ["best", "looked"], ["y"], { axis: 2 }),
      ],
      { x: [5, 2], y: [3, 4], tensors: [integerTensor("three", [3]), integerTensor("two", [2])] },
    ),
  ),
);

test("choices that are marked, by computed places", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("ArgMax", ["x"], ["places"], { axis: 2, keepdims: 0 }),
        node("OneHot", ["places", "depth", "ends"], ["marks"], { axis: 1 }),
        node("Hardmax", ["x"], ["hard"], { axis: 1 }),
        node("Trilu", ["hard", "one"], ["kept"], { upper: 0 }),
        node("EyeLike", ["square"], ["eye"], { k: 1 }),
        node("MatMul", ["kept", "eye"], ["moved"]),
        node("Concat", ["marks", "moved"], ["y"], { axis: 1 }),
      ],
      {
        x: [4, 4],
        y: [10, 4],
        tensors: [
          integerTensor("depth", [6]),
          floatTensor("ends", [2], Float32Array.of(-1, 2)),
          integerTensor("one", [1]),
          weights("square", [4, 4]),
        ],
      },
    ),
  ),
);

test("updates to computed places", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("ArgMin", ["x"], ["p"], { axis: 2 }),
        node("ScatterElements", ["x", "p", "u"], ["a"], { axis: 2, reduction: "add" }),
        node("ScatterElements", ["a", "fixed", "u"], ["b"], { axis: 1 }),
        node("ScatterND", ["b", "tuples", "rows"], ["c"]),
        node("ScatterND", ["c", "twice", "pair"], ["d"], { reduction: "max" }),
        node("Cast", ["p"], ["steps"], { to: 7 }),
        node("Concat", ["steps", "steps"], ["both"], { axis: 2 }),
        node("GatherND", ["d", "both"], ["found"], { batch_dims: 1 }),
        node("GatherND", ["d", "tuples"], ["lines"]),
        node("Unsqueeze", ["found", "axis"], ["f"]),
        node("Unsqueeze", ["lines", "first"], ["l"]),
        node("Concat", ["d", "l"], ["dl"], { axis: 1 }),
        node("Pad", ["f", "wider"], ["fw"]),
        node("Concat", ["dl", "fw"], ["y"], { axis: 1 }),
      ],
      {
        x: [4, 4],
        y: [10, 4],
        rows: 1,
        opset: 18,
        tensors: [
          weights("u", [1, 4, 1]),
          { ...integerTensor("fixed", [3, 0, -2, 1]), dims: [1, 4, 1] },
          { ...integerTensor("tuples", [0, 2, 0, -1]), dims: [2, 2] },
          { ...integerTensor("twice", [0, 0, 1, 0, 0, 1]), dims: [2, 3] },
          weights("rows", [2, 4], 2),
          weights("pair", [2], 3),
          integerTensor("axis", [2]),
          integerTensor("first", [0]),
          integerTensor("wider", [0, 0, 0, 0, 0, 3]),
        ],
      },
    ),
    { rows: [1] },
  ),
);

test("constant updates of the first row leave the others", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network([node("ScatterElements", ["x", "places", "updates"], ["y"], { axis: 1 })], {
      x: [8],
      y: [8],
      tensors: [{ ...integerTensor("places", [5, 0, 2]), dims: [1, 3] }, weights("updates", [1, 3])],
    }),
    { rows: [1, 2, 3] },
  ),
);

test("lines of a constant go to the rows in their order", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [node("ArgMin", ["x"], ["places"], { axis: 1 }), node("GatherElements", ["lines", "places"], ["y"], { axis: 1 })],
      { x: [6], y: [1], tensors: [weights("lines", [4, 6])] },
    ),
    { rows: [1, 2, 4] },
  ),
);

test("what pairs rows with the lines of a constant is not planned for any number of rows", () => {
  const batched = network(
    [node("ArgMin", ["x"], ["places"], { axis: 1 }), node("GatherND", ["line", "places"], ["y"], { batch_dims: 1 })],
    { x: [6], y: [], tensors: [weights("line", [1, 6])] },
  );
  expect(() => planNetwork(batched)).toThrow("it picks rows");
  const scattered = network([node("TensorScatter", ["x", "update", "places"], ["y"], { axis: 1 })], {
    x: [8, 2],
    y: [8, 2],
    opset: 24,
    tensors: [weights("update", [1, 3, 2]), integerTensor("places", [1])],
  });
  expect(() => planNetwork(scattered)).toThrow("it picks rows");
});

test("pictures resized by cubes, without aliases and by a region", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("Resize", ["x", "", "", "large"], ["a"], { mode: "cubic" }),
        node("Resize", ["a", "", "", "small"], ["b"], { mode: "cubic", exclude_outside: 1 }),
        node("Resize", ["b", "", "", "tiny"], ["c"], { mode: "linear", antialias: 1 }),
        node(
          "Resize",
          ["c", "region", "", "large"],
          ["d"],
          {
            mode: "linear",
            coordinate_transformation_mode: "tf_crop_and_resize",
            extrapolation_value: 7,
          },
          ["extrapolation_value"],
        ),
        node("Resize", ["d", "", "", "fitting"], ["y"], {
          mode: "linear",
          keep_aspect_ratio_policy: "not_larger",
          axes: [2, 3],
        }),
      ],
      {
        x: [2, 5, 6],
        y: [2, 6, 7],
        rows: 1,
        opset: 19,
        tensors: [
          integerTensor("large", [1, 2, 9, 11]),
          integerTensor("small", [1, 2, 7, 8]),
          integerTensor("tiny", [1, 2, 3, 5]),
          integerTensor("fitting", [6, 8]),
          floatTensor("region", [8], Float32Array.of(0, 0, 0.2, -0.3, 1, 1, 1.2, 0.8)),
        ],
      },
    ),
    { rows: [1] },
  ),
);

test("windows over three axes, norms of windows and of neighbouring channels", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("Conv", ["x", "k", "b"], ["c"], { group: 2, pads: [1, 0, 1, 1, 1, 1], strides: [1, 2, 1] }),
        node("Relu", ["c"], ["r"]),
        node("ConvTranspose", ["r", "t"], ["d"], { strides: [2, 1, 2], pads: [0, 1, 1, 1, 0, 1], group: 2 }),
        node("MaxPool", ["d"], ["m"], { kernel_shape: [2, 2, 2], strides: [2, 1, 1] }),
        node("AveragePool", ["m"], ["a"], { kernel_shape: [2, 1, 3], pads: [1, 0, 1, 0, 0, 1] }),
        node("Reshape", ["a", "flat"], ["f"]),
        node("LRN", ["f"], ["l"], { size: 3 }),
        node("LpPool", ["l"], ["y"], { kernel_shape: [2, 2], p: 3 }),
      ],
      {
        x: [4, 3, 5, 4],
        y: [6, 2, 7],
        opset: 18,
        tensors: [
          weights("k", [6, 2, 2, 3, 2]),
          weights("b", [6], 2),
          weights("t", [6, 3, 2, 2, 3], 3),
          integerTensor("flat", [0, 6, 3, -1]),
        ],
      },
    ),
    { tolerance: 1e-3 },
  ),
);

test("products by letters with an ellipsis, and numbers that begin again", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("Einsum", ["x", "w"], ["e"], { equation: "...ij,jk->...ik" }),
        node("Einsum", ["e"], ["d"], { equation: "...ii->...i" }),
        node("Mul", ["d", "large"], ["m"]),
        node("Cast", ["m"], ["whole"], { to: 6 }),
        node("Cast", ["whole"], ["small"], { to: 2 }),
        node("Cast", ["small"], ["y"], { to: 1 }),
      ],
      {
        x: [3, 4, 5],
        y: [3, 4],
        tensors: [weights("w", [5, 4]), floatTensor("large", [], Float32Array.of(1000))],
      },
    ),
  ),
);

test("shapes and axes that the caller gives, and numbers of 64 bits", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    {
      ...network(
        [
          node("Cast", ["x"], ["f"], { to: 1 }),
          node("Reshape", ["f", "sizes"], ["r"]),
          node("ReduceSum", ["r"], ["s"], { keepdims: 0 }),
          node("Mul", ["r", "s"], ["m"]),
          node("Cast", ["m"], ["y"], { to: 11 }),
        ],
        { x: [], y: [] },
      ),
      inputs: [
        { name: "x", dtype: "float32", shape: ["rows", "columns"] },
        { name: "sizes", dtype: "int64", shape: [2] },
      ],
      outputs: [{ name: "y", dtype: "float64", shape: ["all", 1] }],
    },
    { rows: [1, 3], given: [-1, 1] },
  ),
);

test("several pictures of a fixed size", { timeout: TIMEOUT_MS }, () =>
  expectModel(
    network(
      [
        node("Conv", ["x", "k"], ["c"], { pads: [1, 1, 1, 1] }),
        node("Conv", ["c", "each"], ["d"], { group: 4 }),
        node("ConvTranspose", ["d", "t"], ["y"], { strides: [2, 2] }),
      ],
      {
        x: [2, 5, 5],
        y: [3, 8, 8],
        rows: 3,
        tensors: [weights("k", [4, 2, 3, 3]), weights("each", [4, 1, 2, 2], 2), weights("t", [4, 3, 2, 2], 3)],
      },
    ),
    { rows: [3] },
  ),
);
