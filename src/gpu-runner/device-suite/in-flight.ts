import { readFile } from "node:fs/promises";
import { zooFolder } from "../../../models/zoo.ts";
import { readModel } from "../../onnx/read-model.ts";
import { ThroughputSpec } from "../../protocol/jobs/throughput.ts";
import { createSeededInputs } from "../../protocol/models/model-inputs.ts";
import { TensorSpec } from "../../protocol/models/model.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { summarise } from "../../stats/distribution/distribution.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import { agreementOf } from "../kinds/calibration/ask-placement.ts";
import { maxRelativeError } from "../networks/compare-outputs.ts";
import type { Check, Part, SuiteContext } from "./check.ts";
import {
  judgeAgreement,
  listProviders,
  type OpenedProvider,
  openProviders,
  type SuiteBackend,
} from "./open-providers.ts";
import { runCheck, skipCheck } from "./run-check.ts";

const PART = "in-flight";
const DEPTHS = [1, 2, 4, 8] as const;
/** Duration of the load at each depth, and the shorter one before it. */
const LOAD_MS = 1_000;
const WARM_MS = 200;
const CHECK_LIMIT_MS = 60_000;
const KERNEL = "gemm";
const KERNEL_SHAPE = { m: 256, n: 256, k: 256 };

/** A small dense network, and a convolutional one. */
export const NETWORKS: readonly string[] = ["cartpole", "resnet8"];

/**
 * Throughput and latency with 1 to 8 requests in flight: of networks at one row, by our kernels and by ONNX Runtime on
 * the same GPU, and of a kernel with upload and readback, whose timestamps give the share of time in which the GPU
 * computed.
 */
export function createInFlightPart(networks = NETWORKS, depths: readonly number[] = DEPTHS): Part {
  return async function* inFlight(context) {
    yield* checkStreams(context, depths);
    yield* checkBackend(context, "wgsl", { host: context.host, reason: "" }, networks, depths);
    const isDone = (backend: SuiteBackend) =>
      networks.every((network) => depths.every((depth) => context.done(nameOf(network, backend, depth))));
    const wanted = (await listProviders()).filter((backend) => !isDone(backend));
    const providers = await openProviders(context.host, wanted);
    try {
      for (const [backend, opened] of providers) yield* checkBackend(context, backend, opened, networks, depths);
    } finally {
      await Promise.all([...providers.values()].map(async ({ host }) => host?.stop()));
    }
  };
}

function nameOf(network: string, backend: string, depth: number): string {
  return `${network} ${backend} ${depth} in flight`;
}

/** Each depth is the most that the product's controller may choose. */
async function* checkStreams(context: SuiteContext, depths: readonly number[]): AsyncGenerator<Check> {
  for (const maxDepth of depths) {
    const name = `${KERNEL} wgsl ${maxDepth} in flight`;
    if (context.done(name)) continue;
    yield await runCheck({ part: PART, name, limitMs: CHECK_LIMIT_MS }, context, async (signal) => {
      const load = { mode: "aggressive", targetBusyShare: 0.99, adaptMs: LOAD_MS, measureMs: LOAD_MS, maxDepth };
      const spec = ThroughputSpec.parse({ kind: "throughput", kernel: KERNEL, shape: KERNEL_SHAPE, ...load });
      const stream = await context.host.work("stream", { spec }, CHECK_LIMIT_MS, { signal });
      const { submissionsPerSecond, latencyMs, busyShare, clock, setting } = stream;
      const requestsPerSecond = submissionsPerSecond;
      const figures = { requestsPerSecond, p50Ms: latencyMs.p50, p99Ms: latencyMs.p99, busyShare, clock };
      return { figures: { ...figures, depth: setting.depth } };
    });
  }
}

