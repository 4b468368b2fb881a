import { readModel } from "../../onnx/read-model.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { BufferPool } from "../gpu/buffer-pool.ts";
import { withErrorScopes } from "../gpu/error-scopes.ts";
import { chooseLayout } from "./choose-layout.ts";
import { Network } from "./network.ts";
import { NetworkProgram } from "./network-program.ts";
import { type NetworkPlan, planNetwork } from "./plan-network.ts";
import type { Layout } from "./schedule-operators.ts";

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
