import { encodeFrame } from "../../src/protocol/wire/frame.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import { writeOnnxGraph } from "../../src/gpu-runner/devices/ort/write-onnx-graph.ts";

/** Payload; the same bytes with the sign turned come back. */
export interface HopCase {
  readonly values: Float32Array<ArrayBuffer>;
  /** Over the edge, or with a ticket to the runner's own listener. */
  readonly way: "edge" | "direct";
}

/** Wide enough that no pause of a busy machine causes a refusal. */
export const BUDGET_MS = 60_000;

/** The name of the case's model. */
export function nameModel({ values }: HopCase): string {
  return `negate-${values.length}`;
}

/** A network y = −x of the case's length: a fixed shape, almost no work, and an answer that differs from the input. */
export function writeModel(input: HopCase): Uint8Array<ArrayBuffer> {
  const shape = [1, input.values.length];
  return writeOnnxGraph({
    name: nameModel(input),
    inputs: [{ name: "x", shape }],
    outputs: [{ name: "y", shape }],
    nodes: [{ operator: "Neg", inputs: ["x"], output: "y" }],
  });
}

/** Request of a case; on the direct way the ticket names the model. */
export function writeFrame(input: HopCase): Uint8Array<ArrayBuffer> {
  const header = input.way === "edge" ? { model: nameModel(input), budgetMs: BUDGET_MS } : {};
  return encodeFrame(header, [createTensor(input)]);
}

function createTensor({ values }: HopCase): Tensor {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { name: "x", dtype: "float32", shape: [1, values.length], bytes };
}
