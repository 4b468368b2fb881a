import type { OnnxModel } from "../../onnx/onnx-model.ts";
import { readModel } from "../../onnx/read-model.ts";
import type { NetworkLayout, NetworkLayouts } from "../../protocol/models/network-layout.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { BufferPool } from "../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../devices/gpu/error-scopes.ts";
import { chooseLayout, loadBudgetMs, REQUEST_BUDGET_MS } from "./choose-layout.ts";
import { checkKnown } from "./lowering/lower-node.ts";
import { NetworkProgram } from "./network-program.ts";
import { Network } from "./network.ts";
import { type NetworkPlan, planNetwork } from "./plan-network.ts";
import { type RunningNetwork, SizedNetwork } from "./sized-network.ts";

/** Device, and the pool of all its buffers. */
export interface NetworkContext {
  readonly device: GPUDevice;
  readonly pool: BufferPool;
}

const programs = new WeakMap<GPUDevice, NetworkProgram>();

/** Sizes of a network whose only free size is that of its rows. */
const ANY_ROWS = "any rows";

/** Chooses the layout of a network that is planned at these sizes, and leaves it in that one. */
export type SpreadNetwork = (network: Network, sizes: string, budgetMs: number) => Promise<void>;

/**
 * Reads an ONNX file and prepares it for a device, in the layouts measured before, or else in those measured fastest for
 * one row, which `onChosen` receives. A network that needs its sizes first is planned when it runs. Fails with
 * `invalid-model` for unsupported operators, with operator and reason.
 */
export function openNetwork(
  context: NetworkContext,
  file: Uint8Array,
  {
    layouts = {},
    onChosen = () => {},
  }: {
    readonly layouts?: NetworkLayouts;
    readonly onChosen?: (sizes: string, layout: NetworkLayout) => void;
  } = {},
): Promise<RunningNetwork> {
  const known = new Map(Object.entries(layouts));
  return openNetworkBy(context, file, async (network, sizes, budgetMs) => {
    // Other sizes would be measured within a request. The first ones may be too small for tiles that later ones need.
    const weight = weightOf(network);
    const latest = [...known].findLast(([other]) => other.startsWith(weight))?.[1];
    const measured = known.get(sizes) ?? latest;
    if (measured !== undefined && (await network.trySpread(measured))) return;
    const { layout } = await chooseLayout(network, context.device, { budgetMs });
    await network.spread(layout);
    known.set(sizes, layout);
    onChosen(sizes, layout);
  });
}

function weightOf({ hasTiles }: Network): string {
  return hasTiles ? "heavy " : "light ";
}

/** Opens a network likewise, whose layouts another function chooses. */
export async function openNetworkBy(
  context: NetworkContext,
  file: Uint8Array,
  spread: SpreadNetwork,
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
      spread: (network) => spread(network, ANY_ROWS, loadBudgetMs(context.device)),
    });
  }
  model.nodes.forEach(checkKnown);
  await program.prepare();
  return new SizedNetwork(model, async (sized, sizes) => {
    // A request may come beside other work, whose error scopes it must not enter.
    const weights = context.pool.acquire(sized.weights.byteLength, STORAGE | COPY_DST);
    return openPlan(context, program, sized, weights, {
      write: (upload) => upload(),
      spread: (network) => spread(network, `${weightOf(network)}${sizes}`, REQUEST_BUDGET_MS),
    });
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
    spread,
  }: {
    readonly write: (upload: () => void) => Promise<void> | void;
    readonly spread: (network: Network) => Promise<void>;
  },
): Promise<Network> {
  let network: Network | undefined;
  try {
    await write(() => context.device.queue.writeBuffer(weights, 0, plan.weights));
    network = new Network(context, program, plan, weights);
    await spread(network);
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
