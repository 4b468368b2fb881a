import { readModel } from "../../onnx/read-model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { BufferPool } from "../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../devices/gpu/error-scopes.ts";
import { isSoftwareAdapter } from "../host/hardware/device-names.ts";
import { NetworkProgram } from "./network-program.ts";
import { Network } from "./network.ts";
import { type NetworkPlan, planNetwork } from "./plan-network.ts";
import type { Layout } from "./schedule-operators.ts";

/** All in one dispatch; what is large spread over workgroups; everything spread. */
const SPREADS = [Number.POSITIVE_INFINITY, 30_000, 0];
const LANES = [64, 256];
/** An emulation computes four lanes at a time, and compiles slowly: with more, barriers cost it switches between fours. */
const SOFTWARE_LANES = [4];
const RUNS = 4;

/** Tries the ways to spread a network over a device by one row, and gives the fastest: devices differ too much to know. */
async function chooseLayout(network: Network, { limits, adapterInfo }: GPUDevice): Promise<Layout> {
  const isSoftware = isSoftwareAdapter(`${adapterInfo.architecture} ${adapterInfo.device} ${adapterInfo.description}`);
  const lanes = (isSoftware ? SOFTWARE_LANES : LANES).filter(
    (each) => each <= limits.maxComputeInvocationsPerWorkgroup,
  );
  const layouts = lanes.flatMap((each) => SPREADS.map((spreadFrom) => ({ lanes: each, spreadFrom })));
  const tried: { readonly layout: Layout; readonly ms: number }[] = [];
  const seen = new Set<string>();
  for (const layout of layouts) {
    await network.spread(layout);
    const key = `${layout.lanes} ${network.shape}`;
    if (seen.has(key)) continue;
    seen.add(key);
    tried.push({ layout, ms: await timeRuns(network) });
  }
  return tried.reduce((best, each) => (each.ms < best.ms ? each : best)).layout;
}

/** Milliseconds of the fastest of some runs; the first one warms the device up and does not count. */
async function timeRuns(network: Network): Promise<number> {
  const inputs = network.zeros(1);
  await network.run(inputs);
  let fastest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const startedAt = performance.now();
    await network.run(inputs);
    fastest = Math.min(fastest, performance.now() - startedAt);
  }
  return fastest;
}

/** A device and the pool that all its buffers come from. */
export interface NetworkContext {
  readonly device: GPUDevice;
  readonly pool: BufferPool;
}

const programs = new WeakMap<GPUDevice, NetworkProgram>();

/**
 * Reads an ONNX file and makes it ready to run on a device, spread over it as `layout` says or as is measured to be
 * fastest for one row. Fails with `invalid-model` for what the kernels do not know, naming operator and reason.
 */
export async function openNetwork(
  context: NetworkContext,
  file: Uint8Array,
  { layout }: { readonly layout?: Layout } = {},
): Promise<Network> {
  const plan = readPlan(file);
  const program = programs.get(context.device) ?? new NetworkProgram(context.device);
  programs.set(context.device, program);
  const { STORAGE, COPY_DST } = GPUBufferUsage;
  const weights = await context.pool.acquireSurely(plan.weights.byteLength, STORAGE | COPY_DST);
  const network = new Network(context, program, plan, weights);
  try {
    await withErrorScopes(context.device, () => context.device.queue.writeBuffer(weights, 0, plan.weights));
    await network.spread(layout ?? (await chooseLayout(network, context.device)));
    return network;
  } catch (error) {
    network.close();
    throw error;
  }
}

function readPlan(file: Uint8Array): NetworkPlan {
  try {
    return planNetwork(readModel(file));
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProblemError("invalid-model", `The wgsl backend cannot read the file: ${reason}.`);
  }
}
