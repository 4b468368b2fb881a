import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { checkHeldOut } from "../../../src/edge/models/check-held-out.ts";
import { describeModel, reportModel } from "../../../src/edge/models/describe-model.ts";
import { openModel } from "../../../src/edge/models/check-model.ts";
import { finishSteps } from "../../../src/onnx/each-field.ts";
import { readModel } from "../../../src/onnx/read-model.ts";
import { floatTensor, integerTensor } from "../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { readHeldOut } from "../../../src/protocol/models/held-out-file.ts";
import { ModelReport } from "../../../src/protocol/models/model.ts";
import { modelOf, nodeOf } from "../../unit/onnx/model-of.ts";
import { writeSafetensors } from "../../unit/protocol/write-safetensors.ts";
import { type CodecTarget, hold, orRefused, refusedOnly } from "./codec-target.ts";
import { damaged } from "./inputs.ts";

/** Enough of them that most rules for shapes are asked, by names that fit each other and by some that do not. */
const OPERATORS = `
  Add MatMul Gemm Relu Softmax Reshape Flatten Transpose Concat Split Slice Pad Conv ConvTranspose MaxPool
  AveragePool GlobalAveragePool Resize Expand Tile Gather Constant ConstantOfShape Range Shape Unsqueeze
  Squeeze ReduceSum LSTM GRU OneHot NonZero TopK Where Cast If Loop QuantizeLinear DequantizeLinear Unknown
  ScatterND
`
  .trim()
  .split(/\s+/);
const ATTRIBUTES = [
  "axis",
  "axes",
  "perm",
  "kernel_shape",
  "pads",
  "strides",
  "dilations",
  "group",
  "to",
  "transB",
  "k",
];
const values = fc.constantFrom("x", "w", "i", "a", "b", "c", "y", "");
const sizes = fc.oneof(fc.integer({ min: -2, max: 5 }), fc.constantFrom(2 ** 31 - 1, 2 ** 40, -(2 ** 31), 2 ** 53 - 1));

const nodes = fc
  .tuple(
    fc.constantFrom(...OPERATORS),
    fc.array(values, { maxLength: 4 }),
    fc.array(values, { minLength: 1, maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...ATTRIBUTES), fc.oneof(sizes, fc.array(sizes, { maxLength: 4 })), { maxKeys: 3 }),
  )
  .map(([operator, inputs, outputs, attributes]) => nodeOf(operator, inputs, outputs, attributes));

/** Graphs of any operators over a few values, with small weights that say large shapes. */
const graphs = fc
  .tuple(
    fc.array(nodes, { maxLength: 6 }),
    fc.array(sizes, { minLength: 1, maxLength: 4 }),
    fc.integer({ min: 6, max: 24 }),
  )
  .map(([list, numbers, opset]): Uint8Array =>
    writeModel(
      modelOf({
        nodes: list,
        opset,
        tensors: [floatTensor("w", [4, 4], new Float32Array(16).fill(0.5)), integerTensor("i", numbers)],
      }),
    ),
  );

/** Graphs inside of graphs, deeper than any network has them. */
const nested = fc.nat(80).map((depth) => {
  let graph: Uint8Array = new Uint8Array();
  const wrap = (field: number, bytes: Uint8Array) =>
    new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
  for (let at = 0; at < depth; at++) graph = wrap(1, wrap(5, wrap(6, graph)));
  return wrap(7, graph);
});

const zoo = ["cartpole/cartpole", "lenet5/lenet5-int8"].map(
  (name) => new Uint8Array(readFileSync(new URL(`../../../models/${name}.onnx`, import.meta.url))),
);

/** All work of the edge on an uploaded file; it can write every file that it can read. */
async function checkModelFile(input: Uint8Array): Promise<void> {
  hold(ModelReport.safeParse(await reportModel(input)).success, "a report is one of the protocol");
  const described = await describeModel(input).catch(refusedOnly);
  const opened = finishSteps(openModel(input));
  if (described === undefined || !opened.ok) return;
  const hasTexts = [...opened.model.weights.values()].some(({ dtype }) => dtype === "string");
  if (!hasTexts)
    hold(
      isDeepStrictEqual(
        readModel(writeModel(readModel(writeModel(opened.model)))),
        readModel(writeModel(opened.model)),
      ),
      "a model is kept when it is written",
    );
}

const bytesOf = (dtype: string, shape: number[], bytes: Uint8Array) => ({ dtype, shape, bytes });
const heldOut = writeSafetensors(
  {
    "input.x": bytesOf("U8", [2, 3], Uint8Array.of(0, 1, 2, 253, 254, 255)),
    target: bytesOf("U8", [2], Uint8Array.of(1, 0)),
    baseline: bytesOf("F32", [1, 2], new Uint8Array(8)),
  },
  { metric: "accuracy", "input.x.scale": "0.1" },
);
const signature = {
  inputs: [{ name: "x", dtype: "float32" as const, shape: [-1, 3] }],
  outputs: [{ name: "y", dtype: "float32" as const, shape: [-1, 2] }],
};

function checkHeldOutFile(input: Uint8Array): void {
  const read = orRefused(() => readHeldOut(input), RangeError);
  if (read !== undefined) checkHeldOut(signature, read);
}

/** Networks and their data. */
export const MODEL_TARGETS: readonly CodecTarget[] = [
  {
    name: "onnx-zoo",
    weight: 6,
    inputs: damaged(fc.oneof({ arbitrary: fc.constant(zoo[0]!), weight: 15 }, fc.constant(zoo[1]!))),
    check: checkModelFile,
  },
  { name: "onnx-graph", weight: 8, inputs: fc.oneof(graphs, damaged(graphs), nested), check: checkModelFile },
  { name: "held-out", weight: 4, inputs: damaged(fc.constant(heldOut)), check: checkHeldOutFile },
];
