import type { CalibratedPlacement } from "../../../protocol/jobs/calibration.ts";
import { EDGE_DEVICE_KEY, type EdgeVariant, withRows } from "../../../protocol/models/edge-place.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { EdgeWork, PlacedModel } from "../../../protocol/link.ts";
import { FIRST_VARIANT } from "../../../protocol/models/model.ts";
import { createSeededInputs } from "../../../protocol/models/model-inputs.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import { AGREEMENT, maxRelativeError, measureFidelity, ROUNDED_AGREEMENT } from "../../networks/compare-outputs.ts";
import type { WorkloadContext } from "../kind.ts";
import { describeEnvironment } from "../steps/describe-run.ts";
import { openReference, type ReferenceModel } from "./ask-placement.ts";

const COMPARED_INPUTS = 32;
/** Largest error allowed. */
const AGREEMENTS: Record<EdgeVariant, number> = { fp32: AGREEMENT, "edge-int8": ROUNDED_AGREEMENT };
/** Rows of one request; where the first axis is fixed, the network's own number of rows. */
const SWEEP = [1, 8, LIMITS.edgeRows] as const;
/** Most samples of one time; a calibration of fewer iterations has as few here. */
const MOST_SAMPLES = 30;
/** They take at least a second and a half; a calibration with fewer iterations sends only so many. */
const BARE_REQUESTS = 300;
/** Least extra duration of a repeating request over one that computes once, so that the round trip matters little. */
const MEASURED_MS = 10;
/** The edge's machine is unknown and may differ for every request. */
const FINGERPRINT = { adapter: null, driver: null, dawn: null, toggles: [], ort: null, cpu: "edge" };

type Context = Pick<
  WorkloadContext,
  "fleet" | "models" | "residency" | "edgeProbe" | "otherJobs" | "signal" | "onProgress"
>;

export interface EdgeEffort {
  /** Median echo on the open socket. */
  readonly echoMs: number;
  /** Iterations of the calibration. */
  readonly iterations: number;
}

/** The CPU provider's outputs for the inputs of a seed. */
interface Reference {
  readonly seed: number;
  readonly rows: number;
  readonly outputs: readonly Tensor[];
}

/**
 * Proves and measures a dense network at the edge, from the runner.
 * Its outputs are compared with the CPU provider's on seeded inputs.
 * The time of one computation is the extra duration of repeating requests, divided by their extra computations.
 */
export async function calibrateEdge(
  model: PlacedModel,
  { variants }: EdgeWork,
  { echoMs, iterations }: EdgeEffort,
  context: Context,
): Promise<CalibratedPlacement[]> {
  const samples = Math.min(MOST_SAMPLES, iterations);
  const linkMs = summarise(await measureAround(echoMs, Math.min(BARE_REQUESTS, iterations), context));
  const references = await askReferences(model, context);
  const placements: CalibratedPlacement[] = [];
  for (const variant of variants) {
    placements.push({ ...(await calibrate(model, variant, { references, samples }, context)), linkMs });
  }
  return placements;
}

/**
 * Milliseconds of a request in the Worker besides computing: a bare request less the echo, which travels the same way.
 */
async function measureAround(echoMs: number, requests: number, { edgeProbe, signal }: Context): Promise<number[]> {
  const requestsMs = await edgeProbe.measureMs(requests, signal);
  return requestsMs.map((ms) => Math.max(0, ms - echoMs));
}

