import { describe, expect, it } from "vitest";
import { planNetwork } from "../../../src/gpu-runner/networks/plan-network.ts";
import { scheduleOperators } from "../../../src/gpu-runner/networks/schedule-operators.ts";
import type { OnnxModel, OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../../src/onnx/tensor-values.ts";
import { PLAIN } from "../../../src/protocol/models/network-layout.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { countElements, type Tensor, typedView } from "../../../src/protocol/wire/tensor.ts";
import { openAdapters } from "../open-adapters.ts";
import { expectModel, network, node, weights } from "./agreement.ts";

const TIMEOUT_MS = 300_000;
const NARROW = { ...PLAIN, lanes: 4, spreadFrom: 30_000, hasNarrowProducts: true };

/** Multiples of 1/127, one of which is 1 in each sixteen: rounding rows or blocks to 8 bits changes none of them. */
const EXACT = [1, ...Array.from({ length: 12 }, (_, at) => ((at * 41 + 17) % 255) / 127 - 1)].map(
  (value) => Math.round(value * 127) / 127,
);

/** Whole numbers of all magnitudes of a type. */
function levels(name: string, dims: readonly number[], dtype: "int8" | "int4"): OnnxTensor {
  const values = Int8Array.from({ length: countElements(dims) }, (_, at) => ((at * 89 + (at >> 4)) % 255) - 127);
  if (dtype === "int8") return { name, dtype, dims, bytes: new Uint8Array(values.buffer) };
  const bytes = new Uint8Array(Math.ceil(values.length / 2));
  for (const [at, value] of values.entries()) bytes[at >> 1]! |= ((value >> 4) & 15) << (4 * (at & 1));
  return { name, dtype, dims, bytes };
}

/** Eighths: products by sixteenths are exact in 16 bits, and so are sums of eight of them. */
const EIGHTHS = Array.from({ length: 13 }, (_, at) => ((at * 5 + 3) % 17) / 8 - 1);

/** Sixteenths between -1 and 1, or ones around a number. */
function halves(name: string, dims: readonly number[], seed: number, around = 0): OnnxTensor {
  const floats = floatsOf(weights(name, dims, seed));
  const bytes = new Uint8Array(Float16Array.from(floats, (value) => Math.round(16 * value) / 16 + around).buffer);
  return { name, dtype: "float16", dims, bytes };
}

/** Programs of the dispatches that round rows or compute products by slices. */
const stepsOf = (model: OnnxModel) =>
  scheduleOperators(planNetwork(model).operators, NARROW).flatMap(({ entry, tile }) => {
    if (entry === "round_rows") return ["round"];
    return tile?.variant.file === "narrow-matrices.wgsl" ? [`narrow ${tile.isAligned}`] : [];
  });

const adapters = await openAdapters();
const hasHalves = adapters.some(({ device }) => device.features.includes("shader-f16"));
const TOKENS = 33;
const FLOAT32 = 1;

/** Two products of one value, and what may follow them. */
function layer(inputs: number, filters: number, dtype: "int8" | "int4", block = 0): OnnxModel {
  const scales = block === 0 ? [filters] : [Math.ceil(inputs / block), filters];
  const widen = block === 0 ? { axis: 1 } : { axis: 0, block_size: block };
  return network(
    [
      node("DequantizeLinear", ["w8", "ws"], ["w"], widen),
      node("DequantizeLinear", ["v8", "vs"], ["v"], widen),
      node("MatMul", ["x", "w"], ["m"]),
      node("Add", ["m", "b"], ["h"]),
      node("Relu", ["h"], ["r"]),
      node("MatMul", ["x", "v"], ["n"]),
      node("Add", ["n", "r"], ["y"]),
    ],
    {
      x: [TOKENS, inputs],
      y: [TOKENS, filters],
      opset: 21,
      tensors: [
        levels("w8", [inputs, filters], dtype),
        levels("v8", [inputs, filters], dtype),
        positive("ws", scales, 2),
        positive("vs", scales, 3),
        weights("b", [filters], 4),
      ],
    },
  );
}

function positive(name: string, dims: readonly number[], seed: number): OnnxTensor {
  const { bytes } = weights(name, dims, seed);
  return floatTensor(
    name,
    dims,
    new Float32Array(bytes.slice().buffer).map((value) => 0.001 + Math.abs(value) / 100),
  );
}

describe("products in whole numbers give the answers of the CPU provider", { timeout: TIMEOUT_MS }, () => {
  it.each([
    { inputs: 256, filters: 256, dtype: "int8", block: 0 },
    { inputs: 250, filters: 258, dtype: "int8", block: 0 },
    { inputs: 256, filters: 264, dtype: "int4", block: 32 },
    { inputs: 272, filters: 258, dtype: "int4", block: 16 },
  ] as const)("for $inputs inputs and $filters outputs of $dtype by blocks of $block", async (given) => {
    const { inputs, filters, dtype, block } = given;
    const model = layer(inputs, filters, dtype, block);
    const isAligned = filters % 4 === 0;
    expect(stepsOf(model)).toEqual(["round", `narrow ${isAligned}`, `narrow ${isAligned}`]);
    await expectModel(model, { rows: [1, 3], layout: NARROW, given: EXACT, tolerance: 1e-3 });
  });

  it("with NaN in the rows alone that have a number that is none", async () => {
    const model = layer(256, 256, "int8");
    const product = { ...model, nodes: [model.nodes[0]!, { ...model.nodes[2]!, outputs: ["y"] }] };
    const values = Float32Array.from({ length: TOKENS * 256 }, (_, at) => EXACT[at % EXACT.length]!);
    values[256 + 7] = Number.NaN;
    values[5 * 256] = Number.POSITIVE_INFINITY;
    for (const adapter of await openAdapters()) {
      await adapter.loadModel({
        modelKey: "net",
        layouts: { "any rows": NARROW },
        onChosen: () => expect.fail("the layout was refused"),
        read: async () => writeModel(product),
      });
      const x: Tensor = {
        name: "x",
        dtype: "float32",
        shape: [1, TOKENS, 256],
        bytes: new Uint8Array(values.buffer),
      };
      const { tensors } = await adapter.infer("net", [x], { requestId: "req" });
      await adapter.unloadModel("net");
      const found = typedView(tensors[0]!) as Float32Array;
      const rows = Array.from({ length: TOKENS }, (_, row) => found.subarray(256 * row, 256 * (row + 1)));
      expect(rows.flatMap((row, at) => (row.every(Number.isNaN) ? [at] : []))).toEqual([1, 5]);
      expect(rows.flatMap((row, at) => (row.every(Number.isFinite) ? [at] : []))).toHaveLength(TOKENS - 2);
    }
  });
});

/** Two products by float16 weights, one of which an activation follows. */
function layerInHalves(inputs: number, filters: number, around = 0): OnnxModel {
  const widen = (name: string) => node("Cast", [`${name}16`], [name], { to: FLOAT32 });
  return network(
    [
      widen("w"),
      widen("v"),
      node("MatMul", ["x", "w"], ["m"]),
      node("Relu", ["m"], ["r"]),
      node("MatMul", ["x", "v"], ["n"]),
      node("Add", ["n", "r"], ["y"]),
    ],
    {
      x: [TOKENS, inputs],
      y: [TOKENS, filters],
      tensors: [halves("w16", [inputs, filters], 1, around), halves("v16", [inputs, filters], 2)],
    },
  );
}

// Without the feature they are float32, as on SwiftShader; llvmpipe has it.
describe.skipIf(!hasHalves)("products in float16 give the answers of the CPU provider", { timeout: TIMEOUT_MS }, () => {
  it.each([
    { inputs: 256, filters: 256 },
    { inputs: 250, filters: 258 },
  ])("for $inputs inputs and $filters outputs", async ({ inputs, filters }) => {
    const model = layerInHalves(inputs, filters);
    const isAligned = filters % 4 === 0;
    expect(stepsOf(model)).toEqual(["round", `narrow ${isAligned}`, `narrow ${isAligned}`]);
    await expectModel(model, { rows: [1, 3], layout: NARROW, given: EIGHTHS, tolerance: 1e-5 });
  });

  it("whatever the size of the activations", async () => {
    const model = layerInHalves(256, 256);
    for (const scale of [2 ** -60, 2 ** 60]) {
      const given = EIGHTHS.map((value) => scale * value);
      await expectModel(model, { rows: [1], layout: NARROW, given, tolerance: 1e-5 });
    }
  });
});

it("multiplies in float16 by weights whose products it can hold", () => {
  expect(stepsOf(layerInHalves(256, 256, 4090))).toEqual(["round", "narrow true", "narrow true"]);
  expect(stepsOf(layerInHalves(256, 256, 4096))).toEqual(["round", "narrow true"]);
});

it("computes small products, and those of weights behind another node, in floats", () => {
  const { nodes, ...rest } = layer(256, 256, "int8");
  const shaped = {
    ...rest,
    nodes: [nodes[0]!, node("Identity", ["w"], ["same"]), { ...nodes[2]!, inputs: ["x", "same"], outputs: ["y"] }],
  };
  expect([layer(64, 64, "int8"), shaped].map(stepsOf)).toEqual([[], []]);
});
