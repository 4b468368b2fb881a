import { createId } from "../../../protocol/wire/id.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import { joinTensors } from "../../serving/queue/join-tensors.ts";
import { askOneByOne, findAgreement } from "../calibration/ask-placement.ts";
import { maxRelativeError } from "../../networks/compare-outputs.ts";
import { sweepBatches } from "../calibration/sweep-batches.ts";
import type { WorkloadContext } from "../kind.ts";
import { createGate, type QueryWishes, type SystemUnderTest } from "./system-under-test.ts";
import { SeededRows } from "./seeded-rows.ts";

/** Model under load, its device and its configuration. */
export interface ModelPlace {
  readonly device: FleetDevice;
  readonly model: PlacedModel;
  readonly variant: string;
  readonly configuration: ServingConfiguration;
}

export interface ModelLoad {
  /** Seed of the inputs. */
  readonly seed: number;
  /** Samples of the largest query to come. */
  readonly largestQuery: number;
}

/** Loaded model with proven answers, queried as by requests. */
export interface ModelSystem {
  readonly inputs: SeededRows;
  /** Rows of one request, for a query of several. */
  readonly rows: number;
  /** System as seen by requests with this budget. */
  within(budgetMs: number, wishes?: QueryWishes): SystemUnderTest;
  /** Milliseconds of a start with nothing loaded, in a process of its own. */
  measureStart(timeoutMs: number): Promise<{ loadMs: number; firstAnswerMs: number }>;
  close(): Promise<void>;
}

type Context = Pick<WorkloadContext, "residency" | "fleet" | "models" | "signal" | "onProgress">;
type Ask = (tensors: readonly Tensor[], wishes?: { budgetMs: number; confidence: number }) => Promise<Tensor[]>;

/** Answers compared before anything is timed. */
const COMPARED = 8;
/** Samples of each batch size while searching for the best one. */
const SWEEP = { iterations: 16, stepMs: 100 } as const;

/**
 * Loads a model as its place is served and compares its answers with the CPU provider's, alone and in batches.
 * Queries go through the device's queue, and the model stays loaded until it is closed.
 * Throws `backend-failed` where it answers wrongly.
 */
export async function openModelSystem(
  place: ModelPlace,
  { seed, largestQuery }: ModelLoad,
  context: Context,
): Promise<ModelSystem> {
  const { device, model, variant, configuration } = place;
  const { models, signal, onProgress } = context;
  signal.throwIfAborted();
  onProgress({ phase: "load", done: 0, total: 1 });
  const { modelKey, joins, release } = await models.borrow(model, variant, device.host, configuration);
  try {
    const inputs = new SeededRows(model, seed);
    const underWay = new Set<string>();
    const ask = askQueue(place, joins, underWay, signal);
    const expected = await askOneByOne(model, variant, context.fleet.cpu.host, inputs.first(COMPARED), context);
    const agreement = await findAgreement(model, variant, context.residency);
    await compare(place, inputs, expected, 1, agreement, ask);
    const most = joins ? Math.min(largestQuery, LIMITS.batchRows, inputs.rowsWithin(LIMITS.batchBytes)) : 1;
    const rows =
      configuration.maxRows === null
        ? await findRows(most, inputs, ask, signal)
        : Math.min(configuration.maxRows, most);
    if (rows > 1) await compare(place, inputs, expected, rows, agreement, ask);
    return {
      inputs,
      rows,
      within: (budgetMs, { confidence = 0.99, beyondCap = "waits" } = {}) => {
        const enter = createGate(beyondCap === "waits" ? configuration.maxInFlight : null);
        return {
          maxSamples: rows,
          query: (samples) => enter(async () => void (await ask(inputs.take(samples), { budgetMs, confidence }))),
        };
      },
      measureStart: (timeoutMs) => device.host.measureStart(modelKey, inputs.take(1), { timeoutMs, signal }),
      close: async () => {
        // Requests left in the queue would delay the next load.
        for (const requestId of underWay) device.server.cancel(requestId);
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Queries the device's queue as a request to the runner does; `underWay` has the unanswered requests. */
function askQueue(
  { device, model, variant, configuration }: ModelPlace,
  joins: boolean,
  underWay: Set<string>,
  signal: AbortSignal,
): Ask {
  const { modelVersionId, tenant } = model;
  const served = { modelVersionId, tenant, variant, ...configuration, joins };
  return async (tensors, wishes = { budgetMs: LIMITS.maxBudgetMs, confidence: 0.99 }) => {
    signal.throwIfAborted();
    const requestId = createId("request");
    underWay.add(requestId);
    try {
      return (await device.server.serve({ ...served, ...wishes, requestId }, tensors)).tensors;
    } finally {
      underWay.delete(requestId);
    }
  };
}

/** Compares answers with the CPU provider's, in requests of this many rows. */
async function compare(
  { device, variant }: ModelPlace,
  inputs: SeededRows,
  expected: readonly Tensor[][],
  rows: number,
  agreement: number,
  ask: Ask,
): Promise<void> {
  const asked = inputs.first(expected.length);
  let error = 0;
  for (let first = 0; first < expected.length; first += rows) {
    const places = Array.from({ length: rows }, (_, index) => (first + index) % expected.length);
    const join = (all: readonly Tensor[][]) =>
      rows === 1 ? all[first]! : joinTensors(places.map((each) => all[each]!));
    error = Math.max(error, maxRelativeError(join(expected), await ask(join(asked))));
  }
  if (error <= agreement) return;
  const where = `${variant} on ${device.host.device.key}, asked with ${rows} ${rows === 1 ? "row" : "rows"}`;
  throw new ProblemError(
    "backend-failed",
    `The answers of ${where}, are not those of the CPU provider: they differ by ${error.toPrecision(2)} of the largest, more than ${agreement}.`,
  );
}

/** Rows of a request: those of the largest batch that answers more rows a second than smaller ones. */
async function findRows(most: number, inputs: SeededRows, ask: Ask, signal: AbortSignal): Promise<number> {
  if (most === 1) return 1;
  const steps = await sweepBatches({
    ...SWEEP,
    maxRows: most,
    isSound: async () => true,
    serve: async (rows) => {
      const startMs = performance.now();
      await ask(inputs.take(rows));
      return performance.now() - startMs;
    },
    onProgress: () => signal.throwIfAborted(),
  });
  return steps.at(-1)?.rows ?? 1;
}
