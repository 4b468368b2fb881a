import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { floatTensor } from "../../../src/onnx/tensor-values.ts";
import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { readModel } from "../../../src/onnx/read-model.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";
import { countElements, type Tensor, typedView } from "../../../src/protocol/wire/tensor.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { OrtBackend } from "../../../src/gpu-runner/devices/ort/ort-backend.ts";
import { openAdapters } from "../open-adapters.ts";

const TOLERANCE = 1e-4;
const ORT = new OrtBackend("cpu");

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

/** A network with one input `x` and one output `y`, whose first axes are the batch's. */
export function network(
  nodes: readonly OnnxNode[],
  {
    x,
    y,
    tensors = [],
    opset = 17,
  }: {
    readonly x: readonly number[];
    readonly y: readonly number[];
    readonly tensors?: readonly OnnxTensor[];
    readonly opset?: number;
  },
): OnnxModel {
  return {
    irVersion: 8,
    opset,
    domains: new Map(),
    name: "net",
    nodes,
    weights: new Map(tensors.map((tensor) => [tensor.name, tensor])),
    inputs: [{ name: "x", dtype: "float32", shape: ["batch", ...x] }],
    outputs: [{ name: "y", dtype: "float32", shape: ["batch", ...y] }],
  };
}

/** Seeded inputs of a network, between -1 and 1; multiples of a step if there is one. */
function inputsOf(model: OnnxModel, rows: number, step: number): Tensor[] {
  const toStep = (value: number) => (step === 0 ? value : step * Math.round(value / step));
  return model.inputs.map(({ name, shape: sizes }, index) => {
    const shape = sizes.map((size) => (typeof size === "number" ? size : rows));
    const values = Float32Array.from(seededUniform(7 + index, 0, countElements(shape)), toStep);
    return { name, dtype: "float32", shape, bytes: new Uint8Array(values.buffer) };
  });
}

/** Compares all adapters' answers with the CPU provider's, by batches of several sizes. */
export async function expectAgreement(
  file: Uint8Array,
  { rows = [1, 3, 8], tolerance = TOLERANCE, step = 0 } = {},
): Promise<void> {
  const model = readModel(file);
  await ORT.load("net", file);
  for (const adapter of await openAdapters()) {
    await adapter.loadModel({ modelKey: "net", read: async () => file });
    for (const count of rows) {
      const inputs = inputsOf(model, count, step);
      const { tensors: expected } = await ORT.run("net", inputs);
      const { tensors } = await adapter.infer("net", inputs, { requestId: "req" });
      expect(tensors.map(({ name, shape }) => ({ name, shape }))).toEqual(
        expected.map(({ name, shape }) => ({ name, shape })),
      );
      for (const [index, tensor] of tensors.entries()) expectClose(tensor, expected[index]!, tolerance);
    }
    await adapter.unloadModel("net");
  }
}

/** The largest difference, held against the largest element. */
function expectClose(found: Tensor, expected: Tensor, tolerance: number): void {
  const [a, b] = [typedView(found) as Float32Array, typedView(expected) as Float32Array];
  const scale = b.reduce((largest, value) => Math.max(largest, Math.abs(value)), 1e-6);
  const worst = a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - b[index]!)), 0);
  expect(a.every(Number.isFinite)).toBe(true);
  expect(worst / scale).toBeLessThan(tolerance);
}

/** The same for a network that was made here. */
export function expectModel(model: OnnxModel, options = {}): Promise<void> {
  return expectAgreement(writeModel(model), options);
}

/** The same for one of the zoo's files. */
export async function expectFile(path: string, options = {}): Promise<void> {
  await expectAgreement(await readFile(new URL(`../../../models/${path}`, import.meta.url)), options);
}
