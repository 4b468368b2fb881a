import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { floatTensor } from "../../../src/onnx/tensor-values.ts";
import type { OnnxAttribute, OnnxDtype, OnnxModel, OnnxNode, OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { readModel } from "../../../src/onnx/read-model.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { countElements, type Tensor, typedView } from "../../../src/protocol/wire/tensor.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { OrtBackend } from "../../../src/gpu-runner/devices/ort/ort-backend.ts";
import type { NetworkLayout } from "../../../src/protocol/models/network-layout.ts";
import { openAdapters } from "../open-adapters.ts";

const TOLERANCE = 1e-4;
export const ORT = new OrtBackend("cpu");

type Attributes = Readonly<Record<string, number | readonly number[] | string>>;

/** A node; `floats` names the attributes that are floats, others are whole numbers. */
export function node(
  operator: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Attributes = {},
  floats: readonly string[] = [],
): OnnxNode {
  const toAttribute = (name: string, value: Attributes[string]): OnnxAttribute => {
    if (typeof value === "string") return { kind: "string", value };
    if (typeof value === "number") return { kind: floats.includes(name) ? "float" : "int", value };
    return { kind: "ints", value };
  };
  const entries = Object.entries(attributes).map(([name, value]) => [name, toAttribute(name, value)] as const);
  return { name: "", operator, domain: "", inputs, outputs, attributes: new Map(entries) };
}

/** Weights between -1 and 1. */
export function weights(name: string, dims: readonly number[], seed = 1): OnnxTensor {
  return floatTensor(name, dims, Float32Array.from(seededUniform(seed, 0, countElements(dims))));
}

/** A network with one input `x` and one output `y`, whose first axes are the batch's, or of a fixed size. */
export function network(
  nodes: readonly OnnxNode[],
  {
    x,
    y,
    tensors = [],
    opset = 17,
    rows = "batch",
    dtype = "float32",
  }: {
    readonly x: readonly number[];
    readonly y: readonly number[];
    readonly tensors?: readonly OnnxTensor[];
    readonly opset?: number;
    readonly rows?: "batch" | number;
    readonly dtype?: OnnxDtype;
  },
): OnnxModel {
  return {
    irVersion: 8,
    opset,
    domains: new Map(),
    name: "net",
    nodes,
    weights: new Map(tensors.map((tensor) => [tensor.name, tensor])),
    inputs: [{ name: "x", dtype: "float32", shape: [rows, ...x] }],
    outputs: [{ name: "y", dtype, shape: [rows, ...y] }],
  };
}

/** Seeded inputs of a network, between -1 and 1; multiples of a step if there is one. Or these values again and again. */
function inputsOf(model: OnnxModel, rows: number, step: number, given: readonly number[]): Tensor[] {
  const toStep = (value: number, at: number) => {
    if (given.length > 0) return given[at % given.length]!;
    return step === 0 ? value : step * Math.round(value / step);
  };
  return model.inputs.map(({ name, dtype, shape: sizes }, index) => {
    const shape = sizes.map((size) => (typeof size === "number" ? size : rows));
    const values = Float32Array.from(seededUniform(7 + index, 0, countElements(shape)), toStep);
    if (dtype !== "int64") return { name, dtype: "float32", shape, bytes: new Uint8Array(values.buffer) };
    return { name, dtype, shape, bytes: new Uint8Array(BigInt64Array.from(values, BigInt).buffer) };
  });
}

/** Compares all adapters' answers with the CPU provider's, by batches of several sizes. */
export async function expectAgreement(
  file: Uint8Array,
  {
    rows = [1, 3, 8],
    tolerance = TOLERANCE,
    step = 0,
    given = [],
    layout,
  }: {
    rows?: readonly number[];
    tolerance?: number;
    step?: number;
    given?: readonly number[];
    layout?: NetworkLayout;
  } = {},
): Promise<void> {
  const model = readModel(file);
  await ORT.load("net", file);
  for (const adapter of await openAdapters()) {
    const layouts = layout && { "any rows": layout, "heavy sizes": layout, "light sizes": layout };
    // A layout that the device refuses would be replaced by one that is measured.
    const refuse = () => expect.fail("the layout was refused");
    await adapter.loadModel({
      modelKey: "net",
      ...(layouts && { layouts, onChosen: refuse }),
      read: async () => file,
    });
    for (const count of rows) {
      const inputs = inputsOf(model, count, step, given);
      const { tensors: expected } = await ORT.run("net", inputs);
      const { tensors } = await adapter.infer("net", inputs, { requestId: "req" });
      expect(tensors.map(({ name, shape }) => ({ name, shape }))).toEqual(
        expected.map(({ name, shape }) => ({ name, shape })),
      );
      for (const [index, tensor] of tensors.entries()) {
        if (given.length > 0) expectEach(tensor, expected[index]!, tolerance);
        else expectClose(tensor, expected[index]!, tolerance);
      }
    }
    await adapter.unloadModel("net");
  }
}

/** The largest difference, held against the largest element. */
export function expectClose(found: Tensor, expected: Tensor, tolerance = TOLERANCE): void {
  const [a, b] = [found, expected].map((tensor) =>
    Float32Array.from(typedView(tensor) as ArrayLike<number>, Number),
  ) as [Float32Array, Float32Array];
  const scale = b.reduce((largest, value) => Math.max(largest, Math.abs(value)), 1e-6);
  const worst = a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - b[index]!)), 0);
  expect(a.every(Number.isFinite)).toBe(true);
  expect(worst / scale).toBeLessThan(tolerance);
}

/** Each element by itself: NaN and infinities are the same, others differ by little. */
function expectEach(found: Tensor, expected: Tensor, tolerance: number): void {
  const [a, b] = [found, expected].map((tensor) => Array.from(typedView(tensor) as ArrayLike<number>, Number));
  const wrong = b!.flatMap((want, at) => {
    const have = a![at]!;
    const isClose = Math.abs(have - want) <= tolerance * Math.max(1, Math.abs(want));
    return Object.is(have, want) || have === want || (Number.isFinite(want) && isClose) ? [] : [{ at, have, want }];
  });
  expect(wrong).toEqual([]);
}

/** The same for a network that was made here. */
export function expectModel(model: OnnxModel, options = {}): Promise<void> {
  return expectAgreement(writeModel(model), options);
}

/** The same for one of the zoo's files. */
export async function expectFile(path: string, options = {}): Promise<void> {
  await expectAgreement(await readFile(new URL(`../../../models/${path}`, import.meta.url)), options);
}
