import { readModel } from "../../onnx/read-model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { BufferPool } from "../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../devices/gpu/error-scopes.ts";
import { isSoftwareAdapter } from "../host/hardware/device-names.ts";
import { NetworkProgram } from "./network-program.ts";
import { Network } from "./network.ts";
import { type NetworkPlan, planNetwork } from "./plan-network.ts";
import type { Layout } from "./schedule-operators.ts";

/** Candidates: all in one dispatch; large operators spread over workgroups; everything spread. */
const SPREADS = [Number.POSITIVE_INFINITY, 30_000, 0];
const LANES = [64, 256];
/**
 * An emulated device computes four lanes at a time and compiles slowly; with more lanes, barriers switch between groups
 * of four.
 */
const SOFTWARE_LANES = [4];
const RUNS = 4;

/** Times each layout with one row and returns the fastest: devices differ too much for a fixed choice. */
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

/** Milliseconds of the fastest of several runs. The first run warms the device up and is not counted. */
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

/** Device, and the pool of all its buffers. */
export interface NetworkContext {
  readonly device: GPUDevice;
  readonly pool: BufferPool;
}

const programs = new WeakMap<GPUDevice, NetworkProgram>();

/**
 * Reads an ONNX file and prepares it for a device, in `layout` or in the layout measured fastest for one row. Fails
 * with `invalid-model` for unsupported operators, with operator and reason.
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
