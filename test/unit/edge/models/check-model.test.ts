import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InferenceSession } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { checkModel, checkNodes, FIRST_OPSET, LAST_OPSET } from "../../../../src/edge/models/check-model.ts";
import { checkSizes } from "../../../../src/edge/models/check-graph.ts";
import { OPERATORS } from "../../../../src/onnx/operators.ts";
import type { OnnxModel, OnnxNode, OnnxTensor } from "../../../../src/onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../../../src/onnx/tensor-values.ts";
import { finishSteps } from "../../../../src/onnx/each-field.ts";
import { writeModel } from "../../../../src/onnx/write-model.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { floatValue, modelOf, nodeOf } from "../../onnx/model-of.ts";

const zoo = join(import.meta.dirname, "../../../../models");
const files = readdirSync(zoo, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".onnx"));

const problemsOf = (model: OnnxModel) => {
  const checked = finishSteps(checkModel(writeModel(model)));
  return checked.ok ? [] : checked.problems;
};
const messagesOf = (model: OnnxModel) => problemsOf(model).map(({ message }) => message);
const relu = nodeOf("Relu", ["x"], ["y"]);
const scalar = (name: string, value: number): OnnxTensor => ({ ...integerTensor(name, [value]), dims: [] });
/** A network that computes something of its weights alone and adds it to its input. */
const bomb = (nodes: readonly OnnxNode[], ...tensors: OnnxTensor[]) =>
  modelOf({ nodes: [...nodes, nodeOf("Add", ["x", "big"], ["y"])], tensors });
const one = floatTensor("one", [1], Float32Array.of(1));
const LARGE = 2 ** 28;

