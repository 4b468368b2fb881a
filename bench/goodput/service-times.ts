import { median } from "../../src/stats/distribution/summary.ts";
import type { ModelDevice } from "./model-device.ts";
import { createInput, type ModelName, MODELS } from "./served-models.ts";

/** Milliseconds of a batch of each size, from one row on: index 0 is a single row. */
export type ServiceTimes = Readonly<Record<ModelName, readonly number[]>>;

const MEASURED_ROWS = [1, 2, 4, 8, 16, 32, 64];
const WARMUP = 10;
/** Fewer runs of large batches: enough for a median. */
const RUNS = 200;
const FEWEST_RUNS = 7;

/** Measures batches on an idle device as a caller sees them: the median, linearly interpolated between the sizes. */
export async function measureServiceTimes(device: ModelDevice): Promise<ServiceTimes> {
  const times: Partial<Record<ModelName, readonly number[]>> = {};
  for (const model of MODELS) {
    const known: [number, number][] = [];
    for (const rows of MEASURED_ROWS) known.push([rows, await measureBatch(device, model, rows)]);
    times[model] = interpolate(known);
  }
  return times as ServiceTimes;
}

async function measureBatch(device: ModelDevice, model: ModelName, rows: number): Promise<number> {
  const requests = Array.from({ length: rows }, (_, seed) => createInput(model, seed));
  const samplesMs: number[] = [];
  const runs = Math.max(FEWEST_RUNS, RUNS / rows);
  for (let run = -WARMUP / rows; run < runs; run++) {
    const startedMs = performance.now();
    await device.compute(model, requests);
    if (run >= 0) samplesMs.push(performance.now() - startedMs);
  }
  return median(samplesMs);
}

/** A value for every whole number from 1 to the last known one. */
export function interpolate(known: readonly (readonly [number, number])[]): number[] {
  const values: number[] = [];
  for (const [index, [rows, ms]] of known.entries()) {
    const [beforeRows, beforeMs] = known[index - 1] ?? [0, 0];
    for (let each = beforeRows + 1; each <= rows; each++) {
      values.push(beforeMs + ((ms - beforeMs) * (each - beforeRows)) / (rows - beforeRows));
    }
  }
  return values;
}
