import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { Placement } from "../../src/protocol/models/model.ts";
import { DEFAULT_CONFIGURATION } from "../../src/protocol/fleet/serving.ts";
import { writeModel } from "../goodput/served-models.ts";
import type { Stack } from "../hop/start-stack.ts";

/** Duration of each batch, whatever its rows: most of it is sleep, so that a busy machine adds little. */
const SLEEP_MS = 80;
const MAX_ROWS = 4;
const LIMIT_MS = 300_000;

/** The tests' plant, which only a device's process loads and reads. */
const PLANT = new URL("../../test/plants/sleeping-backend.ts", import.meta.url);
const sleepFile = (folder: string) => join(folder, "sleep-ms");

/** Environment of a runner whose backend can be put to sleep by a file in this folder. */
export function sleepingEnvironment(folder: string): Record<string, string> {
  return { NODE_OPTIONS: `--import ${PLANT.href}`, SLEEPING_BACKEND_FILE: sleepFile(folder) };
}

/** Model that receives the loads. */
export const MODEL = "policy";

/** A model whose batches sleep, with its placement and calibration. */
export interface PlacedModel {
  readonly placement: Placement;
  readonly version: string;
  readonly maxRows: number;
  readonly batchMs: number;
  readonly capacityPerSecond: number;
}

/** Places a model, then caps its batches and has it calibrated again while its backend sleeps. */
export async function placeSlowly(stack: Stack, folder: string): Promise<PlacedModel> {
  const version = await stack.place(MODEL, writeModel(MODEL), "ort-cpu");
  await writeFile(sleepFile(folder), String(SLEEP_MS));
  const [before] = await findPlacements(stack);
  await stack.client.call(endpoints.configurePlacement, {
    params: { id: before!.id },
    body: { ...DEFAULT_CONFIGURATION, maxRows: MAX_ROWS },
  });
  const placement = await waitForSlow(stack);
  const batchMs = placement.sweep.findLast(({ rows }) => rows <= MAX_ROWS)!.serviceMs.mean;
  return { placement, version, maxRows: MAX_ROWS, batchMs, capacityPerSecond: (1e3 * MAX_ROWS) / batchMs };
}

async function waitForSlow(stack: Stack): Promise<Placement> {
  const endMs = performance.now() + LIMIT_MS;
  while (performance.now() < endMs) {
    const [placement] = await findPlacements(stack);
    const isMeasured = placement?.configuration.maxRows === MAX_ROWS && placement.sweep[0]!.serviceMs.min >= SLEEP_MS;
    if (placement !== undefined && isMeasured && placement.sweep.at(-1)!.rows >= MAX_ROWS) return placement;
    await delay(200);
  }
  throw new Error(`the slow backend was not calibrated within ${LIMIT_MS / 1_000} s`);
}

async function findPlacements({ client }: Stack): Promise<Placement[]> {
  const { items } = await client.call(endpoints.listPlacements, { params: { model: MODEL } });
  return items.filter(
    ({ backend, variant, state }) => backend === "ort-cpu" && variant === "fp32" && state === "eligible",
  );
}