describe("a model that arrives", () => {
  it.each(files)("is taken where it is of the zoo: %s", (name) => {
    expect(finishSteps(checkModel(new Uint8Array(readFileSync(join(zoo, name)))))).toMatchObject({ ok: true });
  });

  it("may have the opsets that ONNX Runtime loads, and no others", async () => {
    for (const opset of [FIRST_OPSET, LAST_OPSET]) {
      const model = modelOf({ nodes: [relu], opset });
      expect(problemsOf(model)).toEqual([]);
      await InferenceSession.create(writeModel(model), { logSeverityLevel: 4 });
    }
    const next = modelOf({ nodes: [relu], opset: LAST_OPSET + 1 });
    await expect(InferenceSession.create(writeModel(next), { logSeverityLevel: 4 })).rejects.toThrow(/opset/i);
    for (const opset of [FIRST_OPSET - 1, LAST_OPSET + 1]) {
      const [problem] = problemsOf(modelOf({ nodes: [relu], opset }));
      expect(problem).toEqual({ pointer: "#/opsetImport", message: expect.stringContaining(`has opset ${opset}`) });
    }
  });

  it("may have operators that ONNX Runtime knows at their version", async () => {
    const unknown: string[] = [];
    for (const [domain, operators] of OPERATORS) {
      for (const [operator, since] of operators) {
        const node = { ...nodeOf(operator, ["x"], ["y"]), domain };
        const model = modelOf({ nodes: [node], opset: domain === "" ? since : 21 });
        const domains = new Map(domain === "" ? [] : [[domain, since]]);
        try {
          await InferenceSession.create(writeModel({ ...model, domains }), { logSeverityLevel: 4 });
        } catch (error) {
          if (/not a registered|No Op registered/.test(String(error))) unknown.push(operator);
        }
      }
    }
    expect([...OPERATORS.values()].map(({ size }) => size)).toEqual([201, 20, 124]);
    expect(unknown).toEqual([]);
  });

  it("may have operators of the runtime's other domains that it imports, and of the file's own", () => {
    const fused = { ...nodeOf("FusedGemm", ["x"], ["y"]), domain: "com.microsoft" };
    const model = modelOf({ nodes: [fused] });
    expect(problemsOf({ ...model, domains: new Map([["com.microsoft", 1]]) })).toEqual([]);
    expect(messagesOf(model)).toEqual(["FusedGemm is an operator of com.microsoft, which the file does not import"]);
    const own = { ...nodeOf("Blur", ["x"], ["y"]), domain: "my.shop" };
    const check = (functions: ReadonlySet<string>) => [
      ...checkNodes({ ...modelOf({ nodes: [own] }), functions, domains: new Map([["my.shop", 1]]) }),
    ];
    expect(check(new Set(["my.shop.Blur"]))).toEqual([]);
    expect(check(new Set(["my.shop.Sharpen"]))).toHaveLength(1);
  });

  it("may have no operator of ONNX itself, and then no opset", () => {
    const scaler = { ...nodeOf("Scaler", ["x"], ["y"]), domain: "ai.onnx.ml" };
    const model = modelOf({ nodes: [scaler], opset: 0 });
    expect(problemsOf({ ...model, domains: new Map([["ai.onnx.ml", 1]]) })).toEqual([]);
    expect(messagesOf({ ...model, nodes: [relu], domains: new Map([["ai.onnx.ml", 1]]) })[0]).toContain("has opset 0");
  });

  it("has all that is wrong named at once, each with its node", () => {
    const named = { ...nodeOf("Frobnicate", ["x"], ["a"]), name: "layer1" };
    const foreign = { ...nodeOf("Blur", ["a"], ["b"]), domain: "my.shop" };
    const nodes = [named, foreign, nodeOf("Gelu", ["c"], ["d"]), nodeOf("Relu", ["d"], ["d"])];
    expect(problemsOf(modelOf({ nodes }))).toEqual([
      { pointer: "#/graph/node/0", message: "Frobnicate (layer1) is an operator that ONNX Runtime does not have" },
      {
        pointer: "#/graph/node/1",
        message:
          "Blur is an operator of my.shop, which needs a library of its own: ai.onnx.ml and com.microsoft are taken",
      },
      { pointer: "#/graph/node/2", message: "Gelu is an operator since opset 20, and the file has opset 17" },
      { pointer: "#/graph/node/2", message: "Gelu takes c, which nothing before it gives" },
      { pointer: "#/graph/node/3", message: "Relu gives d, which is there already" },
      { pointer: "#/graph/output/0", message: "the output y is computed by nothing" },
    ]);
  });

  it("has no more problems reported than the limit", () => {
    const nodes = Array.from({ length: LIMITS.modelProblems }, (_, at) => nodeOf("Odd", ["x"], [`y${at}`]));
    const told = problemsOf(modelOf({ nodes }));
    expect(told).toHaveLength(LIMITS.modelProblems);
    // The output without a node is one more.
    expect(told.at(-1)).toEqual({ pointer: "#", message: "has 2 further problems" });
  });

  it("has no cycle", () => {
    const nodes = [nodeOf("Add", ["x", "b"], ["a"]), nodeOf("Relu", ["a"], ["b"]), nodeOf("Relu", ["b"], ["y"])];
    expect(messagesOf(modelOf({ nodes }))).toEqual(["Add takes b, which nothing before it gives"]);
  });

  it("may run graphs of its own", () => {
    for (const operator of ["If", "Loop", "Scan"]) {
      expect(problemsOf(modelOf({ nodes: [nodeOf(operator, ["x"], ["y"])] }))).toEqual([]);
    }
  });

  it.each<[string, OnnxModel]>([
    ["ConstantOfShape", bomb([nodeOf("ConstantOfShape", ["s"], ["big"])], integerTensor("s", [LARGE]))],
    ["Expand", bomb([nodeOf("Expand", ["one", "s"], ["big"])], one, integerTensor("s", [LARGE, 1]))],
    ["Tile", bomb([nodeOf("Tile", ["one", "s"], ["big"])], one, integerTensor("s", [LARGE]))],
    ["Range", bomb([nodeOf("Range", ["a", "b", "c"], ["big"])], scalar("a", 0), scalar("b", LARGE), scalar("c", 1))],
    ["Pad", bomb([nodeOf("Pad", ["one", "s"], ["big"])], one, integerTensor("s", [0, LARGE]))],
    ["RandomNormal", bomb([nodeOf("RandomNormal", [], ["big"], { shape: [LARGE] })])],
    ["HannWindow", bomb([nodeOf("HannWindow", ["s"], ["big"])], scalar("s", LARGE))],
    [
      "Resize",
      modelOf({
        nodes: [nodeOf("Resize", ["x", "", "s"], ["y"])],
        tensors: [floatTensor("s", [2], Float32Array.of(1, LARGE))],
      }),
    ],
    [
      "ConvTranspose",
      modelOf({
        inputs: [floatValue("x", ["n", 1, 2])],
        nodes: [nodeOf("ConvTranspose", ["x", "w"], ["y"], { strides: [LARGE] })],
        tensors: [floatTensor("w", [1, 1, 1], Float32Array.of(1))],
      }),
    ],
    [
      "MatMul",
      modelOf({
        nodes: [
          nodeOf("Expand", ["one", "s"], ["row"]),
          nodeOf("Transpose", ["row"], ["column"]),
          nodeOf("MatMul", ["column", "row"], ["big"]),
          nodeOf("Add", ["x", "big"], ["y"]),
        ],
        tensors: [one, integerTensor("s", [1, 2 ** 14])],
      }),
    ],
    [
      "Concat",
      modelOf({
        nodes: [
          ...Array.from({ length: 30 }, (_, at) =>
            nodeOf("Concat", [at === 0 ? "x" : `x${at}`, at === 0 ? "x" : `x${at}`], [`x${at + 1}`], { axis: 1 }),
          ),
          nodeOf("Relu", ["x30"], ["y"]),
        ],
      }),
    ],
  ])("takes no more memory than there is room for: %s", (operator, model) => {
    const [problem] = problemsOf(model);
    expect(problem?.message).toMatch(new RegExp(`^${operator} brings what one row takes to \\d+ bytes`));
  });

  it("may have values of a size that only a run shows", () => {
    const grown = modelOf({
      inputs: [floatValue("x", ["n", 4]), { name: "s", dtype: "int64", shape: [2] }],
      nodes: [nodeOf("Expand", ["x", "s"], ["y"])],
    });
    expect(problemsOf(grown)).toEqual([]);
    expect(problemsOf(bomb([nodeOf("Unique", ["one"], ["big"])], one))).toEqual([]);
    expect(problemsOf(modelOf({ nodes: [nodeOf("Unique", ["x"], ["y"])] }))).toEqual([]);
  });

  it("may take as much as the limit says", () => {
    const fill = (size: number) => bomb([nodeOf("ConstantOfShape", ["s"], ["big"])], integerTensor("s", [size]));
    // Half of it is the filled part, half the sum with the input.
    const most = (size: number) => ({
      ...fill(size),
      inputs: [floatValue("x", ["n", 1])],
    });
    const room = LIMITS.modelActivationBytes / 8;
    expect(messagesOf(most(room))).toEqual([]);
    expect(messagesOf(most(room + 1))).toHaveLength(1);
  });

  it("may take as much at any time, however much it takes in all", () => {
    const size = LIMITS.modelActivationBytes / 4 / 4;
    const half = new Map(["a", "b", "c", "y"].map((name) => [name, [2 * size]]));
    const chain = [["x"], ["a"], ["b"]].map((inputs, at) => nodeOf("Neg", inputs, ["abc"[at]!]));
    expect(checkSizes(modelOf({ nodes: [...chain, nodeOf("Neg", ["c"], ["y"])] }), half)).toEqual([]);
    const kept = modelOf({ nodes: [...chain, nodeOf("Sum", ["a", "b", "c"], ["y"])] });
    expect(checkSizes(kept, half)[0]?.message).toMatch(/^Neg brings what one row takes to/);
  });

  it("may have as much in weights as the limit says", () => {
    const holding = (bytes: number) => {
      const tensors = [{ name: "w", dtype: "uint8" as const, dims: [bytes], bytes: new Uint8Array() }];
      return checkSizes(modelOf({ nodes: [relu], tensors }), new Map());
    };
    expect(holding(LIMITS.modelWeightBytes)).toEqual([]);
    expect(holding(LIMITS.modelWeightBytes + 1)[0]?.message).toContain("has weights of");
  });

  it("has names of a length that messages can have", () => {
    const name = "n".repeat(LIMITS.modelNameLength);
    const through = (middle: string) =>
      modelOf({ nodes: [nodeOf("Relu", ["x"], [middle]), nodeOf("Relu", [middle], ["y"])] });
    expect(problemsOf(through(name))).toEqual([]);
    expect(messagesOf(through(`${name}n`))[0]).toContain(`more than ${LIMITS.modelNameLength} characters`);
  });

  it("has as many nodes and parts as the limits say", () => {
    const chain = (count: number) =>
      modelOf({
        nodes: Array.from({ length: count }, (_, at) =>
          nodeOf("Relu", [at === 0 ? "x" : `x${at}`], [at === count - 1 ? "y" : `x${at + 1}`]),
        ),
      });
    expect(problemsOf(chain(LIMITS.modelNodes))).toEqual([]);
    expect(messagesOf(chain(LIMITS.modelNodes + 1))[0]).toContain(`more than ${LIMITS.modelNodes} nodes`);
    const many = { ...relu, inputs: Array.from({ length: LIMITS.modelPieces * 8 }, () => "") };
    expect(messagesOf(modelOf({ nodes: [many] }))[0]).toContain(`more than ${LIMITS.modelPieces} parts`);
  });

  it("of many parts is checked in many steps", () => {
    const attributes = new Map(Array.from({ length: 14 }, (_, at) => [`a${at}`, { kind: "int", value: at } as const]));
    const nodes = Array.from({ length: LIMITS.modelNodes }, (_, at) => ({
      ...nodeOf("Identity", [at === 0 ? "x" : `x${at}`], [at === LIMITS.modelNodes - 1 ? "y" : `x${at + 1}`]),
      attributes,
    }));
    const steps = checkModel(writeModel(modelOf({ nodes })));
    let rests = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) rests++;
    expect(rests).toBeGreaterThan(150);
  });

  it("is unpacked", () => {
    const zip = new TextEncoder().encode("PK\u0003\u0004 …");
    const checkedOf = (file: Uint8Array) => finishSteps(checkModel(file));
    expect(checkedOf(zip)).toMatchObject({ problems: [{ message: "the file is a zip archive: unpack it first" }] });
    const gzip = Uint8Array.of(0x1f, 0x8b, 8, 0);
    expect(checkedOf(gzip)).toMatchObject({ problems: [{ message: "the file is a gzip archive: unpack it first" }] });
  });
});
