import { readFileSync } from "node:fs";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { beforeAll, describe, expect, it } from "vitest";
import { readDenseNetwork } from "../../../../src/edge/models/read-dense-network.ts";
import { readFileSignature } from "../models/read-file-signature.ts";
import { openDenseProgram, type Precision } from "../../../../src/edge/inference/wasm/dense-program.ts";
import { compileAssembly } from "../../../../src/gpu-runner/devices/cpu-simd/compile-assembly.ts";
import { createSeededInputs } from "../../../../src/protocol/models/model-inputs.ts";
import { typedView } from "../../../../src/protocol/wire/tensor.ts";
import { fc } from "../../property.ts";
import { type DenseFile, type FileTensor, writeDenseFile } from "../../../edge/stack/dense-file.ts";

const SOURCE = new URL("../../../../src/edge/inference/wasm/assembly/dense-network.ts", import.meta.url);
let program: WebAssembly.Module;

beforeAll(async () => {
  const { options } = JSON.parse(readFileSync(new URL("asconfig.json", SOURCE), "utf8"));
  program = await WebAssembly.compile(await compileAssembly(SOURCE, options));
}, 60_000);

/** Numbers from −1 to 1. */
const numbers = (count: number, seed: number) => {
  const [tensor] = createSeededInputs([{ name: "x", dtype: "float32", shape: [count] }], seed);
  return Array.from(typedView(tensor!) as Float32Array, (value) => 2 * value - 1);
};
const matrix = (rows: number, columns: number, seed = 1): FileTensor => ({
  dims: [rows, columns],
  floats: numbers(rows * columns, seed),
});
const row = (count: number, seed = 2): FileTensor => ({ dims: [count], floats: numbers(count, seed) });

function openFile(file: Uint8Array, precision: Precision = "fp32") {
  const signature = readFileSignature(file);
  if (!signature.ok) throw new Error(signature.message);
  const dense = readDenseNetwork(file, signature);
  if (!dense.ok) throw new Error(dense.message);
  return { network: dense.network, program: openDenseProgram(program, dense.network, precision) };
}

/** Outputs of ONNX Runtime and of the edge for some rows. */
async function computeBoth(file: Uint8Array, shape: readonly number[], precision: Precision = "fp32") {
  const input = Float32Array.from(
    numbers(
      shape.reduce((product, size) => product * size, 1),
      3,
    ),
  );
  const session = await InferenceSession.create(file, { logSeverityLevel: 3 });
  const { [session.outputNames[0]!]: wanted } = await session.run({
    [session.inputNames[0]!]: new Tensor("float32", input, shape),
  });
  const opened = openFile(file, precision);
  const found = opened.program.run(input, shape[0]!);
  expect([shape[0], ...opened.network.outputShape]).toEqual([...wanted!.dims]);
  return { wanted: Array.from(wanted!.data as Float32Array), found: Array.from(found) };
}

async function expectAgreement(file: DenseFile, shape: readonly number[] = [2, ...file.input.slice(1)]): Promise<void> {
  const { wanted, found } = await computeBoth(writeDenseFile(file), shape);
  const scale = Math.max(...wanted.map(Math.abs));
  const errors = found.map((value, i) => Math.abs(value - wanted[i]!) / scale);
  expect(Math.max(...errors)).toBeLessThan(1e-5);
}

const gemm = { operator: "Gemm", inputs: ["x", "w", "b"], output: "y" } as const;
const layer = { tensors: { w: matrix(5, 7), b: row(7) }, input: [-1, 5], output: [-1, 7] } as const;

