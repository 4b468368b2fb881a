import { writeOnnxMlp } from "../../../../../models/onnx-mlp-writer.ts";
import type { TensorSpec } from "../../../../../src/protocol/models/model.ts";
import { sfc32 } from "../../../../../src/stats/random/seeded.ts";
import { writeSafetensors } from "../../../protocol/write-safetensors.ts";

export const INPUTS = 12;
export const CLASSES = 5;
export const inputSpecs: TensorSpec[] = [{ name: "x", dtype: "float32", shape: [-1, INPUTS] }];

/** Numbers between −1 and 1 by a seed. */
export function drawMany(count: number, seed: number): Float32Array<ArrayBuffer> {
  const draw = sfc32(seed);
  return Float32Array.from({ length: count }, () => draw(2 ** 24) * 2 ** -23 - 1);
}

/** A classifier with a hidden layer of this many neurons, wide enough that lower ranks pay. */
export function classifier(width = 32): Uint8Array<ArrayBuffer> {
  const widths = [INPUTS, width, CLASSES];
  const layers = widths.slice(1).map((outputs, layer) => ({
    inputs: widths[layer]!,
    outputs,
    weights: drawMany(outputs * widths[layer]!, 1 + layer),
    bias: new Float32Array(outputs),
  }));
  return writeOnnxMlp({ name: "small", input: "x", output: "scores", layers });
}

/** Data of it with these labels. */
export function dataOf(labels: readonly number[], metric = "accuracy"): Uint8Array<ArrayBuffer> {
  const rows = labels.length;
  const bytes = new Uint8Array(drawMany(rows * INPUTS, 9).buffer);
  return writeSafetensors(
    {
      "input.x": { dtype: "F32", shape: [rows, INPUTS], bytes },
      target: { dtype: "U8", shape: [rows], bytes: Uint8Array.from(labels) },
      baseline: { dtype: "F32", shape: [1, CLASSES], bytes: new Uint8Array(4 * CLASSES) },
    },
    { metric },
  );
}
