import { setTimeout as delay } from "node:timers/promises";
import { writeOnnxMlp } from "../../models/onnx-mlp-writer.ts";
import type { Client } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { encodeFrame } from "../../src/protocol/wire/frame.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import { sfc32 } from "../../src/stats/random/seeded.ts";

export const MODEL = "soak";
const INPUTS = 64;
const HIDDEN = 2_560;
const OUTPUTS = 8;
/**
 * Rows of a request: enough that computing takes many times as long as the way, so that the runner is the bottleneck.
 */
const ROWS = 64;
const CALIBRATION_LIMIT_MS = 180_000;

/** Uploads the network and waits until the runner serves it. */
export async function placeNetwork(client: Client): Promise<void> {
  const content = writeNetwork();
  await client.call(endpoints.uploadModel, {
    query: { name: MODEL },
    rawBody: { mediaType: "application/octet-stream", content },
  });
  const endMs = performance.now() + CALIBRATION_LIMIT_MS;
  while (performance.now() < endMs) {
    const { items } = await client.call(endpoints.listPlacements, { params: { model: MODEL } });
    if (items.some(({ state, backend }) => state === "eligible" && backend === "ort-cpu")) return;
    await delay(200);
  }
  throw new Error(`the network was not calibrated within ${CALIBRATION_LIMIT_MS / 1e3} s`);
}

/** A request of this many rows within a budget, as a frame. */
export function writeRequest(budgetMs: number): Uint8Array<ArrayBuffer> {
  const values = drawMany(ROWS * INPUTS, 3);
  const bytes = new Uint8Array(values.buffer);
  const tensor: Tensor = { name: "x", dtype: "float32", shape: [ROWS, INPUTS], bytes };
  return encodeFrame({ model: MODEL, budgetMs, backend: "ort-cpu" }, [tensor]);
}

function writeNetwork(): Uint8Array<ArrayBuffer> {
  const sizes = [INPUTS, HIDDEN, HIDDEN, OUTPUTS];
  const layers = sizes.slice(1).map((outputs, index) => {
    const inputs = sizes[index]!;
    const weights = drawMany(inputs * outputs, index).map((weight) => weight / Math.sqrt(inputs));
    return { inputs, outputs, weights, bias: new Float32Array(outputs) };
  });
  return writeOnnxMlp({ name: MODEL, input: "x", output: "y", layers });
}

function drawMany(count: number, seed: number): Float32Array<ArrayBuffer> {
  const draw = sfc32(seed);
  return Float32Array.from({ length: count }, () => draw(2 ** 24) * 2 ** -23 - 1);
}
