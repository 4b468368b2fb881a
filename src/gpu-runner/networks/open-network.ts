import type { OnnxModel } from "../../onnx/onnx-model.ts";
import { readModel } from "../../onnx/read-model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { BufferPool } from "../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../devices/gpu/error-scopes.ts";
import { isSoftwareAdapter } from "../host/hardware/device-names.ts";
import { checkKnown } from "./lowering/lower-node.ts";
import { NetworkProgram } from "./network-program.ts";
import { Network } from "./network.ts";
import { type NetworkPlan, planNetwork } from "./plan-network.ts";
import type { Layout } from "./schedule-operators.ts";
import { type RunningNetwork, SizedNetwork } from "./sized-network.ts";

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
 * Reads an ONNX file and prepares it for a device, in `layout` or in the layout measured fastest for one row. A network
 * that needs its sizes first is planned when it runs. Fails with `invalid-model` for unsupported operators, with operator
 * and reason.
 */
export async function openNetwork(
  context: NetworkContext,
  file: Uint8Array,
  { layout }: { readonly layout?: Layout } = {},
): Promise<RunningNetwork> {
  const model = orInvalid(() => readModel(file));
  const program = programs.get(context.device) ?? new NetworkProgram(context.device);
  programs.set(context.device, program);
  const plan = planOrNull(model);
  const { STORAGE, COPY_DST } = GPUBufferUsage;
  if (plan !== null) {
    const weights = await context.pool.acquireSurely(plan.weights.byteLength, STORAGE | COPY_DST);
    await withErrorScopes(context.device, () => context.device.queue.writeBuffer(weights, 0, plan.weights));
    return (await openPlan(context, program, plan, weights, layout)).network;
  }
  model.nodes.forEach(checkKnown);
  await program.prepare();
  let chosen = layout;
  return new SizedNetwork(model, async (sized) => {
    // A request may come beside other work, whose error scopes it must not enter.
    const weights = context.pool.acquire(sized.weights.byteLength, STORAGE | COPY_DST);
    context.device.queue.writeBuffer(weights, 0, sized.weights);
    const opened = await openPlan(context, program, sized, weights, chosen);
    chosen = opened.layout;
    return opened.network;
  });
}

async function openPlan(
  context: NetworkContext,
  program: NetworkProgram,
  plan: NetworkPlan,
  weights: GPUBuffer,
  known?: Layout,
): Promise<{ readonly network: Network; readonly layout: Layout }> {
  const network = new Network(context, program, plan, weights);
  try {
    const layout = known ?? (await chooseLayout(network, context.device));
    await network.spread(layout);
    return { network, layout };
  } catch (error) {
    network.close();
    throw error;
  }
}

/** Plan of a network whose only free size is that of its rows; null where it may be planned when its sizes are known. */
function planOrNull(model: OnnxModel): NetworkPlan | null {
  try {
    return orInvalid(() => planNetwork(model));
  } catch (error) {
    if (!SizedNetwork.fits(model)) throw error;
    return null;
  }
}

function orInvalid<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProblemError("invalid-model", `The wgsl backend cannot read the file: ${reason}.`);
  }
}
