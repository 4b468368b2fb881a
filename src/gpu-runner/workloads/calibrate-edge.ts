import type { CalibratedPlacement } from "../../protocol/calibration.ts";
import { EDGE_DEVICE_KEY, type EdgeVariant } from "../../protocol/edge-place.ts";
import { withRows } from "../../protocol/edge-run.ts";
import { createId } from "../../protocol/id.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { EdgeWork, PlacedModel } from "../../protocol/link.ts";
import { FIRST_VARIANT } from "../../protocol/model.ts";
import { createSeededInputs } from "../../protocol/seeded-inputs.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import { summarise } from "../../stats/distribution.ts";
import { modelKeyOf } from "../serving/model-key.ts";
import { maxRelativeError } from "./compare-outputs.ts";
import { describeEnvironment } from "./describe-environment.ts";
import { measureFidelity } from "./measure-fidelity.ts";
import type { WorkloadContext } from "./workload.ts";

const COMPARED_INPUTS = 32;
/** Float32 differs by the order of sums; bytes by about one part in a hundred and twenty-seven each. */
const AGREEMENT: Record<EdgeVariant, number> = { fp32: 1e-3, "edge-int8": 0.1 };
/** Rows of one request; where the first axis is fixed, a request has the rows that the network says. */
const SWEEP = [1, 8, LIMITS.edgeRows] as const;
const SAMPLES = 30;
const BARE_REQUESTS = 200;
/** So much longer must a request take than one that computes once, that the way there and back matters little. */
const MEASURED_MS = 10;
/** The edge's machine is not known, and may be another one for every request. */
const FINGERPRINT = { adapter: null, driver: null, dawn: null, toggles: [], ort: null, cpu: "edge" };

type Context = Pick<
  WorkloadContext,
  "fleet" | "models" | "probe" | "edgeProbe" | "otherJobs" | "signal" | "onProgress"
>;

/**
 * Proves and measures a dense network at the edge, from here: its outputs are compared with the CPU provider's on
 * seeded inputs, and the time of one computation is what requests that repeat it take longer, divided by how
 * much more often they compute.
 */
export async function calibrateEdge(
  model: PlacedModel,
  { variants }: EdgeWork,
  context: Context,
): Promise<CalibratedPlacement[]> {
  const linkMs = summarise(await measureAround(context));
  const placements: CalibratedPlacement[] = [];
  for (const variant of variants) {
    placements.push({ ...(await calibrate(model, variant, context)), linkMs });
  }
  return placements;
}

/**
 * What the Worker takes for a request besides computing, in milliseconds: what a bare request takes longer than the
 * median echo on the open socket, which goes the same way there and back.
 */
async function measureAround({ probe, edgeProbe, signal }: Context): Promise<number[]> {
  const echoMs = summarise(await probe.measureMs(BARE_REQUESTS, signal)).p50;
  const requestsMs = await edgeProbe.measureMs(BARE_REQUESTS, signal);
  return requestsMs.map((ms) => Math.max(0, ms - echoMs));
}

async function calibrate(model: PlacedModel, variant: EdgeVariant, context: Context): Promise<CalibratedPlacement> {
  const { modelVersionId } = model;
  const { edgeProbe: edge, fleet, otherJobs, signal, onProgress } = context;
  onProgress({ phase: `edge ${variant}: load`, done: 0, total: 1 });
  const fresh = await edge.run({ modelVersionId, variant, seed: 1, fresh: true }, signal);
  const warm = await edge.run({ modelVersionId, variant, seed: 1 }, signal);
  const { error, fidelity } = await compare(model, variant, context);
  const [fixedRows = 1] = model.inputs[0]?.shape ?? [];
  const isFree = fixedRows === -1;
  const sweep: CalibratedPlacement["sweep"] = [];
  for (const rows of isFree ? SWEEP : [1]) {
    const measure = (seed: number, repetitions: number) =>
      edge.run({ modelVersionId, variant, rows, seed, repetitions }, signal).then(({ durationMs }) => durationMs);
    const most = Math.floor(LIMITS.edgeRunProducts / (fresh.rowProducts * (isFree ? rows : fixedRows)));
    onProgress({ phase: `edge ${variant}: measure`, done: rows, total: LIMITS.edgeRows });
    sweep.push({ rows, serviceMs: summarise(await timeOnce(measure, Math.min(most, LIMITS.edgeRepetitions))) });
  }
  const device = describeEnvironment(fleet.cpu.host.device, otherJobs);
  const place = { deviceKey: EDGE_DEVICE_KEY, deviceName: "edge", software: false, fingerprint: FINGERPRINT };
  return {
    deviceKey: EDGE_DEVICE_KEY,
    variant,
    backend: "edge-wasm",
    agrees: error <= AGREEMENT[variant],
    maxRelativeError: Number.isFinite(error) ? error : Number.MAX_VALUE,
    fidelity: variant === FIRST_VARIANT ? 1 : fidelity,
    loadMs: Math.max(0, fresh.durationMs - warm.durationMs),
    sweep,
    memory: { baseBytes: fresh.sizeBytes, bytesPerRow: 0 },
    environment: { ...device, ...place },
  };
}

/** The largest error on seeded inputs, and the share of them whose largest output is the same. */
async function compare(
  model: PlacedModel,
  variant: EdgeVariant,
  { fleet, models, edgeProbe: edge, signal, onProgress }: Context,
): Promise<{ error: number; fidelity: number }> {
  const { modelVersionId, inputs: specs } = model;
  const { host } = fleet.cpu;
  await models.ensureLoaded(model, FIRST_VARIANT, host);
  const modelKey = modelKeyOf({ modelVersionId, variant: FIRST_VARIANT });
  const originals: Tensor[][] = [];
  const answers: Tensor[][] = [];
  let error = 0;
  for (let seed = 1; seed <= COMPARED_INPUTS; seed++) {
    // The last one with all rows that a request may have.
    const rows = seed === COMPARED_INPUTS ? LIMITS.edgeRows : 1;
    const inputs: Tensor[] = createSeededInputs(withRows(specs, rows), seed);
    const reference = await host.infer(modelKey, inputs, { requestId: createId("request") });
    const found = await edge.run({ modelVersionId, variant, seed, rows }, signal);
    error = Math.max(error, maxRelativeError(reference.tensors, found.outputs));
    originals.push([...reference.tensors]);
    answers.push(found.outputs);
    onProgress({ phase: `edge ${variant}: compare`, done: seed, total: COMPARED_INPUTS });
  }
  return { error, fidelity: measureFidelity(originals, answers) };
}

/** Milliseconds of one computation, sample by sample; `measure` gives those of a request with so many. */
export async function timeOnce(
  measure: (seed: number, repetitions: number) => Promise<number>,
  most: number,
): Promise<number[]> {
  const onceSamplesMs: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) onceSamplesMs.push(await measure(sample, 1));
  const onceMs = summarise(onceSamplesMs).p50;
  let repetitions = Math.min(2, most);
  while (repetitions < most && (await measure(0, repetitions)) - onceMs < MEASURED_MS) {
    repetitions = Math.min(most, repetitions * 2);
  }
  const samplesMs: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const longerMs = (await measure(sample, repetitions)) - onceMs;
    samplesMs.push(Math.max(0, longerMs / (repetitions - 1)));
  }
  return samplesMs;
}