async function calibrate(
  model: PlacedModel,
  variant: EdgeVariant,
  { references, samples }: { readonly references: readonly Reference[]; readonly samples: number },
  context: Context,
): Promise<CalibratedPlacement> {
  const { modelVersionId } = model;
  const { edgeProbe: edge, fleet, otherJobs, signal, onProgress } = context;
  onProgress({ phase: `edge ${variant}: load`, done: 0, total: 1 });
  const fresh = await edge.run({ modelVersionId, variant, seed: 1, fresh: true }, signal);
  const warm = await edge.run({ modelVersionId, variant, seed: 1 }, signal);
  const { error, fidelity } = await compare(model, variant, references, context);
  const [fixedRows = 1] = model.inputs[0]?.shape ?? [];
  const isFree = fixedRows === -1;
  const sweep: CalibratedPlacement["sweep"] = [];
  for (const rows of isFree ? SWEEP : [1]) {
    const measure = (seed: number, repetitions: number) =>
      edge.run({ modelVersionId, variant, rows, seed, repetitions }, signal).then(({ durationMs }) => durationMs);
    const products = fresh.rowProducts * (isFree ? rows : fixedRows);
    // Two at least: their time beyond that of one is the time of one.
    const most = Math.max(2, Math.floor(LIMITS.edgeTurnProducts / products));
    onProgress({ phase: `edge ${variant}: measure`, done: rows, total: LIMITS.edgeRows });
    const repetitions = Math.min(most, LIMITS.edgeRepetitions);
    sweep.push({ rows, serviceMs: summarise(await timeOnce(measure, repetitions, samples)) });
  }
  const device = describeEnvironment(fleet.cpu.host.device, otherJobs);
  const place = { deviceKey: EDGE_DEVICE_KEY, deviceName: "edge", software: false, fingerprint: FINGERPRINT };
  return {
    deviceKey: EDGE_DEVICE_KEY,
    variant,
    backend: "edge-wasm",
    agrees: error <= AGREEMENTS[variant],
    maxRelativeError: Number.isFinite(error) ? error : Number.MAX_VALUE,
    fidelity: variant === FIRST_VARIANT ? 1 : fidelity,
    loadMs: Math.max(0, fresh.durationMs - warm.durationMs),
    sweep,
    memory: { baseBytes: fresh.sizeBytes, bytesPerRow: 0 },
    environment: { ...device, ...place },
  };
}

async function askReferences(model: PlacedModel, context: Context): Promise<Reference[]> {
  const reference = await openReference(model, FIRST_VARIANT, context);
  try {
    return await askSeeds(model, reference);
  } finally {
    await reference.close();
  }
}

async function askSeeds(model: PlacedModel, { ask }: ReferenceModel): Promise<Reference[]> {
  const references: Reference[] = [];
  for (let seed = 1; seed <= COMPARED_INPUTS; seed++) {
    // The last reference has the most rows that a request may have.
    const rows = seed === COMPARED_INPUTS ? LIMITS.edgeRows : 1;
    references.push({ seed, rows, outputs: await ask(createSeededInputs(withRows(model.inputs, rows), seed)) });
  }
  return references;
}

/** The largest error on seeded inputs, and the agreement of the answers. */
async function compare(
  { modelVersionId }: PlacedModel,
  variant: EdgeVariant,
  references: readonly Reference[],
  { edgeProbe: edge, signal, onProgress }: Context,
): Promise<{ error: number; fidelity: number }> {
  const answers: Tensor[][] = [];
  let error = 0;
  for (const { seed, rows, outputs } of references) {
    const found = await edge.run({ modelVersionId, variant, seed, rows }, signal);
    error = Math.max(error, maxRelativeError(outputs, found.outputs));
    answers.push(found.outputs);
    onProgress({ phase: `edge ${variant}: compare`, done: seed, total: COMPARED_INPUTS });
  }
  const originals = references.map(({ outputs }) => outputs);
  return { error, fidelity: measureFidelity(originals, answers) };
}

/** Milliseconds of one computation, sample by sample; `measure` times a request with the given repetitions. */
export async function timeOnce(
  measure: (seed: number, repetitions: number) => Promise<number>,
  most: number,
  samples: number,
): Promise<number[]> {
  const onceSamplesMs: number[] = [];
  for (let sample = 0; sample < samples; sample++) onceSamplesMs.push(await measure(sample, 1));
  const onceMs = summarise(onceSamplesMs).p50;
  let repetitions = Math.min(2, most);
  while (repetitions < most && (await measure(0, repetitions)) - onceMs < MEASURED_MS) {
    repetitions = Math.min(most, repetitions * 2);
  }
  const samplesMs: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    const longerMs = (await measure(sample, repetitions)) - onceMs;
    samplesMs.push(Math.max(0, longerMs / (repetitions - 1)));
  }
  return samplesMs;
}
