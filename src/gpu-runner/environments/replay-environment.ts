import {
  countObservationWords,
  countStateWords,
  type EnvironmentSpec,
} from "../../../kernels/environments/environment-spec.ts";
import { composeReplay } from "./compose-rollout.ts";
import { countOutputs } from "../../../kernels/rollout/policy-layout.ts";
import type { BufferPool } from "../devices/gpu/buffer-pool.ts";
import { withErrorScopes } from "../devices/gpu/error-scopes.ts";
import { compileParts } from "../devices/gpu/kernel-loader.ts";
import { readBuffer } from "../devices/gpu/readback.ts";
import { shareCoreUntil } from "../devices/gpu/wait-for-gpu.ts";

/** States and actions to run an environment through: `steps` actions for each start. */
export interface ReplayRequest {
  /** First states, one for each of the first episodes; later ones begin as the environment does. */
  readonly starts: Float64Array;
  /** episodes × steps × numbers of an action (1 where it is an index). */
  readonly actions: Float32Array<ArrayBuffer>;
  readonly steps: number;
  readonly seed: number;
  /**
   * Random words in place of those of the seed: episodes × steps × blocks of four words, equally many for each step.
   */
  readonly tape?: Uint32Array<ArrayBuffer>;
}

/** Trace of the environment's states, rewards and observations. */
export interface ReplayTrace {
  /** episodes × (steps + 1) × numbers of a state, beginning with the start. */
  readonly states: Float64Array;
  /** episodes × steps. */
  readonly rewards: Float64Array;
  readonly terminated: readonly boolean[];
  /** episodes × (steps + 1) observations in the WGSL's format, beginning with the start's. */
  readonly observations: ArrayBuffer;
}

const LANES = 16;

/** Runs an environment on a GPU through given actions, even beyond an episode's end. */
export async function replayEnvironment(
  { device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool },
  environment: EnvironmentSpec,
  { starts, actions, steps, seed, tape }: ReplayRequest,
): Promise<ReplayTrace> {
  const storage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const words = countStateWords(environment);
  const given = starts.length / words;
  const episodes = actions.length / (steps * countActionNumbers(environment));
  const observationBytes = 4 * countObservationWords(environment) * episodes * (steps + 1);
  const tapeBlocks = (tape?.length ?? 0) / (4 * episodes * steps);
  const parts = await composeReplay(environment, tape === undefined ? "philox.wgsl" : "tape.wgsl");
  const pipeline = await withErrorScopes(device, async () => {
    const module = await compileParts(device, parts);
    const compute = { module, entryPoint: "replay", constants: { lanes: LANES } };
    return shareCoreUntil(device.createComputePipelineAsync({ layout: "auto", compute }));
  });
  const [plan, actionBuffer, states, transitions, observations] = [
    pool.acquire(32, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST),
    pool.acquire(actions.byteLength, storage),
    pool.acquire(4 * words * episodes * (steps + 1), storage),
    pool.acquire(8 * episodes * steps, storage),
    pool.acquire(observationBytes, storage),
  ] as const;
  const buffers = [plan, actionBuffer, states, transitions, observations];
  if (tape !== undefined) buffers.push(pool.acquire(tape.byteLength, storage));
  try {
    device.queue.writeBuffer(plan, 0, Uint32Array.of(episodes, steps, seed, tapeBlocks, given));
    device.queue.writeBuffer(actionBuffer, 0, actions);
    if (tape !== undefined) device.queue.writeBuffer(buffers.at(-1)!, 0, tape);
    for (let episode = 0; episode < given; episode++) {
      const start = encodeState(environment, starts.subarray(episode * words, (episode + 1) * words));
      device.queue.writeBuffer(states, 4 * words * episode * (steps + 1), start);
    }
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(Math.ceil(episodes / LANES));
    pass.end();
    device.queue.submit([encoder.finish()]);
    const after = await readBuffer(device, pool, states, 4 * words * episodes * (steps + 1));
    const moves = new Float32Array(await readBuffer(device, pool, transitions, 8 * episodes * steps));
    return {
      states: decodeStates(environment, after),
      rewards: Float64Array.from({ length: episodes * steps }, (_, index) => moves[2 * index]!),
      observations: await readBuffer(device, pool, observations, observationBytes),
      terminated: Array.from({ length: episodes * steps }, (_, index) => moves[2 * index + 1] === 1),
    };
  } finally {
    for (const buffer of buffers) pool.release(buffer);
  }
}

/** Numbers of an action in the device's format. */
export function countActionNumbers({ action }: Pick<EnvironmentSpec, "action">): number {
  return action.kind === "discrete" ? 1 : countOutputs(action);
}

/** State as the bytes of the WGSL struct. */
export function encodeState(environment: EnvironmentSpec, state: Float64Array): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(4 * state.length));
  for (const [index, type] of typesOf(environment).entries()) {
    if (type === "f32") view.setFloat32(4 * index, state[index]!, true);
    else view.setUint32(4 * index, state[index]! >>> 0, true);
  }
  return new Uint8Array(view.buffer);
}

/** Numbers of states from their bytes. */
export function decodeStates(environment: EnvironmentSpec, bytes: ArrayBuffer): Float64Array {
  const types = typesOf(environment);
  const arrays = { f32: new Float32Array(bytes), i32: new Int32Array(bytes), u32: new Uint32Array(bytes) };
  return Float64Array.from(arrays.f32, (_, index) => arrays[types[index % types.length]!][index]!);
}

function typesOf({ state }: EnvironmentSpec): ("f32" | "i32" | "u32")[] {
  return state.flatMap(({ type, count }) => Array.from({ length: count }, () => type));
}
