import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDenseNetwork } from "../../../../src/edge/models/read-dense-network.ts";
import { readFileSignature } from "./read-file-signature.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { type DenseFile, type FileNode, type FileTensor, writeDenseFile } from "../../../edge/stack/dense-file.ts";
import { fc } from "../../property.ts";

const SPECS = {
  inputs: [{ name: "x", dtype: "float32" as const, shape: [-1, 3] }],
  outputs: [{ name: "y", dtype: "float32" as const, shape: [-1, 2] }],
};
const zeros = (...dims: number[]): FileTensor => ({
  dims,
  floats: Array<number>(dims.reduce((product, size) => product * size, 1)).fill(0),
});
const gemm: FileNode = { operator: "Gemm", inputs: ["x", "w", "b"], output: "y" };
const layer: DenseFile = {
  input: [-1, 3],
  output: [-1, 2],
  tensors: { w: zeros(3, 2), b: zeros(2) },
  nodes: [gemm],
};

const read = (file: Uint8Array) => {
  const signature = readFileSignature(file);
  return readDenseNetwork(file, signature.ok ? signature : SPECS);
};
const reasonOf = (changes: Partial<DenseFile>) => {
  const result = read(writeDenseFile({ ...layer, ...changes }));
  return result.ok ? null : result.message;
};
const chainOf = (...nodes: FileNode[]) => ({ nodes });

