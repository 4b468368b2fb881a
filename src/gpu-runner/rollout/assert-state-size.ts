import { ProblemError } from "../../protocol/problem.ts";
import { withErrorScopes } from "../gpu/error-scopes.ts";

/** Where rollout.wgsl has its states, among the bindings of `begin`. */
const STATES = 2;
const BINDINGS = [0, STATES, 3, 4, 5, 6];
/** More than each of the others needs. */
const OTHER_BYTES = 256;

/**
 * Throws `kernel-invalid` where a `State` takes more words than are told of it. A device knows how large one is, and
 * refuses to bind a buffer that has not room for one.
 */
export async function assertStateSize(device: GPUDevice, begin: GPUComputePipeline, words: number): Promise<void> {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM;
  const state = device.createBuffer({ size: 4 * words, usage });
  const other = device.createBuffer({ size: OTHER_BYTES, usage });
  const entries = BINDINGS.map((binding) => ({ binding, resource: { buffer: binding === STATES ? state : other } }));
  try {
    await withErrorScopes(device, () => device.createBindGroup({ layout: begin.getBindGroupLayout(0), entries }));
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== "kernel-invalid") throw error;
    throw new ProblemError("kernel-invalid", `\`State\` takes more than the ${words} words that \`stateWords\` says`);
  } finally {
    for (const buffer of [state, other]) buffer.destroy();
  }
}