describe("a dense network at the edge", () => {
  it.each<Precision>(["fp32", "int8"])("finds nothing that rows of NaN and infinities left, as %s", (precision) => {
    const widths = [5, 70, 7, 40, 33, 3];
    const layers = widths.slice(1).map((after, index) => ({ before: widths[index]!, after, index }));
    const tensors = layers.flatMap(({ before, after, index }) => [
      [`w${index}`, matrix(before, after, index + 1)] as const,
      [`b${index}`, row(after, index + 9)] as const,
    ]);
    const nodes = layers.map(({ index }) => ({
      operator: "Gemm",
      inputs: [index === 0 ? "x" : `h${index}`, `w${index}`, `b${index}`],
      output: index === layers.length - 1 ? "y" : `h${index + 1}`,
    }));
    const file = { nodes, tensors: Object.fromEntries(tensors), input: [-1, 5], output: [-1, 3] } as const;
    const { program: opened } = openFile(writeDenseFile(file), precision);
    const before = opened.run(Float32Array.from(numbers(5, 3)), 1);
    opened.run(Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3e38, -3e38), 1);
    expect(before.every(Number.isFinite)).toBe(true);
    expect(opened.run(Float32Array.from(numbers(5, 3)), 1)).toEqual(before);
  });

  it.each<[string, DenseFile]>([
    ["Gemm", { ...layer, nodes: [gemm] }],
    ["Gemm without a bias", { ...layer, nodes: [{ ...gemm, inputs: ["x", "w"] }] }],
    [
      "Gemm with factors",
      {
        ...layer,
        nodes: [{ ...gemm, attributes: { alpha: { float: 0.5 }, beta: { float: -2 } } }],
      },
    ],
    [
      "Gemm with weights that are turned",
      {
        ...layer,
        tensors: { w: matrix(7, 5), b: { dims: [1, 7], floats: numbers(7, 4) } },
        nodes: [{ ...gemm, attributes: { transB: { integer: 1 } } }],
      },
    ],
    [
      "Gemm with one bias for all",
      { ...layer, tensors: { w: matrix(5, 7), b: { dims: [1], floats: [0.5] } }, nodes: [gemm] },
    ],
    [
      "MatMul and Add, weights first",
      {
        ...layer,
        nodes: [
          { operator: "MatMul", inputs: ["x", "w"], output: "s" },
          { operator: "Add", inputs: ["b", "s"], output: "y" },
        ],
      },
    ],
    [
      "two biases",
      {
        ...layer,
        nodes: [
          { ...gemm, output: "s" },
          { operator: "Add", inputs: ["s", "b"], output: "y" },
        ],
      },
    ],
    ...["Relu", "Tanh", "Sigmoid", "LeakyRelu", "Softmax", "Identity"].map((operator): [string, DenseFile] => [
      operator,
      {
        ...layer,
        nodes: [
          { ...gemm, output: "s" },
          { operator, inputs: ["s"], output: "y" },
        ],
      },
    ]),
    [
      "LeakyRelu with a slope, before the layer",
      {
        ...layer,
        nodes: [
          { operator: "LeakyRelu", inputs: ["x"], output: "s", attributes: { alpha: { float: 0.3 } } },
          { ...gemm, inputs: ["s", "w", "b"] },
        ],
      },
    ],
    [
      "Softmax of old along the second axis",
      {
        ...layer,
        opset: 11,
        nodes: [
          { ...gemm, output: "s" },
          { operator: "Softmax", inputs: ["s"], output: "y" },
        ],
      },
    ],
    [
      "Flatten",
      {
        ...layer,
        input: [-1, 1, 5],
        nodes: [
          { operator: "Flatten", inputs: ["x"], output: "s" },
          { ...gemm, inputs: ["s", "w", "b"] },
        ],
      },
    ],
    [
      "Reshape to and fro, by a constant",
      {
        input: [-1, 2, 3],
        output: [-1, 2, 2],
        tensors: { w: matrix(6, 4), to: { dims: [3], integers: [-1, 2, 2] } },
        nodes: [
          {
            operator: "Constant",
            inputs: [],
            output: "flat",
            attributes: { value: { tensor: { dims: [2], integers: [0, -1] } } },
          },
          { operator: "Reshape", inputs: ["x", "flat"], output: "s" },
          { operator: "MatMul", inputs: ["s", "w"], output: "t" },
          { operator: "Reshape", inputs: ["t", "to"], output: "y" },
        ],
      },
    ],
  ])("computes %s as ONNX Runtime does", (_name, file) => expectAgreement(file));

  it("computes as ONNX Runtime does at every width", async () => {
    const width = fc.integer({ min: 1, max: 70 });
    await fc.assert(
      fc.asyncProperty(width, width, width, fc.integer({ min: 1, max: 4 }), (inputs, hidden, outputs, rows) =>
        expectAgreement(
          {
            input: [-1, inputs],
            output: [-1, outputs],
            tensors: { w: matrix(inputs, hidden), b: row(hidden), v: matrix(hidden, outputs, 5), c: row(outputs, 6) },
            nodes: [
              { ...gemm, output: "s" },
              { operator: "Tanh", inputs: ["s"], output: "t" },
              { operator: "Gemm", inputs: ["t", "v", "c"], output: "u" },
              { operator: "Softmax", inputs: ["u"], output: "y" },
            ],
          },
          [rows, inputs],
        ),
      ),
      { numRuns: 25 },
    );
  });

  it("comes near it with weights of one byte", async () => {
    for (const [inputs, hidden, outputs] of [
      [64, 128, 40],
      [17, 33, 32],
      [200, 64, 5],
    ] as const) {
      const file = writeDenseFile({
        input: [-1, inputs],
        output: [-1, outputs],
        tensors: { w: matrix(inputs, hidden), b: row(hidden), v: matrix(hidden, outputs, 5), c: row(outputs, 6) },
        nodes: [
          { ...gemm, output: "s" },
          { operator: "Relu", inputs: ["s"], output: "t" },
          { operator: "Gemm", inputs: ["t", "v", "c"], output: "y" },
        ],
      });
      const { wanted, found } = await computeBoth(file, [3, inputs], "int8");
      const scale = Math.max(...wanted.map(Math.abs));
      const errors = found.map((value, i) => Math.abs(value - wanted[i]!) / scale);
      expect(Math.max(...errors), `${inputs}-${hidden}-${outputs}`).toBeLessThan(0.03);
      // Not the same numbers, or nothing was quantised.
      expect(Math.max(...errors)).toBeGreaterThan(1e-5);
    }
  });

  it("with weights of one byte takes rows of one value, and weights of none", () => {
    const tensors = { w: { dims: [16, 32], floats: Array<number>(512).fill(0) }, b: row(32) };
    const file = writeDenseFile({ input: [-1, 16], output: [-1, 32], tensors, nodes: [gemm] });
    const { program: int8 } = openFile(file, "int8");
    expect(Array.from(int8.run(new Float32Array(16).fill(4), 1))).toEqual(
      Array.from(Float32Array.from(tensors.b.floats!)),
    );
    const ones = { ...tensors, w: { dims: [16, 32], floats: Array<number>(512).fill(1) } };
    const summing = openFile(
      writeDenseFile({ input: [-1, 16], output: [-1, 32], tensors: ones, nodes: [gemm] }),
      "int8",
    );
    const [first] = summing.program.run(new Float32Array(16).fill(4), 1);
    expect(first).toBeCloseTo(64 + tensors.b.floats![0]!, 4);
  });

  it("takes a quarter of the memory with weights of one byte", () => {
    const tensors = { w: matrix(512, 512), b: row(512) };
    const file = writeDenseFile({ input: [-1, 512], output: [-1, 512], tensors, nodes: [gemm] });
    const [floats, bytes] = (["fp32", "int8"] as const).map((precision) => openFile(file, precision).program.sizeBytes);
    expect(floats).toBeGreaterThan(4 * 512 * 512);
    expect(bytes).toBeLessThan(floats! / 3);
  });

  it("leaves nothing of one row to the next", async () => {
    const { program: opened } = openFile(writeDenseFile({ ...layer, nodes: [gemm] }));
    const [a, b] = [numbers(5, 8), numbers(5, 9)];
    const apart = [a, b].flatMap((each) => [...opened.run(Float32Array.from(each), 1)]);
    expect([...opened.run(Float32Array.from([...a, ...b]), 2)]).toEqual(apart);
  });
});
