import type { CalibratedPlacement, CalibrationSpec } from "../../protocol/calibration.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import { createId } from "../../protocol/id.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { summarise } from "../../stats/distribution.ts";
import type { FleetDevice } from "../device-fleet.ts";
import { modelKeyOf } from "../serving/model-key.ts";
import { calibrateEdge } from "./calibrate-edge.ts";
import { maxRelativeError } from "./compare-outputs.ts";
import { describeEnvironment } from "./describe-environment.ts";
import { createSeededInputs } from "../../protocol/seeded-inputs.ts";
import type { Workload, WorkloadContext } from "./workload.ts";

const WARMUP = 20;
const ECHOES = 200;
const COMPARED_INPUTS = 4;
/** Backends may sum in another order, which f32 shows at about this size; wrong kernels show far more. */
const AGREEMENT = 1e-3;

/**
 * Proves and measures a model on every device that can run it: outputs first, against the CPU
 * provider on seeded inputs, then the service as requests will get it, then the link.
 */
export const runCalibration: Workload<CalibrationSpec> = async (spec, outer) => {
  const timeout = AbortSignal.timeout(spec.timeoutMs);
  const context = { ...outer, signal: AbortSignal.any([outer.signal, timeout]) };
  try {
    return await measurePlacements(spec, context);
  } catch (error) {
    if (!timeout.aborted) throw error;
    throw new ProblemError("backend-failed", `The calibration took longer than ${spec.timeoutMs} ms.`);
  }
};

const measurePlacements: Workload<CalibrationSpec> = async (spec, context) => {
  const { fleet, model, probe, signal, onProgress } = context;
  if (model === null) throw new ProblemError("backend-failed", "The offer did not name the model to calibrate.");
  const devices = fleet.all().filter(({ host }) => host.device.backends.includes("ort-cpu"));
  const placements: CalibratedPlacement[] = [];
  for (const device of devices) {
    for (const { name } of model.variants) placements.push(await calibrate(device, model, name, spec, context));
  }
  placements.push(...(await measureAtEdge(model, context)));
  onProgress({ phase: "link", done: 0, total: ECHOES });
  const linkMs = summarise(await probe.measureMs(ECHOES, signal));
  const deviceKey = placements[0]?.deviceKey ?? "cpu";
  return { result: { kind: "calibration", modelVersionId: spec.modelVersionId, placements, linkMs }, deviceKey };
};

/** What the edge computes by itself; what goes wrong there is no reason to keep this runner from serving. */
async function measureAtEdge(model: PlacedModel, context: WorkloadContext): Promise<CalibratedPlacement[]> {
  const { edge, signal, logger } = context;
  if (edge === null) return [];
  try {
    return await calibrateEdge(model, edge, context);
  } catch (error) {
    signal.throwIfAborted();
    logger.error({ error, modelVersionId: model.modelVersionId }, "the edge could not be calibrated");
    return [];
  }
}

async function calibrate(
  device: FleetDevice,
  model: PlacedModel,
  variant: string,
  spec: CalibrationSpec,
  context: WorkloadContext,
): Promise<CalibratedPlacement> {
  context.onProgress({ phase: "load", done: 0, total: 1 });
  const environment = describeEnvironment(device.host.device, context.otherJobs);
  const loadMs = await context.models.ensureLoaded(model, variant, device.host);
  const error = await compareWithCpu(device, model, variant, context);
  const samplesMs = await measureService(device, model, variant, spec, context);
  return {
    deviceKey: device.host.device.key,
    variant,
    backend: "ort-cpu",
    agrees: error <= AGREEMENT,
    maxRelativeError: Number.isFinite(error) ? error : Number.MAX_VALUE,
    fidelity: 1,
    loadMs,
    sweep: [{ rows: 1, serviceMs: summarise(samplesMs) }],
    memory: null,
    environment,
  };
}

/** For the CPU provider itself this tells that it is repeatable and finite. */
async function compareWithCpu(
  device: FleetDevice,
  model: PlacedModel,
  variant: string,
  { fleet, models }: WorkloadContext,
): Promise<number> {
  await models.ensureLoaded(model, variant, fleet.cpu.host);
  const modelKey = modelKeyOf({ modelVersionId: model.modelVersionId, variant });
  let worst = 0;
  for (let seed = 1; seed <= COMPARED_INPUTS; seed++) {
    const inputs = createSeededInputs(model.inputs, seed);
    const reference = await fleet.cpu.host.infer(modelKey, inputs, { requestId: createId("request") });
    const found = await device.host.infer(modelKey, inputs, { requestId: createId("request") });
    worst = Math.max(worst, maxRelativeError(reference.tensors, found.tensors));
  }
  return worst;
}

/** Service times in milliseconds, one request after the other, through the queue that requests take. */
async function measureService(
  { server }: FleetDevice,
  { modelVersionId, inputs: specs }: PlacedModel,
  variant: string,
  { iterations, timeoutMs }: CalibrationSpec,
  { signal, onProgress }: WorkloadContext,
): Promise<number[]> {
  const inputs = createSeededInputs(specs, 1);
  const samplesMs: number[] = [];
  for (let i = -WARMUP; i < iterations; i++) {
    signal.throwIfAborted();
    const offer = { requestId: createId("request"), modelVersionId, variant, budgetMs: timeoutMs };
    const { times } = await server.serve(offer, inputs);
    if (i < 0) continue;
    samplesMs.push(times.queueMs + times.uploadMs + times.computeMs + times.readbackMs);
    if (i % 20 === 0) onProgress({ phase: "measure", done: i, total: iterations });
  }
  return samplesMs;
}
