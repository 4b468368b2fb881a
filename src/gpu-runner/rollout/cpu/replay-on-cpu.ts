import { countStateWords, type EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import { layOutPolicy } from "../../../../kernels/rollout/policy-layout.ts";
import { loadCpuProgram } from "../../environments/load-cpu-program.ts";
import { placePopulation, Places, startCpuProgram } from "./cpu-program.ts";
import {
  countActionNumbers,
  decodeStates,
  encodeState,
  type ReplayRequest,
  type ReplayTrace,
} from "../../environments/replay-environment.ts";

const PAGE_BYTES = 65_536;
/** The program needs a network; a replay does not use it. */
const NETWORK = { kind: "direct" } as const;

/**
 * Runs an environment's CPU twin through given actions, even beyond an episode's end. Fails like `openCpuPopulation`.
 */
export async function replayOnCpu(
  environment: EnvironmentSpec,
  { starts, actions, steps, seed, tape }: ReplayRequest,
): Promise<ReplayTrace> {
  const words = countStateWords(environment);
  const given = starts.length / words;
  const episodes = actions.length / (steps * countActionNumbers(environment));
  const places = new Places();
  const { program } = placePopulation(places, environment, NETWORK, layOutPolicy(NETWORK, environment), 0, 1);
  const { observationSize } = environment;
  const actionsAt = places.take(actions.byteLength);
  const tracesAt = places.take(4 * words * episodes * (steps + 1));
  const movesAt = places.take(8 * episodes * steps);
  const seenAt = places.take(4 * observationSize * episodes * (steps + 1));
  const tapeAt = tape === undefined ? 0 : places.take(tape.byteLength);
  const tapeBlocks = (tape?.length ?? 0) / (4 * episodes * steps);
  const pages = Math.ceil(places.sizeBytes / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: PAGE_BYTES, shared: true });
  new Float32Array(memory.buffer, actionsAt).set(actions);
  if (tape !== undefined) new Uint32Array(memory.buffer, tapeAt, tape.length).set(tape);
  const bytes = new Uint8Array(memory.buffer);
  for (let episode = 0; episode < given; episode++) {
    const start = encodeState(environment, starts.subarray(episode * words, (episode + 1) * words));
    bytes.set(start, tracesAt + 4 * words * episode * (steps + 1));
  }
  const { replay } = await startCpuProgram(await loadCpuProgram(environment, NETWORK.kind), memory, program, 0);
  replay(episodes, given, steps, seed, actionsAt, tracesAt, movesAt, seenAt, tapeAt, tapeBlocks);
  const moves = new Float32Array(memory.buffer, movesAt, 2 * episodes * steps);
  const traces = bytes.slice(tracesAt, tracesAt + 4 * words * episodes * (steps + 1));
  const seen = new Float32Array(memory.buffer, seenAt, observationSize * episodes * (steps + 1));
  return {
    states: decodeStates(environment, new Uint8Array(traces).buffer),
    rewards: Float64Array.from({ length: episodes * steps }, (_, index) => moves[2 * index]!),
    terminated: Array.from({ length: episodes * steps }, (_, index) => moves[2 * index + 1] === 1),
    observations:
      environment.observationForm === "bits" ? packBits(seen, observationSize) : new Float32Array(seen).buffer,
  };
}

/** Observations of zeros and ones as bits, as in the WGSL: bit i of a row of words is number i. */
function packBits(numbers: Float32Array, observationSize: number): ArrayBuffer {
  const words = Math.ceil(observationSize / 32);
  const packed = new Uint32Array((numbers.length / observationSize) * words);
  for (const [at, number] of numbers.entries()) {
    const index = at % observationSize;
    if (number !== 0) packed[Math.floor(at / observationSize) * words + (index >> 5)]! |= 1 << (index & 31);
  }
  return packed.buffer;
}
