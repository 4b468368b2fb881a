import type { CalibratedPlacement } from "../../protocol/calibration.ts";
import type { Backend } from "../../protocol/hardware.ts";
import { createId } from "../../protocol/id.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import type { MemoryFit, SweepStep } from "../../protocol/model.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import type { FleetDevice } from "../device-fleet.ts";
import type { DeviceHost } from "../process/device-host.ts";
import { modelKeyOf } from "../serving/model-key.ts";
import { joinTensors } from "../serving/join-tensors.ts";
import { maxRelativeError } from "./compare-outputs.ts";
import { describeEnvironment } from "./describe-environment.ts";
import { fitMemory } from "./fit-memory.ts";
import { measureFidelity } from "./measure-fidelity.ts";
import { sweepBatches } from "./sweep-batches.ts";
import type { WorkloadContext } from "./workload.ts";

/** Backends may sum in another order, which f32 shows at about this size; wrong kernels show far more. */
const AGREEMENT = 1e-3;

/** What is to be proved and measured. */
export interface Place {
  readonly device: FleetDevice;
  readonly backend: Backend;
  readonly model: PlacedModel;
  readonly variant: string;
}

/** Seeded inputs, each for one row, with what the CPU provider answers to them. */
export interface Reference {
  readonly inputs: readonly Tensor[][];
  /** By the version's own file. */
  readonly originals: readonly Tensor[][];
  /** By the variant's file. */
  readonly answers: readonly Tensor[][];
}

interface Limits {
  readonly maxRows: number;
  readonly iterations: number;
  /** Of one batch size. */
  readonly stepMs: number;
  readonly timeoutMs: number;
}

/**
 * One variant on one device. It agrees where its answers are those of the CPU provider, alone and in every
 * batch that is measured; for the CPU itself this tells that it is repeatable and finite.
 */
export async function calibratePlacement(
  { device, backend, model, variant }: Place,
  reference: Reference,
  limits: Limits,
  context: WorkloadContext,
): Promise<CalibratedPlacement> {
  const { fleet, models, otherJobs, signal, onProgress } = context;
  const { host } = device;
  const { inputs, originals, answers: expected } = reference;
  const environment = describeEnvironment(host.device, otherJobs);
  onProgress({ phase: "load", done: 0, total: 1 });
  const loadMs = await models.ensureLoaded(model, variant, host);
  const served = { modelVersionId: model.modelVersionId, variant };
  const modelKey = modelKeyOf(served);
  const answers: Tensor[][] = [];
  for (const tensors of inputs) {
    onProgress({ phase: "compare", done: answers.length, total: inputs.length });
    signal.throwIfAborted();
    answers.push(await askDevice(host, modelKey, tensors));
  }
  let error = Math.max(...answers.map((answer, index) => maxRelativeError(expected[index] ?? [], answer)));
  const batchOf = createBatches(inputs);

  const isSound = async (rows: number): Promise<boolean> => {
    const wanted = await askDevice(fleet.cpu.host, modelKey, batchOf(rows));
    // What answers otherwise in company must not share a batch.
    if (maxRelativeError(joinTensors(cycle(expected, rows)), wanted) > AGREEMENT) return false;
    error = Math.max(error, maxRelativeError(wanted, await askDevice(host, modelKey, batchOf(rows))));
    return error <= AGREEMENT;
  };
  const sweep = await sweepBatches({
    ...limits,
    maxRows: error <= AGREEMENT && takesBatches(model) ? limits.maxRows : 1,
    isSound: (rows) => isSound(rows).catch((reason: unknown) => refused(reason, signal, false)),
    serve: async (rows) => {
      signal.throwIfAborted();
      const offer = { requestId: createId("request"), ...served, budgetMs: limits.timeoutMs };
      const { times } = await device.server.serve(offer, batchOf(rows));
      return times.queueMs + times.uploadMs + times.computeMs + times.readbackMs;
    },
    onProgress: (done, total) => onProgress({ phase: "measure", done, total }),
  });
  const agrees = error <= AGREEMENT;
  if (!agrees) await models.unload(served, host);
  return {
    deviceKey: host.device.key,
    variant,
    backend,
    agrees,
    maxRelativeError: Number.isFinite(error) ? error : Number.MAX_VALUE,
    fidelity: measureFidelity(originals, answers),
    loadMs,
    sweep,
    memory: agrees ? await measureMemory(host, modelKey, sweep, batchOf, limits, context) : null,
    environment,
  };
}

export async function askDevice(host: DeviceHost, modelKey: string, tensors: readonly Tensor[]): Promise<Tensor[]> {
  return (await host.infer(modelKey, tensors, { requestId: createId("request") })).tensors;
}

/** Null where it could not be measured: nothing depends on it. */
async function measureMemory(
  host: DeviceHost,
  modelKey: string,
  sweep: readonly SweepStep[],
  batchOf: (rows: number) => Tensor[],
  { timeoutMs }: Limits,
  { signal, onProgress }: WorkloadContext,
): Promise<MemoryFit | null> {
  onProgress({ phase: "memory", done: 0, total: 1 });
  const batches = sweep.map(({ rows }) => batchOf(rows));
  const grown = await host
    .measureMemory(modelKey, batches, { timeoutMs, signal })
    .catch((reason: unknown) => refused(reason, signal, []));
  return fitMemory(grown.map((bytes, index) => ({ rows: sweep[index]?.rows ?? 1, bytes })));
}

/** Whether a request's rows are free: then several requests may be computed as one. */
function takesBatches({ inputs, outputs }: PlacedModel): boolean {
  return [...inputs, ...outputs].every(({ shape }) => shape[0] === -1);
}

/** Batches of the inputs, each made once. */
function createBatches(inputs: readonly Tensor[][]): (rows: number) => Tensor[] {
  const batches = new Map<number, Tensor[]>([[1, inputs[0] ?? []]]);
  return (rows) => {
    const batch = batches.get(rows) ?? joinTensors(cycle(inputs, rows));
    batches.set(rows, batch);
    return batch;
  };
}

/** So many items, from the first again after the last. */
function cycle<Item>(items: readonly Item[], count: number): Item[] {
  return Array.from({ length: count }, (_, index) => items[index % items.length]!);
}

/** A problem of the device's is an answer, too; the end of the job is none. */
function refused<Value>(reason: unknown, signal: AbortSignal, value: Value): Value {
  if (signal.aborted || !(reason instanceof ProblemError)) throw reason;
  return value;
}
