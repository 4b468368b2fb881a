import type { Tiling } from "../../../kernels/network/tiled-operators.ts";
import type { OnnxModel } from "../../onnx/onnx-model.ts";
import { readModel } from "../../onnx/read-model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import type { BufferPool } from "../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../devices/gpu/error-scopes.ts";
import { isSoftwareAdapter } from "../host/hardware/device-names.ts";
import { AGREEMENT, maxRelativeError } from "./compare-outputs.ts";
import { checkKnown } from "./lowering/lower-node.ts";
import { NetworkProgram } from "./network-program.ts";
import { Network } from "./network.ts";
import { type NetworkPlan, planNetwork } from "./plan-network.ts";
import { type Layout, PLAIN } from "./schedule-operators.ts";
import { type RunningNetwork, SizedNetwork } from "./sized-network.ts";

/** Work from which an operator is spread over workgroups: large ones; none, so that one dispatch has all; every one. */
const SPREADS = [30_000, Number.MAX_SAFE_INTEGER, 0];
const LANES = [64, 256];
/**
 * An emulated device computes four lanes at a time and compiles slowly; with more lanes, barriers switch between groups
 * of four.
 */
const SOFTWARE_LANES = [4];
const TILINGS: readonly Tiling[] = ["in-registers", "in-workgroup-memory"];
/** Workgroup memory and barriers never pay where one core is a whole workgroup. */
const SOFTWARE_TILINGS: readonly Tiling[] = ["in-registers"];
/** What is tried on the fastest layout, one after the other, where lanes are many: wider work, and fewer dispatches. */
const WIDER: readonly Partial<Layout>[] = [
  { hasAttention: true },
  { lineLanes: 64 },
  { lineLanes: 256 },
  { groupsAtMost: 1024 },
];
const RUNS = 4;
/** Time for the runs of a candidate. The fastest counts, since other work on the machine delays single ones. */
const RUNS_MS = 1_000;
/** From here on a run is long, so that tiles may gain most. */
const LONG_MS = 100;
/** A candidate that takes so many times as long as the best one is not run again. */
const HOPELESS = 3;
/**
 * Time after which no further candidate is tried, at a load and within a request: with a compilation and the request's
 * own run, both have to end within the limit of one run.
 */
const LOAD_BUDGET_MS = 10_000;
const REQUEST_BUDGET_MS = 3_000;

function isSoftware({ adapterInfo }: GPUDevice): boolean {
  return isSoftwareAdapter(`${adapterInfo.architecture} ${adapterInfo.device} ${adapterInfo.description}`);
}

function tilingsOf(device: GPUDevice): readonly Tiling[] {
  return isSoftware(device) ? SOFTWARE_TILINGS : TILINGS;
}

/** Layouts in which the one program computes everything, and those with the catalogue's tiles. */
function listLayouts(network: Network, device: GPUDevice): { together: Layout[]; tiled: Layout[] } {
  const lanes = (isSoftware(device) ? SOFTWARE_LANES : LANES).filter(
    (each) => each <= device.limits.maxComputeInvocationsPerWorkgroup,
  );
  const together = lanes.flatMap((each) => SPREADS.map((spreadFrom) => ({ ...PLAIN, lanes: each, spreadFrom })));
  const tilings = network.hasTiles ? tilingsOf(device) : [];
  const tiled = tilings.flatMap((tiling) => together.map((layout) => ({ ...layout, tiling })));
  return { together, tiled };
}

/**
 * Runs each layout with one row and returns the fastest, since devices differ too much for a fixed choice. One whose
 * outputs differ from those of the first, in which the one program computes everything, is left out, as one that fails.
 */
