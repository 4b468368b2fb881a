import { setTimeout as delay } from "node:timers/promises";
import type { CalibratedPlacement, NodePlaces } from "../../../protocol/jobs/calibration.ts";
import type { Backend } from "../../../protocol/fleet/hardware.ts";
import { createId } from "../../../protocol/wire/id.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import type { MemoryFit, SizeSweep, SweepStep } from "../../../protocol/models/model.ts";
import {
  countMeasuredElements,
  countSizes,
  createExtremeInputs,
  createSeededInputs,
} from "../../../protocol/models/model-inputs.ts";
import { ProblemError, toProblem } from "../../../protocol/wire/problem.ts";
import type { ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import type { DeviceHost } from "../../device-host/device-host.ts";
import type { ServerRequest } from "../../serving/queue/inference-server.ts";
import { hasRows, joinTensors } from "../../serving/queue/join-tensors.ts";
import type { BorrowedModel } from "../../serving/model-loader.ts";
import { AGREEMENT, extremeError, maxRelativeError, measureFidelity } from "../../networks/compare-outputs.ts";
import type { WorkloadContext } from "../kind.ts";
import { describeEnvironment, orProblem } from "../steps/describe-run.ts";
import { fitMemory, sweepBatches } from "./sweep-batches.ts";
import type { ReferenceModel } from "./ask-placement.ts";

/** Inputs that are compared at each further size of a model. */
const COMPARED_AT_SIZE = 4;
const EXTREME_SEED = 1;
const MOST_DETAIL = 500;

/** The placement to prove and measure. */
export interface Place {
  readonly device: FleetDevice;
  readonly backend: Backend;
  readonly model: PlacedModel;
  readonly variant: string;
  readonly configuration: ServingConfiguration;
}

/** Seeded inputs of one row each, with the CPU provider's outputs; `ask` computes more with the variant's file. */
export interface Reference extends Pick<ReferenceModel, "agreement" | "ask"> {
  readonly inputs: readonly Tensor[][];
  /** Outputs of the version's own file. */
  readonly originals: readonly Tensor[][];
  /** Outputs of the variant's file. */
  readonly answers: readonly Tensor[][];
}

export interface Limits {
  readonly maxRows: number;
  readonly iterations: number;
  /** Time limit of one batch size. */
  readonly stepMs: number;
  readonly timeoutMs: number;
}

/**
 * Calibrates one variant on one device, under the configuration that will serve it.
 * It agrees where its outputs match the CPU provider's, alone and in every measured batch.
 * For the CPU itself, agreement means that it is repeatable and finite.
 * Where it agrees, and the edge has set nothing else for the place, it is served so from then on.
 */
export async function calibratePlacement(
  place: Place,
  reference: Reference,
  limits: Limits,
  context: WorkloadContext,
): Promise<CalibratedPlacement> {
  const { device, model, variant, configuration } = place;
  const { models, signal, onProgress } = context;
  signal.throwIfAborted();
  onProgress({ phase: "load", done: 0, total: 1 });
  const nodes = await models.tryApart(model, variant, device.host, configuration, signal);
  const onGpu = nodes === null ? {} : { nodes: refuseFallback(nodes, place.backend) };
  const borrowed = await models.borrow(model, variant, device.host, configuration);
  try {
    const placement = { ...(await calibrateLoaded(place, borrowed, reference, limits, context)), ...onGpu };
    const served = { modelVersionId: model.modelVersionId, variant };
    if (placement.agrees) await models.adopt(model, variant, device, configuration);
    else await models.unload(served, device.host, configuration);
    return placement;
  } finally {
    await borrowed.release();
  }
}

/**
 * Fails with `backend-failed` where ONNX Runtime ran all of a network on the CPU, which is `ort-cpu` under another name.
 * A part there is named in the result: answers and times are those of the whole.
 */
function refuseFallback(nodes: NodePlaces, backend: Backend): NodePlaces {
  const { onProvider, onCpu } = nodes;
  const named = Object.entries(onCpu).map(([operator, count]) => `${count} ${operator}`);
  if (onProvider > 0 || named.length === 0) return nodes;
  const detail = `ONNX Runtime fell back to the CPU: ${backend} ran no node of the network, the CPU ${named.join(", ")}.`;
  throw new ProblemError("backend-failed", detail.slice(0, MOST_DETAIL));
}

async function calibrateLoaded(
  place: Place,
  borrowed: BorrowedModel,
  reference: Reference,
  limits: Limits,
  context: WorkloadContext,
): Promise<CalibratedPlacement> {
  const { device, backend, model, variant, configuration } = place;
  const { host } = device;
  const { agreement } = reference;
  const measure = (inputs: readonly Tensor[][], expected: readonly Tensor[][]) =>
    measureSize({ place, borrowed, inputs, expected, ask: reference.ask, agreement }, limits, context);
  const environment = describeEnvironment(host.device, context.otherJobs);
  const own = await measure(reference.inputs, reference.answers);
  let { error } = own;
  // Shader compilers may assume that there is no NaN; our own kernels promise that it spreads.
  if (backend === "wgsl" && error <= agreement) {
    for (const tensors of createExtremeInputs(model.inputs, EXTREME_SEED)) {
      const found = await askDevice(host, borrowed.modelKey, tensors);
      error = Math.max(error, extremeError(await reference.ask(tensors), found));
    }
  }
  const sizes: SizeSweep[] = [];
  for (let size = 1; size < countSizes(model.inputs) && error <= agreement; size++) {
    const inputs = Array.from({ length: COMPARED_AT_SIZE }, (_, seed) =>
      createSeededInputs(model.inputs, seed + 1, size),
    );
    const expected: Tensor[][] = [];
    for (const tensors of inputs) expected.push(await reference.ask(tensors));
    const further = await measure(inputs, expected);
    sizes.push({ elements: countMeasuredElements(model.inputs, size), sweep: further.sweep });
    error = Math.max(error, further.error);
  }
  const agrees = error <= agreement;
  return {
    deviceKey: host.device.key,
    variant,
    backend,
    agrees,
    maxRelativeError: Number.isFinite(error) ? error : Number.MAX_VALUE,
    fidelity: measureFidelity(reference.originals, own.answers),
    loadMs: borrowed.loadMs,
    sweep: own.sweep,
    ...(sizes.length > 0 && { sizes }),
    configuration,
    memory: agrees ? await measureMemory(host, borrowed.modelKey, own.sweep, own.batchOf, limits, context) : null,
    environment,
  };
}

/** What one size of a placement is measured with: inputs of one row each, and the outputs that it must have. */
interface SizeWork extends Pick<Reference, "agreement" | "ask"> {
  readonly place: Place;
  readonly borrowed: BorrowedModel;
  readonly inputs: readonly Tensor[][];
  readonly expected: readonly Tensor[][];
}

interface MeasuredSize {
  readonly answers: readonly Tensor[][];
  readonly batchOf: (rows: number) => Tensor[];
  readonly sweep: SweepStep[];
  /** The largest, alone and in batches. */
  readonly error: number;
}

/** Compares a placement's outputs at one size of its inputs, then sweeps its batches there. */
async function measureSize(
  { place, borrowed, inputs, expected, ask, agreement }: SizeWork,
  limits: Limits,
  { signal, onProgress }: WorkloadContext,
): Promise<MeasuredSize> {
  const { device, model, variant, configuration } = place;
  const { modelKey } = borrowed;
  const { threads, maxRows } = configuration;
  const answers: Tensor[][] = [];
  for (const tensors of inputs) {
    onProgress({ phase: "compare", done: answers.length, total: inputs.length });
    signal.throwIfAborted();
    answers.push(await askDevice(device.host, modelKey, tensors));
  }
  let error = Math.max(...answers.map((answer, index) => maxRelativeError(expected[index] ?? [], answer)));
  const batchOf = createBatches(inputs);

  const isSound = async (rows: number): Promise<boolean> => {
    const wanted = await ask(batchOf(rows));
    // Outputs that change in a batch forbid sharing one.
    if (maxRelativeError(joinTensors(cycle(expected, rows)), wanted) > AGREEMENT) return false;
    error = Math.max(error, maxRelativeError(wanted, await askDevice(device.host, modelKey, batchOf(rows))));
    return error <= agreement;
  };
  const { modelVersionId, tenant } = model;
  const served = { modelVersionId, tenant, variant, threads, maxRows, budgetMs: limits.timeoutMs };
  const sweep = await sweepBatches({
    ...limits,
    maxRows: error <= agreement && hasRows(model) ? Math.min(limits.maxRows, maxRows ?? limits.maxRows) : 1,
    isSound: async (rows) => (await orProblem(isSound(rows), signal)) === true,
    // No cap on requests in flight: a measurement takes its turn behind the requests that are served.
    serve: (rows) => timeService(device, served, batchOf(rows), limits, signal),
    onProgress: (done, total) => onProgress({ phase: "measure", done, total }),
  });
  return { answers, batchOf, sweep, error };
}

export async function askDevice(host: DeviceHost, modelKey: string, tensors: readonly Tensor[]): Promise<Tensor[]> {
  return (await host.infer(modelKey, tensors, { requestId: createId("request") })).tensors;
}

/**
 * Milliseconds of a request in the queue without waiting, which predictions add.
 * A full queue is asked again for as long as a step may last; then this throws `overloaded`.
 */
async function timeService(
  { server }: FleetDevice,
  served: Omit<ServerRequest, "requestId">,
  tensors: readonly Tensor[],
  { stepMs }: Limits,
  signal: AbortSignal,
): Promise<number> {
  const untilMs = performance.now() + stepMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      const { times } = await server.serve({ ...served, requestId: createId("request") }, tensors);
      return times.uploadMs + times.computeMs + times.readbackMs;
    } catch (error) {
      const { code, retryAfterMs = 0 } = toProblem(error);
      const leftMs = untilMs - performance.now();
      if (code !== "overloaded" || leftMs <= 0) throw error;
      await delay(Math.min(retryAfterMs, leftMs), undefined, { signal }).catch(() => {});
    }
  }
}

/** Null where it could not be measured: nothing depends on it. */
async function measureMemory(
  host: DeviceHost,
  modelKey: string,
  sweep: readonly SweepStep[],
  batchOf: (rows: number) => Tensor[],
  { timeoutMs }: Limits,
  { signal, onProgress }: Pick<WorkloadContext, "signal" | "onProgress">,
): Promise<MemoryFit | null> {
  onProgress({ phase: "memory", done: 0, total: 1 });
  const batches = sweep.map(({ rows }) => batchOf(rows));
  const grown = await orProblem(host.measureMemory(modelKey, batches, { timeoutMs, signal }), signal);
  if (grown instanceof ProblemError) return null;
  return fitMemory(grown.map((bytes, index) => ({ rows: sweep[index]?.rows ?? 1, bytes })));
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

/** `count` items, starting again from the first after the last. */
function cycle<Item>(items: readonly Item[], count: number): Item[] {
  return Array.from({ length: count }, (_, index) => items[index % items.length]!);
}
