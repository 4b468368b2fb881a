import type { CompressionResult } from "../../../src/protocol/jobs/compression.ts";
import { calibrationResult } from "./samples.ts";

interface Floats {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** A safetensors file of float32 tensors, end to end. */
function writeFile(tensors: Readonly<Record<string, Floats>>, metric: string): Uint8Array<ArrayBuffer> {
  let at = 0;
  const entries = Object.entries(tensors).map(([name, { shape, values }]) => {
    const from = at;
    at += 4 * values.length;
    return [name, { dtype: "F32", shape, data_offsets: [from, at] }] as const;
  });
  const header = JSON.stringify({ __metadata__: { metric }, ...Object.fromEntries(entries) });
  // Floats begin at a multiple of four.
  const text = new TextEncoder().encode(header.padEnd(4 * Math.ceil(header.length / 4)));
  const values = Float32Array.from(Object.values(tensors).flatMap((tensor) => tensor.values));
  const file = new Uint8Array(8 + text.length + values.byteLength);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  file.set(new Uint8Array(values.buffer), 8 + text.length);
  return file;
}

interface DataChanges {
  readonly rows?: number;
  readonly inputs?: number;
  readonly input?: string;
  readonly outputs?: number;
  readonly labels?: readonly number[];
  readonly metric?: string;
}

/** Data of a network with four inputs, called `observation`, and scores of two classes. */
export function dataFile(changes: DataChanges = {}): Uint8Array<ArrayBuffer> {
  const { rows = 12, inputs = 4, input = "observation", outputs = 2, metric = "accuracy" } = changes;
  const { labels = Array.from({ length: rows }, (_, row) => row % 2) } = changes;
  const observations = Array.from({ length: rows * inputs }, (_, place) => place / 10);
  return writeFile(
    {
      [`input.${input}`]: { shape: [rows, inputs], values: observations },
      target: { shape: [rows], values: labels },
      baseline: { shape: [1, outputs], values: Array.from({ length: outputs }, () => 0) },
    },
    metric,
  );
}

/** A runner's result for an int8 variant of cartpole. */
export function compressionResult(
  changes: Pick<CompressionResult, "modelVersionId" | "variant" | "file"> & Partial<CompressionResult>,
): CompressionResult {
  return {
    kind: "compression",
    model: "cartpole@1",
    recipe: { method: "int8", activations: "float", calibrationRows: 128 },
    chosenEnergy: null,
    calibration: null,
    parentBytes: 1_000,
    changed: [{ layer: "hidden1", operator: "Gemm", what: "weights as int8" }],
    left: [],
    fidelity: {
      basis: "metric",
      value: 0.9,
      metric: "accuracy",
      rows: 12,
      parent: 1,
      variant: 0.9,
      difference: { value: -0.1, low: -0.2, high: 0 },
    },
    publication: null,
    environment: calibrationResult("").placements[0]!.environment,
    ...changes,
  };
}
