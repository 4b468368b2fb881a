import { writeOnnxMlp } from "../../../models/onnx-mlp-writer.ts";
import type { OnnxNode, OnnxTensor } from "../../../src/onnx/onnx-model.ts";
import { floatTensor } from "../../../src/onnx/tensor-values.ts";
import { writeModel } from "../../../src/onnx/write-model.ts";

/** Network of another project served beside all that: y = 2·x + 1. */
export const victimFile = writeOnnxMlp({
  name: "victim",
  input: "x",
  output: "y",
  layers: [{ inputs: 1, outputs: 1, weights: Float32Array.of(2), bias: Float32Array.of(1) }],
});

function node(operator: string, inputs: readonly string[], output: string): OnnxNode {
  return { name: "", operator, domain: "", inputs, outputs: [output], attributes: new Map() };
}

/** A network of `x`, rows of this many numbers, whose outputs have the given shapes. */
function network(
  nodes: readonly OnnxNode[],
  width: number,
  outputs: Readonly<Record<string, readonly (number | string)[]>>,
  weights: readonly OnnxTensor[] = [],
): Uint8Array<ArrayBuffer> {
  return writeModel({
    irVersion: 8,
    opset: 17,
    domains: new Map(),
    name: "hostile",
    nodes,
    weights: new Map(weights.map((tensor) => [tensor.name, tensor])),
    inputs: [{ name: "x", dtype: "float32", shape: ["batch", width] }],
    outputs: Object.entries(outputs).map(([name, shape]) => ({ name, dtype: "float32", shape })),
  });
}

/** Makes this many numbers of each row, and one of these: harmless in a row, huge in a batch. */
export function growingFile(elements: number): Uint8Array<ArrayBuffer> {
  const shape = new Uint8Array(BigInt64Array.of(1n, BigInt(elements)).buffer);
  const nodes = [node("Expand", ["x", "wide"], "much"), node("Relu", ["much"], "all"), node("ReduceMax", ["all"], "y")];
  return network(nodes, 1, { y: [1, 1] }, [{ name: "wide", dtype: "int64", dims: [2], bytes: shape }]);
}

/** Multiplies by one matrix again and again: 2 · width² · times operations a row. */
export function slowFile(width: number, times: number): Uint8Array<ArrayBuffer> {
  const nodes = chain(times, (input, output) => node("MatMul", [input, "w"], output));
  const weights = floatTensor("w", [width, width], new Float32Array(width ** 2).fill(1 / width));
  return network(nodes, width, { y: ["batch", width] }, [weights]);
}

/** This many operators in a chain. */
export function deepFile(nodes: number): Uint8Array<ArrayBuffer> {
  return network(
    chain(nodes, (input, output) => node("Neg", [input], output)),
    1,
    { y: ["batch", 1] },
  );
}

/** This many operators side by side, with as many outputs. */
export function wideFile(outputs: number): Uint8Array<ArrayBuffer> {
  const names = Array.from({ length: outputs }, (_, index) => `y${index}`);
  const ends = Object.fromEntries(names.map((name) => [name, ["batch", 1]]));
  return network(
    names.map((name) => node("Neg", ["x"], name)),
    1,
    ends,
  );
}

/** Multiplies by NaN and infinities. */
export function stormyFile(): Uint8Array<ArrayBuffer> {
  const values = Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e38);
  const nodes = [node("MatMul", ["x", "w"], "h"), node("Mul", ["h", "h"], "y")];
  return network(nodes, 1, { y: ["batch", 4] }, [floatTensor("w", [1, 4], values)]);
}

function chain(length: number, link: (input: string, output: string) => OnnxNode): OnnxNode[] {
  const nameOf = (index: number) => (index === 0 ? "x" : index === length ? "y" : `h${index}`);
  return Array.from({ length }, (_, index) => link(nameOf(index), nameOf(index + 1)));
}
