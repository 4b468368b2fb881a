import { DEFAULT_CONFIGURATION } from "../../../protocol/fleet/serving.ts";
import type { Candidate } from "../../../protocol/jobs/optimisation.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import { createSeededInputs } from "../../../protocol/models/model-inputs.ts";
import { FIRST_VARIANT, type MemoryFit } from "../../../protocol/models/model.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { measureFidelity } from "../../networks/compare-outputs.ts";
import { askOneByOne } from "../calibration/ask-placement.ts";
import { fitMemory } from "../calibration/sweep-batches.ts";
import type { WorkloadContext } from "../kind.ts";
import { orProblem } from "../steps/describe-run.ts";
import { SeededRows } from "../validation/seeded-rows.ts";

const COMPARED_INPUTS = 64;

/** Inputs for comparing variants, each of one row. */
export function createComparedInputs({ inputs }: Pick<PlacedModel, "inputs">): Tensor[][] {
  return Array.from({ length: COMPARED_INPUTS }, (_, index) => createSeededInputs(inputs, index + 1));
}

/** Result of `find` for a key, computed once; failures are kept as well. */
function onceByKey<Value>(known: Map<string, Promise<Value>>, key: string, find: () => Promise<Value>): Promise<Value> {
  const value = known.get(key) ?? find();
  known.set(key, value);
  return value;
}

type Context = Pick<WorkloadContext, "fleet" | "models" | "signal">;

/**
 * Fidelity of a candidate: as measured by the uploader of its variant, if at all.
 * Otherwise its agreement with the version's own file on the CPU provider, computed once per variant and device.
 */
export function measureArithmetic(
  model: PlacedModel,
  told: Readonly<Record<string, number>>,
  context: Context,
): (candidate: Candidate) => Promise<number> {
  const inputs = createComparedInputs(model);
  const known = new Map<string, Promise<number>>();
  let originals: Promise<Tensor[][]> | null = null;
  const measure = async (deviceKey: string, variant: string): Promise<number> => {
    const { cpu } = context.fleet;
    originals ??= askOneByOne(model, FIRST_VARIANT, cpu.host, inputs, context);
    const answers = await askOneByOne(model, variant, context.fleet.find(deviceKey).host, inputs, context);
    return measureFidelity(await originals, answers);
  };
  return async ({ deviceKey, variant }) => {
    if (told[variant] !== undefined) return told[variant];
    return onceByKey(known, `${deviceKey} ${variant}`, () => measure(deviceKey, variant));
  };
}

const TIMEOUT_MS = 30_000;

/**
 * Memory of a device's process while it serves a candidate; null where it could not be measured.
 * It is the process's memory when the search first reaches the device, plus the model's growth by rows.
 * Growth is measured in a process of its own, once for each variant and number of threads.
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