async function chooseLayout(network: Network, device: GPUDevice, budgetMs: number): Promise<Layout> {
  const { together, tiled } = listLayouts(network, device);
  const [first, ...others] = together;
  const inputs = network.examples(1);
  const begunAt = performance.now();
  await network.spread(first!);
  const { tensors: wanted, ms } = await timeRuns(network, inputs, Number.POSITIVE_INFINITY);
  let best = { layout: first!, ms };
  const seen = new Set([`null ${network.shape}`]);
  // Tiles compile slowly and gain most where a run is long. Other layouts of short ones share their program.
  const isLong = ms > LONG_MS;
  const startedAt = isLong ? begunAt : performance.now();
  const whole = isLong ? [...tiled, ...others] : [...others, ...tiled];
  // Workgroup memory never pays on a software device, nor do more groups than cores.
  for (const change of [...whole, ...(isSoftware(device) ? [] : WIDER)]) {
    if (performance.now() - startedAt > budgetMs) break;
    const layout: Layout = { ...best.layout, ...change };
    try {
      await network.spread(layout);
      const key = `${layout.tiling} ${network.shape}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const found = await timeRuns(network, inputs, best.ms);
      const isRight = maxRelativeError(wanted, found.tensors) <= AGREEMENT;
      if (isRight && found.ms < best.ms) best = { layout, ms: found.ms };
    } catch {
      // The first one suffices, whatever a device does not compile or hold.
    }
  }
  return best.layout;
}

/**
 * Milliseconds of the fastest of several runs, and the outputs of the first. That one warms the device up, and counts only
 * where it is long.
 */
async function timeRuns(
  network: Network,
  inputs: readonly Tensor[],
  bestMs: number,
): Promise<{ ms: number; tensors: Tensor[] }> {
  const startedAt = performance.now();
  const { tensors } = await network.run(inputs);
  let before = performance.now();
  const firstMs = before - startedAt;
  if (firstMs > RUNS_MS || firstMs > Math.max(LONG_MS, HOPELESS * bestMs)) return { ms: firstMs, tensors };
  let ms = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS && before - startedAt < RUNS_MS; run++) {
    await network.run(inputs);
    const now = performance.now();
    ms = Math.min(ms, now - before);
    before = now;
  }
  return { ms, tensors };
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
  const plan = planAtRows(model);
  const { STORAGE, COPY_DST } = GPUBufferUsage;
  if (plan !== null) {
    const weights = await context.pool.acquireSurely(plan.weights.byteLength, STORAGE | COPY_DST);
    return openPlan(context, program, plan, weights, {
      write: (upload) => withErrorScopes(context.device, upload),
      layoutOf: (network) => layout ?? chooseLayout(network, context.device, LOAD_BUDGET_MS),
    });
  }
  model.nodes.forEach(checkKnown);
  await program.prepare(tilingsOf(context.device));
  // The first sizes may be too small for tiles that later ones need.
  const chosen = new Map<boolean, Layout>();
  const layoutOf = async (network: Network) => {
    const known = layout ?? chosen.get(network.hasTiles);
    if (known !== undefined) return known;
    const found = await chooseLayout(network, context.device, REQUEST_BUDGET_MS);
    chosen.set(network.hasTiles, found);
    return found;
  };
  return new SizedNetwork(model, async (sized) => {
    // A request may come beside other work, whose error scopes it must not enter.
    const weights = context.pool.acquire(sized.weights.byteLength, STORAGE | COPY_DST);
    return openPlan(context, program, sized, weights, { write: (upload) => upload(), layoutOf });
  });
}

/** Network of a plan; its weights' buffer is released where this fails. */
async function openPlan(
  context: NetworkContext,
  program: NetworkProgram,
  plan: NetworkPlan,
  weights: GPUBuffer,
  {
    write,
    layoutOf,
  }: {
    readonly write: (upload: () => void) => Promise<void> | void;
    readonly layoutOf: (network: Network) => Promise<Layout> | Layout;
  },
): Promise<Network> {
  let network: Network | undefined;
  try {
    await write(() => context.device.queue.writeBuffer(weights, 0, plan.weights));
    network = new Network(context, program, plan, weights);
    await network.spread(await layoutOf(network));
    return network;
  } catch (error) {
    if (network === undefined) context.pool.release(weights);
    else await network.close();
    throw error;
  }
}

/** Plan of a network whose only free size is that of its rows; null where it may be planned when its sizes are known. */
function planAtRows(model: OnnxModel): NetworkPlan | null {
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