describe("a dense network", () => {
  it("is read of the zoo's policy, and not of its convolutional network", () => {
    const zoo = (name: string) =>
      new Uint8Array(readFileSync(join(import.meta.dirname, `../../../../models/${name}/${name}.onnx`)));
    const cartpole = read(zoo("cartpole"));
    expect(cartpole).toMatchObject({ ok: true, network: { inputs: 4, outputShape: [2], output: "logits" } });
    expect(cartpole.ok && cartpole.network.steps.map(({ kind }) => kind)).toEqual(["dense", "tanh", "dense"]);
    expect(read(zoo("lenet5"))).toMatchObject({ ok: false, message: expect.stringContaining("operator") });
  });

  it("counts the numbers in its weights and biases", () => {
    const found = read(writeDenseFile(layer));
    expect(found).toMatchObject({ ok: true, network: { parameters: 8, inputs: 3, outputShape: [2] } });
  });

  it.each<[string, Partial<DenseFile>]>([
    ["a width that is free", { input: [-1, -1] }],
    ["a width that is free", { input: [3], output: [2] }],
    [
      "do not fit",
      {
        input: [-1, 3, 4],
        nodes: [
          { operator: "Relu", inputs: ["x"], output: "s" },
          { ...gemm, inputs: ["s", "w", "b"] },
        ],
      },
    ],
    ["no dense layer", chainOf({ operator: "Relu", inputs: ["x"], output: "y" })],
    ["operator Conv", chainOf({ ...gemm, operator: "Conv" })],
    ["operator of com.example", chainOf({ ...gemm, domain: "com.example" })],
    ["older than opset 7", { opset: 6 }],
    ["not a chain", chainOf({ ...gemm, output: "s" }, { operator: "Relu", inputs: ["x"], output: "y" })],
    ["does not end in its output", chainOf({ ...gemm, output: "s" })],
    ["with other inputs", chainOf({ operator: "MatMul", inputs: ["w", "x"], output: "y" })],
    ["more than its input and weights", chainOf({ operator: "MatMul", inputs: ["x", "x"], output: "y" })],
    ["more than its input and weights", chainOf({ ...gemm, inputs: ["x", "w", "x"] })],
    ["transposes its rows", chainOf({ ...gemm, attributes: { transA: { integer: 1 } } })],
    ["do not fit", chainOf({ ...gemm, attributes: { transB: { integer: 1 } } })],
    ["no matrix", { tensors: { w: zeros(1, 3, 2), b: zeros(2) } }],
    ["not float32", { tensors: { w: { dims: [3, 2], integers: [1, 2, 3, 4, 5, 6] }, b: zeros(2) } }],
    ["more than a row", { tensors: { w: zeros(3, 2), b: zeros(2, 2) } }],
    ["more than a row", { tensors: { w: zeros(3, 2), b: zeros(3) } }],
    ["more than a row", chainOf({ operator: "Sub", inputs: ["x", "b"], output: "s" }, { ...gemm, inputs: ["s", "w"] })],
    [
      "behind a layer",
      {
        tensors: { w: zeros(3, 2), c: zeros(3) },
        nodes: [
          { operator: "Sub", inputs: ["x", "c"], output: "s" },
          { operator: "Relu", inputs: ["s"], output: "r" },
          { ...gemm, inputs: ["r", "w"] },
        ],
      },
    ],
    ["with other inputs", chainOf({ ...gemm, output: "s" }, { operator: "Sub", inputs: ["b", "s"], output: "y" })],
    ...["Add", "Sub", "Mul"].map((operator): [string, Partial<DenseFile>] => [
      "behind a layer",
      chainOf(
        { ...gemm, output: "s" },
        { operator: "Relu", inputs: ["s"], output: "r" },
        { operator, inputs: ["r", "b"], output: "y" },
      ),
    ]),
    [
      "over other than rows",
      chainOf(
        { ...gemm, output: "s" },
        { operator: "Softmax", inputs: ["s"], output: "y", attributes: { axis: { integer: 0 } } },
      ),
    ],
    [
      "flattens rows together",
      chainOf(
        { operator: "Flatten", inputs: ["x"], output: "s", attributes: { axis: { integer: 0 } } },
        { ...gemm, inputs: ["s", "w", "b"] },
      ),
    ],
    ["a constant that is no tensor", chainOf({ operator: "Constant", inputs: [], output: "c" }, gemm)],
    ["cannot be read", { tensors: { w: { dims: [3, 2], floats: [1, 2, 3] }, b: zeros(2) } }],
    ["cannot be read", { nodes: Array.from({ length: LIMITS.edgeNodes + 1 }, () => gemm) }],
    ["too large", { input: [-1, LIMITS.edgeWidth + 1] }],
    ["more than 32 rows", { input: [LIMITS.edgeRows + 1, 3], output: [LIMITS.edgeRows + 1, 2] }],
    ["more than 32 rows", { input: [2 ** 40, 3], output: [2 ** 40, 2] }],
    [
      "too long for a row",
      {
        input: [-1, 1],
        tensors: { w: zeros(1, LIMITS.edgeWidth) },
        nodes: [
          { operator: "MatMul", inputs: ["x", "w"], output: "s0" },
          { operator: "Tanh", inputs: ["s0"], output: "s1" },
          { operator: "Tanh", inputs: ["s1"], output: "y" },
        ],
      },
    ],
    [
      "more than 1048576 parameters",
      { input: [-1, 1_025], tensors: { w: zeros(1_025, 1_024) }, nodes: [{ ...gemm, inputs: ["x", "w"] }] },
    ],
  ])("is not what has or does this: %s", (reason, changes) => expect(reasonOf(changes)).toContain(reason));

  it.each([
    ["rows apart", [-1, 3], null],
    ["rows apart, with a size that remains", [0, -1], null],
    ["rows together", [1, -1], "reshapes rows together"],
    ["rows into two", [-1, 1], "reshapes rows together"],
    ["to a size below nought", [-1, -3], "reshapes rows together"],
    ["to one axis", [-1], "reshapes rows together"],
  ])("may reshape %s or not", (_name, integers, reason) => {
    const to: FileTensor = { dims: [integers.length], integers };
    const nodes = [
      { operator: "Reshape", inputs: ["x", "to"], output: "s" },
      { ...gemm, inputs: ["s", "w", "b"] },
    ];
    expect(reasonOf({ nodes, tensors: { ...layer.tensors, to } })).toBe(reason);
  });

  it("takes as many rows as the limit says where they are fixed", () => {
    expect(reasonOf({ input: [LIMITS.edgeRows, 3], output: [LIMITS.edgeRows, 2] })).toBeNull();
  });

  it("takes as many parameters as the limit says", () => {
    const tensors = { w: zeros(1_024, 1_024) };
    expect(reasonOf({ input: [-1, 1_024], tensors, nodes: [{ ...gemm, inputs: ["x", "w"] }] })).toBeNull();
  });

  it("takes rows before its first layer and behind any into weights and biases", () => {
    const file = writeDenseFile({
      input: [-1, 2],
      output: [-1, 2],
      tensors: {
        mean: { dims: [2], floats: [1, 2] },
        scale: { dims: [1, 2], floats: [0.5, 0.25] },
        two: { dims: [], floats: [2] },
        w: { dims: [2, 2], floats: [1, 2, 3, 4] },
        b: { dims: [2], floats: [10, 20] },
      },
      nodes: [
        { operator: "Sub", inputs: ["x", "mean"], output: "s0" },
        { operator: "Mul", inputs: ["scale", "s0"], output: "s1" },
        { operator: "Gemm", inputs: ["s1", "w", "b"], output: "s2" },
        { operator: "Mul", inputs: ["s2", "two"], output: "s3" },
        { operator: "Sub", inputs: ["s3", "mean"], output: "y" },
      ],
    });
    // x = [x0, x1]: 2 · ([(x0 − 1) / 2, (x1 − 2) / 4] · w + b) − [1, 2]
    expect(read(file)).toMatchObject({
      ok: true,
      network: {
        steps: [
          {
            kind: "dense",
            weights: Float32Array.of(1, 2, 1.5, 2),
            bias: Float32Array.of(2 * (10 - 0.5 - 1.5) - 1, 2 * (20 - 1 - 2) - 2),
          },
        ],
        parameters: 13,
      },
    });
  });

  it("takes other inputs and outputs than one of float32 for none", () => {
    const file = writeDenseFile(layer);
    const [x] = SPECS.inputs;
    for (const inputs of [[], [x!, x!], [{ ...x!, dtype: "float16" as const }]]) {
      expect(readDenseNetwork(file, { ...SPECS, inputs })).toMatchObject({ ok: false });
    }
    expect(readDenseNetwork(file, { ...SPECS, outputs: [] })).toMatchObject({ ok: false });
  });

  it("is refused or read, and never more, however the file is damaged", () => {
    const file = writeDenseFile({
      ...layer,
      tensors: { ...layer.tensors, to: { dims: [2], integers: [0, -1] } },
      nodes: [
        { operator: "Reshape", inputs: ["x", "to"], output: "s" },
        { ...gemm, inputs: ["s", "w", "b"], output: "t", attributes: { alpha: { float: 2 } } },
        { operator: "Softmax", inputs: ["t"], output: "y" },
      ],
    });
    for (let length = 0; length < file.length; length++) {
      expect(typeof readDenseNetwork(file.slice(0, length), SPECS).ok).toBe("boolean");
    }
    const damage = fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(damage, (changes) => {
        const damaged = file.slice();
        for (const [at, byte] of changes) damaged[at] = byte;
        const result = readDenseNetwork(damaged, SPECS);
        expect(result.ok ? result.network.parameters : result.message.length).toBeGreaterThan(0);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(typeof readDenseNetwork(bytes, SPECS).ok).toBe("boolean");
      }),
    );
  });
});
