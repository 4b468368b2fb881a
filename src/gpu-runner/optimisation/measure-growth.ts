import { LIMITS } from "../../protocol/limits.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import type { MemoryFit } from "../../protocol/model.ts";
import type { Candidate } from "../../protocol/optimisation.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { DEFAULT_CONFIGURATION } from "../../protocol/serving-configuration.ts";
import { SeededRows } from "../validation/seeded-rows.ts";
import { fitMemory } from "../workloads/fit-memory.ts";
import { orProblem } from "../workloads/or-problem.ts";
import type { WorkloadContext } from "../workloads/workload.ts";
import { onceByKey } from "./once-by-key.ts";

const TIMEOUT_MS = 30_000;

/**
 * Memory of a device's process while it serves a candidate: what the process holds when the search first comes to
 * the device, and what the model adds by its rows, which is measured in a process of its own, once for each variant
 * and number of threads. Null where it could not be measured.
 */
export function measureGrowth(
  model: PlacedModel,
  candidates: readonly Candidate[],
  seed: number,
  context: Pick<WorkloadContext, "fleet" | "models" | "signal">,
): (candidate: Candidate) => Promise<number | null> {
  const inputs = new SeededRows(model, seed);
  const wantedRows = Math.max(...candidates.map(({ maxRows }) => maxRows));
  const mostRows = Math.min(wantedRows, inputs.rowsWithin(LIMITS.batchBytes));
  const rows = [...new Set([1, Math.ceil(mostRows / 4), mostRows])];
  const restBytes = new Map<string, Promise<number | null>>();
  const fits = new Map<string, Promise<MemoryFit | null>>();
  return async (candidate) => {
    const { deviceKey, variant, threads, maxRows } = candidate;
    const { host } = context.fleet.find(deviceKey);
    const heldBytes = await onceByKey(restBytes, deviceKey, () =>
      host.readResidentSet(context.signal).catch(() => null),
    );
    const fit = await onceByKey(fits, `${deviceKey} ${variant} ${threads}`, () =>
      fitCandidate(model, candidate, rows, inputs, context),
    );
    return heldBytes === null || fit === null
      ? null
      : Math.round(heldBytes + fit.baseBytes + maxRows * fit.bytesPerRow);
  };
}

async function fitCandidate(
  model: PlacedModel,
  { deviceKey, variant, threads }: Candidate,
  rows: readonly number[],
  inputs: SeededRows,
  { fleet, models, signal }: Pick<WorkloadContext, "fleet" | "models" | "signal">,
): Promise<MemoryFit | null> {
  const { host } = fleet.find(deviceKey);
  const { modelKey, release } = await models.borrow(model, variant, host, { ...DEFAULT_CONFIGURATION, threads });
  try {
    const batches = rows.map((each) => inputs.take(each));
    const grown = await orProblem(host.measureMemory(modelKey, batches, { timeoutMs: TIMEOUT_MS, signal }), signal);
    if (grown instanceof ProblemError) return null;
    return fitMemory(grown.map((bytes, index) => ({ rows: rows[index] ?? 1, bytes })));
  } finally {
    await release();
  }
}