async function* checkBackend(
  context: SuiteContext,
  backend: SuiteBackend,
  { host, reason }: OpenedProvider,
  networks: readonly string[],
  depths: readonly number[],
): AsyncGenerator<Check> {
  for (const network of networks) {
    const wanted = depths.filter((depth) => !context.done(nameOf(network, backend, depth)));
    if (host !== null && wanted.length > 0) yield* checkNetwork(context, backend, host, network, wanted);
    else yield* wanted.map((depth) => skipCheck(PART, nameOf(network, backend, depth), reason));
  }
}

/** The network stays loaded for all depths; where it cannot be, or answers wrongly, each of them says so. */
async function* checkNetwork(
  context: SuiteContext,
  backend: SuiteBackend,
  host: DeviceHost,
  network: string,
  depths: readonly number[],
): AsyncGenerator<Check> {
  let opening: ReturnType<typeof openNetwork> | null = null;
  let first: number | null = null;
  try {
    for (const depth of depths) {
      const name = nameOf(network, backend, depth);
      const measured = await runCheck({ part: PART, name, limitMs: CHECK_LIMIT_MS }, context, async (signal) => {
        opening ??= openNetwork(context.cpu, host, network, signal);
        const { ask, ...opened } = await opening;
        await keepInFlight(() => ask(signal), depth, WARM_MS, signal);
        const load = await keepInFlight(() => ask(signal), depth, LOAD_MS, signal);
        first ??= depth === 1 ? load.requestsPerSecond : null;
        const ratio = first === null ? {} : { overOneInFlight: load.requestsPerSecond / first };
        return { figures: { ...load, ...ratio, ...opened } };
      });
      yield judgeAgreement(measured, backend);
    }
  } finally {
    await Promise.allSettled([host, context.cpu].map((each) => each.unloadModel(keyOf(network))));
  }
}

function keyOf(network: string): string {
  return `suite/${network}`;
}

/** Loads a network on both devices, and compares its answer with the CPU provider's. */
async function openNetwork(cpu: DeviceHost, host: DeviceHost, network: string, signal: AbortSignal) {
  const file = await readFile(new URL(`${network}.onnx`, zooFolder(network)));
  const inputs = seedInputs(file);
  const modelKey = keyOf(network);
  const ask = (device: DeviceHost, until: AbortSignal) =>
    device.infer(modelKey, inputs, { requestId: "suite", signal: until });
  await cpu.loadModel({ modelKey, read: async () => file });
  const { loadMs } = await host.loadModel({ modelKey, read: async () => file });
  const [expected, found] = await Promise.all([ask(cpu, signal), ask(host, signal)]);
  const relativeError = Math.min(Number.MAX_VALUE, maxRelativeError(expected.tensors, found.tensors));
  const agreement = await agreementOf(file);
  return { ask: (until: AbortSignal) => ask(host, until), loadMs, relativeError, agreement };
}

function seedInputs(file: Uint8Array): Tensor[] {
  const specs = readModel(file).inputs.map(({ name, dtype, shape }) =>
    TensorSpec.parse({ name, dtype, shape: shape.map((size) => (typeof size === "number" ? size : -1)) }),
  );
  return createSeededInputs(specs, 1);
}

/** Keeps this many requests in flight; rejects with the first failure. */
async function keepInFlight(ask: () => Promise<unknown>, depth: number, durationMs: number, signal: AbortSignal) {
  const startedMs = performance.now();
  const latenciesMs: number[] = [];
  const askInTurn = async () => {
    do {
      const askedMs = performance.now();
      await ask();
      latenciesMs.push(performance.now() - askedMs);
    } while (performance.now() - startedMs < durationMs && !signal.aborted);
  };
  await Promise.all(Array.from({ length: depth }, askInTurn));
  const { p50, p99 } = summarise(latenciesMs);
  const requestsPerSecond = (1e3 * latenciesMs.length) / (performance.now() - startedMs);
  return { requestsPerSecond, p50Ms: p50, p99Ms: p99, requests: latenciesMs.length };
}
