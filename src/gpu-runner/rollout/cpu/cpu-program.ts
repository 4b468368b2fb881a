import { countStateWords, type EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import {
  countOutputs,
  countParameters,
  type PolicyLayer,
  spreadAction,
} from "../../../../kernels/rollout/policy-layout.ts";
import type { PolicyNetwork } from "../../../protocol/models/policy-network.ts";

/** Where a thread's program finds what it works with, in the memory that all threads share; see rollout.as. */
export interface ProgramPlaces {
  /** Arguments of `placeShared`. */
  readonly shared: readonly number[];
  /** How outputs become continuous actions: base and spread. */
  readonly spread: readonly number[];
  /** Arguments of `placeOwn`, by thread. */
  readonly own: readonly (readonly number[])[];
}

/** What threads are asked to take part in: each takes one share of so many, and then what the work needs. */
export const WORK = ["rollOut", "perturb", "recombine", "breed"] as const;
export type WorkName = (typeof WORK)[number];

/** A thread's program, ready to take part in any of it. */
export type CpuProgram = Readonly<Record<WorkName | "replay", (...numbers: number[]) => void>>;

/** What rollout.as exports, and the files around it. */
type Exports = CpuProgram & Readonly<Record<"placeShared" | "placeOwn" | "spreadActions", CpuProgram["replay"]>>;

/** Makes the program of a thread, by its number from 0. */
export async function startCpuProgram(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  { shared, spread, own }: ProgramPlaces,
  thread: number,
): Promise<CpuProgram> {
  const instance = await WebAssembly.instantiate(module, { env: { memory } });
  const program = instance.exports as unknown as Exports;
  program.placeShared(...shared);
  program.spreadActions(...spread);
  program.placeOwn(...(own[thread] ?? []));
  return program;
}

/** The program's own numbers, such as they are, stand in front. */
const FIRST_BYTE = 65_536;
const VECTOR_BYTES = 16;
/** A line of the cache, at whose multiples arrays begin. */
const LINE_BYTES = 64;
/** Vectors of what a thread knows of its lanes; see rollout.as. */
const LANE_VECTORS = 8;

/** Sixteen floats: what noise is drawn for at once; see noise.as. */
export const GROUP_BYTES = 64;

/** Hands out a memory from its beginning. */
export class Places {
  sizeBytes: number;

  constructor(firstByte = FIRST_BYTE) {
    this.sizeBytes = firstByte;
  }

  take(bytes: number): number {
    const at = this.sizeBytes;
    this.sizeBytes += Math.ceil(bytes / LINE_BYTES) * LINE_BYTES;
    return at;
  }
}

/** Where everything of a population stands but its results, which differ in size from call to call. */
export function placePopulation(
  places: Places,
  environment: EnvironmentSpec,
  network: PolicyNetwork,
  layers: readonly PolicyLayer[],
  rowsBytes: number,
  threads: number,
) {
  const at = {
    widths: places.take(4 * (layers.length + 1)),
    activations: places.take(4 * layers.length),
    taken: places.take(4),
    rows: places.take(rowsBytes),
  };
  const { base, spread } = spreadAction(network, environment.action);
  const own = Array.from({ length: threads }, () => placeThread(places, environment, layers));
  const shared = [at.rows, countParameters(network, environment), layers.length, at.widths, at.activations, at.taken];
  return { ...at, program: { shared, spread: [base, spread], own } satisfies ProgramPlaces };
}

/** Arguments of `placeOwn`. */
function placeThread(places: Places, environment: EnvironmentSpec, layers: readonly PolicyLayer[]): readonly number[] {
  const { observationSize, action, assembly } = environment;
  const pairs = (outputs: number) => 2 * Math.ceil(outputs / 2);
  const neuronsBytes = VECTOR_BYTES * Math.max(...layers.map(({ outputs }) => pairs(outputs)));
  const weights = layers.reduce((sum, { inputs, outputs }) => sum + (inputs + 1) * pairs(outputs), 0);
  return [
    places.take(VECTOR_BYTES * (countStateWords(environment) + (assembly?.spareVectors ?? 0))),
    places.take(VECTOR_BYTES * observationSize),
    places.take(VECTOR_BYTES * countOutputs(action)),
    places.take(4 * (observationSize + 1)),
    places.take(2 * neuronsBytes),
    neuronsBytes,
    places.take(VECTOR_BYTES * weights),
    places.take(VECTOR_BYTES * LANE_VECTORS),
    places.take(2 * GROUP_BYTES),
  ];
}
